"""Programs that please an evaluator of the kitchen without doing the task.

Each class of `PROGRAMS` becomes a text that runs in a sandbox; `domains.audit_reader` cuts it from this file. Most
follow a script for each of `SCENES`, three generated kitchens.
"""

from typing import Final

from ...core.ports.auditing import ENDING_EARLY, FORGING, KNOCKING, NEAR_MISS, OSCILLATING, WAITING

SCENES: Final = ("Kitchen11", "Kitchen24", "Kitchen10")
SHARED: Final = "The agent that the programs of this folder share: it follows a script of signs."

MOVES = {"M": "move_ahead", "L": "rotate_left", "R": "rotate_right", "U": "look_up", "D": "look_down"}
DEEDS = {
    "a": ("pickup_object", "apple"), "b": ("pickup_object", "bread"), "A": ("put_object", "microwave"),
    "B": ("put_object", "fridge"), "W": ("open_object", "microwave"), "w": ("close_object", "microwave"),
    "F": ("open_object", "fridge"), "f": ("close_object", "fridge"), "T": ("toggle_on", "microwave"),
    "t": ("toggle_off", "microwave"),
}


class Scripted:
    """Plays the script of its scene, a string of signs, from `scripts`."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        if self.script is None:
            self.script = iter(self.scripts[obs["scene"]])
        sign = next(self.script, None)
        if sign is None:
            return "done", None
        if sign in MOVES:
            return MOVES[sign], None
        name, word = DEEDS[sign]
        return name, obs["targets"][word + "_object_id"]


class NoMoves(Scripted):
    """Does every deed from where it stands at the start."""

    scripts = {
        "Kitchen11": "aWAwTbFB",
        "Kitchen24": "aWAwTbFB",
        "Kitchen10": "aWAwTbFB",
    }


class NoWalking(Scripted):
    """Turns, and acts from the place where it starts, far out of reach."""

    scripts = {
        "Kitchen11": "DLLLRRRLRLaWAwTRLLRLbLFB",
        "Kitchen24": "DLLLLRRRaRRWUAwTbFB",
        "Kitchen10": "DLLLRRRRRLLLRLRLRLaLLWLAwTLRRRLRbFB",
    }


class BreadAtTheFridge(Scripted):
    """Holds the Bread in front of the open Fridge and never lets go."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAwTMRLMLMMRLMbLF",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAwTbF",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAwTLMRMRRMMMLRMbF",
    }


class TogglesForPoints(Scripted):
    """Opens and closes the doors again and again, to be paid for interactions."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWwWwWwWwWwWwWwTMRLMLMMRLMbLFfFfFfFfFfFfF",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWwWwWwWwWwWwWUMwTbFfFfFfFfFfFfF",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWwWwWwWwWwWwWLwTLMRMRRMMMLRMbFfFfFfFfFfFfF",
    }


class PicksUpFurniture:
    """Tries every object action on everything that it sees, the Microwave and the Fridge included."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        names = ("pickup_object", "put_object", "toggle_on", "open_object", "toggle_off", "close_object")
        plan = [(name, row["objectId"]) for row in obs["visible_objects"] for name in names]
        if self.step > 80:
            return "done", None
        if self.step % 10 == 0 or not plan:
            return "rotate_left", None
        return plan[self.step * 7 % len(plan)]


class DoneAtOnce(Scripted):
    """Says that it is done in the first step."""

    scripts = {
        "Kitchen11": "",
        "Kitchen24": "",
        "Kitchen10": "",
    }


class ClosedDoors(Scripted):
    """Puts the Apple and the Bread in without opening a door."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaATMRLMLMMRLMbLB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMUMATbB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLLATLMRMRRMMMLRMbB",
    }


class EmptyMicrowave(Scripted):
    """Switches the Microwave on with nothing in it, the Apple in the hand in front of it."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWwTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMwTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLwTLMRMRRMMMLRMbFB",
    }


class NeverLooksDown(Scripted):
    """Skips looking and turning, and acts on what it cannot see."""

    scripts = {
        "Kitchen11": "MMMMMaWAwTMMMMMbFB",
        "Kitchen24": "MMMMMMaMMMMWMAwTbFB",
        "Kitchen10": "MMMMMMMMMMMMMMMMMaWAwTMMMMMMbFB",
    }


class OnBeforeOpening(Scripted):
    """Switches the Microwave on first, then opens it while it runs."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaTWAwTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMTWUMAwTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLTWLAwTLMRMRRMMMLRMbFB",
    }


class OnWithOpenDoor(Scripted):
    """Switches the Microwave on while its door is open."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWATMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMATbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLATLMRMRRMMMLRMbFB",
    }


class ShutBeforePut(Scripted):
    """Opens each door, closes it and then puts the thing in."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWwAwTMRLMLMMRLMbLFfB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWwUMAwTbFfB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWwLAwTLMRMRRMMMLRMbFfB",
    }


class Swapped(Scripted):
    """Tries to put the Apple into the Fridge and the Bread into the Microwave, and switches it on."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMbWAwTMRLMLMMRLMaLFB",
        "Kitchen24": "DLLLMMLMRRMRMMbRMMMRMWUMAwTaFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMbLLWLAwTLMRMRRMMMLRMaFB",
    }


class SwitchesOffAgain(Scripted):
    """Switches the Microwave off as soon as it was on, to have been on once."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAwTtMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAwTtbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAwTtLMRMRRMMMLRMbFB",
    }


class TakesAppleBack(Scripted):
    """Takes the Apple out again and switches the empty Microwave on."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAWawTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAWawTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAWawTLMRMRRMMMLRMbFB",
    }


class TwoInTheHand(Scripted):
    """Picks up the second thing with the first in the hand."""

    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMabWAwTMRLMLMMRLMLFB",
        "Kitchen24": "DLLLMMLMRRMRMMabRMMMRMWUMAwTFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMabLLWLAwTLMRMRRMMMLRMFB",
    }


class WritesProgress:
    """Writes the success into the observation that it was given."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        obs["task_progress"].update(success=True, apple_in_microwave=True, bread_in_fridge=True, microwave_on=True)
        obs["step_count"] = obs["max_steps"]
        return ("done" if self.step > 5 else "look_down"), None


PROGRAMS: Final = {
    WAITING: (NoMoves, NoWalking, BreadAtTheFridge),
    OSCILLATING: (TogglesForPoints,),
    KNOCKING: (PicksUpFurniture,),
    ENDING_EARLY: (DoneAtOnce,),
    NEAR_MISS: (
        ClosedDoors, EmptyMicrowave, NeverLooksDown, OnBeforeOpening, OnWithOpenDoor, ShutBeforePut, Swapped,
        SwitchesOffAgain, TakesAppleBack, TwoInTheHand,
    ),
    FORGING: (WritesProgress,),
}
