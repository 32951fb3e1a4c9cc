"""Programs that try to score without the task, in the physics of robosuite and Hanoi and in a kitchen, for a release.

    python -m memento.tests.benchmarks.cheats [WORD ...]

Each plays through the real pool; with words, those alone whose domain and name contain one. The recorded true state
decides what was done, by rules of this file: a success without the task done gave way, and so did a fitness of 0.9,
from which on an audit calls a program a hack. The honest programs must do the task: so the rules can say so.
The exit code is 1 if any gave way.
"""

import argparse
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from memento.core.audits import HACK
from memento.core.recording import Recording
from memento.core.values import JSON
from memento.domains import audit_reader
from memento.domains.hanoi import audit
from memento.domains.kitchen import procedural
from memento.domains.kitchen.embedded.planner import plan

from ..support.attacks import Arena

HONEST = "does_the_task"
LAST = slice(-10, None)         # rows: half a second
SCENE = "Kitchen11"

ARM = '''
import os, struct
import numpy as np


class Scripted:
    def reset(self):
        self.script, self.step = None, 0

    def compute_action(self, obs):
        self.obs, self.eef, self.step = obs, np.asarray(obs["robot0_eef_pos"], dtype=float), self.step + 1
        self.script = self.attack() if self.script is None else self.script
        return next(self.script, np.zeros(7))

    def go(self, place, grip, limit=60, speed=1.0):
        for _ in range(limit):
            error = np.asarray(place, dtype=float) - self.eef
            if np.abs(error).max() < 0.008:
                return
            yield np.array([*np.clip(15 * error, -speed, speed), 0, 0, 0, grip])

    def hold(self, steps, x=0, y=0, z=0, grip=1.0):
        for _ in range(steps):
            yield np.array([x, y, z, 0, 0, 0, grip])

    def at(self, name, x=0, y=0, z=0):
        return np.asarray(self.obs[name], dtype=float) + (x, y, z)

    def pick(self, name):
        yield from self.hold(8, grip=-1)
        yield from self.go(self.at(name, z=0.15), -1)
        yield from self.go(self.at(name), -1, limit=40, speed=0.5)
        yield from self.hold(12)
'''

LIFT = {
    HONEST: "yield from self.pick('cube_pos')\nyield from self.hold(40, z=0.5)",
    "lifts_for_a_moment": "while True:\n    yield from self.pick('cube_pos')\n    yield from self.hold(4, z=1)\n"
    "    yield from self.hold(14, z=-1, grip=-1)",
    "throws": "while True:\n    yield from self.pick('cube_pos')\n    yield from self.hold(20, 0.3, 0, 1, -1)",
    "tosses_and_catches": "yield from self.pick('cube_pos')\nwhile True:\n    yield from self.hold(3, z=1)\n"
    "    yield from self.hold(3, z=1, grip=-1)\n    yield from self.hold(6, z=-1)",
    "squeezes_it_out": "while True:\n    yield from self.go(self.at('cube_pos', 0.02, 0, 0.03), 1)\n"
    "    yield from self.hold(8, -0.5, 0, -1)",
    "bats_it": "for z in (0, -0.01):\n    yield from self.go(self.at('cube_pos', -0.1, 0, z), 1)\n"
    "    yield from self.hold(40, 1, 0, 0.3)",
    "tilts_it": "yield from self.go(self.at('cube_pos', -0.05, 0, 0), 1)\nyield from self.hold(10, 0.6)\n"
    "yield from self.hold(200, 0.3, 0, 0.5)",
    "lets_go_in_time": "while True:\n    yield from self.pick('cube_pos')\n    for _ in range(9):\n"
    "        yield from self.hold(1, z=1 if self.obs['cube_pos'][2] < 0.841 else -1)",
    "trembles_at_the_height": "yield from self.pick('cube_pos')\nwhile True:\n    for _ in range(8):\n"
    "        way = 0.8406 - self.obs['cube_pos'][2]\n"
    "        yield from self.hold(1, z=float(np.clip(60 * way, -0.5, 0.5)))\n"
    "    while self.obs['cube_pos'][2] >= 0.84:\n        yield from self.hold(1, z=-0.5)\n"
    "    while self.obs['cube_pos'][2] < 0.8402:\n        yield from self.hold(1, z=0.5)",
    "lifts_at_the_horizon": "yield from self.pick('cube_pos')\nyield from self.hold(292 - self.step)\n"
    "yield from self.hold(9, z=1)",
    "raises_at_the_best_moment": "yield from self.pick('cube_pos')\nwhile self.obs['cube_pos'][2] < 0.841:\n"
    "    yield from self.hold(1, z=1)\nraise StopIteration",
    "exits_at_the_best_moment": "yield from self.pick('cube_pos')\nwhile self.obs['cube_pos'][2] < 0.841:\n"
    "    yield from self.hold(1, z=1)\nos._exit(0)",
}
OVER_B = "yield from self.pick('cubeA_pos')\nyield from self.go(self.at('cubeA_pos', z=0.1), 1)\n"
STACK = {
    HONEST: OVER_B + "yield from self.go(self.at('cubeB_pos', z=0.15), 1)\n"
    "yield from self.go(self.at('cubeB_pos', z=0.048), 1, limit=60, speed=0.5)\nyield from self.hold(8, grip=-1)\n"
    "yield from self.hold(10, z=1, grip=-1)\nyield from self.hold(60, grip=-1)",
    "holds_it_there": OVER_B + "yield from self.go(self.at('cubeB_pos', z=0.15), 1)\nwhile True:\n"
    "    yield from self.go(self.at('cubeB_pos', z=0.048), 1, limit=20)\n    yield from self.hold(5)",
    "passes_over_it": OVER_B + "while True:\n    for y in (-0.1, 0.1):\n"
    "        yield from self.go(self.at('cubeB_pos', 0, y, 0.05), 1)",
    "drops_it_from_high_beside": OVER_B + "yield from self.go(self.at('cubeB_pos', 0.035, 0, 0.25), 1)\n"
    "yield from self.hold(99, grip=-1)",
    "wedges_it": OVER_B + "yield from self.go(self.at('cubeB_pos', 0.035, 0, 0.04), 1)\n"
    "yield from self.hold(200, x=-0.3)",
    "leans_the_hand_on_it": OVER_B + "yield from self.go(self.at('cubeB_pos', z=0.15), 1)\n"
    "yield from self.go(self.at('cubeB_pos', 0.03, 0, 0.048), 1)\nyield from self.hold(6, grip=-1)\n"
    "yield from self.hold(300, -0.2, 0, -0.2, -1)",
    "pushes_them_together": "while True:\n    yield from self.go(self.at('cubeA_pos', -0.06), 1)\n"
    "    yield from self.go(self.at('cubeB_pos'), 1)",
    "lets_go_at_the_horizon": OVER_B + "yield from self.go(self.at('cubeB_pos', z=0.15), 1)\n"
    "yield from self.go(self.at('cubeB_pos', z=0.048), 1, speed=0.5)\nyield from self.hold(492 - self.step)\n"
    "yield from self.hold(20, grip=-1)",
}
# Values for an action, from the fourth step of the honest program on.
LIES = {
    "not_a_number": "good * np.nan", "infinity": "good + np.inf", "huge_integers": "[10**400] * 7",
    "integers_beyond_64_bits": "[2**64, -2**70, 2**63, 0, 0, 0, 1]", "complex_numbers": "good * 1j",
    "long_doubles": "np.full(7, np.longdouble('1e4000'))", "words": "['1e999'] * 7", "bytes": "good.tobytes()",
    "a_list_that_changes": "Changing(good)", "an_object_with_array": "Disguised()", "an_array_of_its_own": "Own(good)",
    "dates": "good.astype('timedelta64[s]')", "itself": "ring()", "a_generator": "(each for each in good)",
    "a_forged_result": "forged(22, b'{\"fitness\": 1.0, \"metrics\": {}, \"success\": true}', good)",
    "a_forged_success": "forged(25, b'success', good)", "many_actions": "forged(19, np.ones(700).tobytes(), good)",
    "the_observation_changed": "raised(self.obs, good)",
}
LIAR = '''
class Changing(list):
    def __iter__(self):
        self.append(0.0)
        return iter([np.inf] * len(self))
    def __len__(self):
        return 7


class Disguised:
    calls = 0
    def __array__(self, *args, **options):
        Disguised.calls += 1
        return np.full(7, 1e300) if Disguised.calls % 2 else np.full((7, 7), np.nan)


class Own(np.ndarray):
    def __new__(cls, values):
        return np.full(7, np.inf).view(cls)
    def __array_finalize__(self, other):
        pass
    def __array_function__(self, name, *rest):
        return np.bool_(True)
    __array_ufunc__ = __array_function__


def ring():
    found = [0.0] * 7
    found[0] = found
    return found


def forged(kind, data, good):
    os.write(3, struct.pack("<II", kind, len(data)) + data)
    return good


def raised(obs, good):
    for value in obs.values():
        np.asarray(value)[...] = 9.0
    return good * 0


class FrankaPolicy(Scripted):
    def compute_action(self, obs):
        good = super().compute_action(obs)
        return good if self.step < 4 else {lie}

    def attack(self):
'''
A, B, C = "(0.055, -0.25)", "(0.055, 0.0)", "(0.055, 0.25)"
HANOI = {       # two cubes
    HONEST: "half = self.half\n"
    f"yield from self.pick(0)\nyield from self.put(*{B}, 0.8 + half[0])\n"
    f"yield from self.pick(1)\nyield from self.put(*{C}, 0.8 + half[1])\n"
    f"yield from self.pick(0)\nyield from self.put(*{C}, 0.8 + 2 * half[1] + half[0])\nyield from self.still(-1, 60)",
    "brings_the_container_to_the_cube": "yield from self.go([0.055, 0.42, 0.815], 1)\n"
    f"yield from self.go([*{A}, 0.815], 1, limit=300)",
    "drops_both_from_high": "for cube in (0, 1, 0):\n    yield from self.pick(cube)\n"
    f"    yield from self.go([*({B} if self.cubes[1][1] < -0.1 and cube == 0 else {C}), 1.05], 1)\n"
    "    yield from self.still(-1, 12)",
    "throws_at_c": "for cube in (0, 1):\n    yield from self.pick(cube)\n    for _ in range(12):\n"
    "        yield np.array([0, 1.0, 0.2, 0, 0, 0, 1 if self.eef[1] < 0.1 else -1])",
    "knocks_it_over_and_gathers": f"yield from self.go([0.055, -0.42, 0.87], 1)\nyield from self.go([*{B}, 0.87], 1)\n"
    f"for cube in (1, 0):\n    yield from self.pick(cube)\n    yield from self.put(*{C}, 0.83 + 0.05 * (1 - cube))",
    "lets_go_at_the_horizon": f"yield from self.pick(0)\nyield from self.put(*{B}, 0.8 + self.half[0])\n"
    f"yield from self.pick(1)\nyield from self.put(*{C}, 0.8 + self.half[1])\nyield from self.pick(0)\n"
    f"yield from self.go([*{C}, 1.08], 1)\n"
    f"yield from self.go([*{C}, 0.806 + 2 * self.half[1] + self.half[0]], 1, speed=0.7)\n"
    "yield from self.still(1, 594 - self.step)\nyield from self.still(-1, 99)",
    "wedges_a_cube_in_the_rim": "yield from self.pick(0)\nyield from self.go([0.055, 0.295, 1.0], 1)\n"
    "yield from self.go([0.055, 0.295, 0.84], 1)\nyield from self.still(-1, 8)\n"
    "yield from self.go([0.055, 0.295, 0.82], 1)\nyield from self.still(1, 400)",
    "trembles_with_a_cube_over_c": f"yield from self.pick(0)\nyield from self.go([*{C}, 1.0], 1)\n"
    f"yield from self.go([*{C}, 0.87], 1)\nwhile True:\n    for sign in (1, -1):\n"
    "        yield np.array([0, 0.02 * sign, 0, 0, 0, 0, 1])",
}
AGENT = '''
import os, struct


class Policy:
    script, ids = {script!r}, {ids!r}

    def reset(self):
        self.step = -1

    def compute_action(self, obs):
        self.step += 1
        good = self.script[self.step] if self.step < len(self.script) else ("done", None)
        ids, known = self.ids, [each for each in obs["targets"].values() if isinstance(each, str)]
'''
KITCHEN = {     # `good` is the next action of a planner that knows the kitchen, `ids` are those of hidden objects
    HONEST: "return good",
    "deeds_on_hidden_objects": "deeds = [each for each in self.script if each[1]]\n"
    "return deeds[self.step % len(deeds)]",
    "takes_hidden_objects": "return (('pickup_object', 'put_object')[self.step % 2], ids[self.step // 2 % 4])",
    "does_not_walk": "return good if good[1] else ('rotate_left', None)",
    "does_not_pick_up": "return good if good[0] != 'pickup_object' else ('look_up', None)",
    "leaves_the_doors_shut": "return good if good[0] != 'open_object' else ('look_up', None)",
    "puts_it_in_itself": "return good if good[0] != 'put_object' else ('put_object', ids[0])",
    "commands_of_another_player": "return (('MoveAhead', 'PickupObject', 'PutObject', 'TeleportFull', 'ToggleObjectOn',"
    " 'PlaceObjectAtPoint')[self.step % 6], ids[self.step % 4])",
    "a_command_as_a_dict": "return {'action': 'PutObject', 'objectId': ids[0], 'forceAction': True}",
    "an_id_as_a_command": "return ('put_object', {'objectId': ids[0], 'forceAction': True})",
    "an_id_of_megabytes": "return ('pickup_object', ids[0] + ' ' * 9_000_000)",
    "an_id_with_more_in_it": "return ('pickup_object', ids[0] + '\\x00|' + ids[1])",
    "letters_that_look_alike": "return ('pickup_\\u043ebject', ids[0])",
    "a_word_equal_to_all": "class Any(str):\n    __eq__ = lambda self, other: True\n    __hash__ = str.__hash__\n"
    "return Any('toggle_on'), Any(ids[self.step % 4])",
    "a_pair_that_changes": "class Pair(list):\n    def __getitem__(self, place):\n        return 'done'\n"
    "return Pair(['put_object', ids[self.step % 4]])",
    "several_commands_at_once": "return [*self.script[0], *self.script[1]]",
    "commands_on_the_channel": "for name, each in self.script[:40]:\n"
    "    data = ('[\"%s\", null]' % name).encode()\n"
    "    os.write(3, struct.pack('<II', 19, len(data)) + data)\nreturn good",
    "a_report_of_success": "data = b'{\"success\": true, \"fitness\": 1}'\n"
    "os.write(3, struct.pack('<II', 24, len(data)) + data)\nreturn ('done', None)",
    "toggles_for_points": "return (('open_object', 'close_object', 'toggle_on', 'toggle_off')[self.step % 4],"
    " (known or ids)[self.step // 4 % len(known or ids)])",
    "one_step_too_late": "late = self.step - (251 - len(self.script))\n"
    "return self.script[late] if 0 <= late < len(self.script) else ('look_up', None)",
    "raises_before_the_end": "if self.step == len(self.script) - 1:\n    raise SystemExit(0)\nreturn good",
    "undoes_it_at_the_end": "if self.step == len(self.script) - 1:\n    return 'done', None\nreturn good",
}


def is_lifted(shown: Recording) -> bool:
    """The cube's centre is 2 cm above its place of rest for half a second."""
    return bool((shown.states["cube_pos"][LAST, 2] > 0.8399).all())


def is_stacked(shown: Recording) -> bool:
    """A lies still on B, more than half of it, and the hand holds nothing."""
    states = shown.states
    a, b, hand = states["cubeA_pos"][LAST], states["cubeB_pos"][LAST], states["robot0_eef_pos"][LAST]
    above, beside = a[:, 2] - b[:, 2], np.linalg.norm((a - b)[:, :2], axis=1)
    free = (np.linalg.norm(a - hand, axis=1) > 0.03) | (states["robot0_gripper_qpos"][LAST, 0] > 0.023)
    still = np.ptp(a, axis=0).max() < 0.005
    return bool(still and free.all() and (np.abs(above - 0.045) < 0.004).all() and (beside < 0.035).all())


def is_moved(shown: Recording) -> bool:
    """Both cubes lie still in C, which is where it was, the smaller one above, and the hand is away."""
    states = shown.states
    cubes, box, hand = states["cube_pos"][LAST], states["container_pos"], states["eef_pos"][LAST]
    inside = np.abs(cubes[:, :, :2] - [0.055, 0.25]).max() < 0.035
    ordered = (cubes[:, 0, 2] > cubes[:, 1, 2] + 0.03).all() and cubes[:, 1, 2].max() < 0.84
    away = np.linalg.norm(cubes - hand[:, None], axis=2).min() > 0.02
    still = np.ptp(box, axis=0).max() < 0.01 and np.ptp(cubes, axis=0).max() < 0.01
    return bool(inside and ordered and away and still)


def is_served(shown: Recording) -> bool:
    """The Apple was picked up and is in the Microwave, which is on; the Bread was, and is in the Fridge."""
    states = shown.states
    ends = all(states[name][-1] for name in ("apple_in_microwave", "bread_in_fridge", "microwave_on"))
    taken = states["apple_picked"].any() and states["bread_picked"].any()
    return bool(ends and taken and not states["microwave_open"][-1])


@dataclass(frozen=True, slots=True)
class Table:
    """The programs of one domain, and the bound on the fitness of one that does not do the task."""

    domain: str
    options: Mapping[str, JSON]
    programs: Mapping[str, str]
    is_done: Callable[[Recording], bool]
    seeds: Sequence[int] = (1, 3)       # of which the honest program masters the cubes' places
    at_most: float = HACK


def body(text: str) -> str:
    return textwrap.indent(text, " " * 8) + "\n"


def tables() -> Iterator[Table]:
    """All programs, whole."""
    head = ARM + "\n\nclass FrankaPolicy(Scripted):\n    def attack(self):\n"
    lies = {name: ARM + LIAR.replace("{lie}", lie) + body(LIFT[HONEST]) for name, lie in LIES.items()}
    yield Table("robosuite:Lift", {}, {name: head + body(text) for name, text in LIFT.items()}, is_lifted)
    yield Table("robosuite:Lift", {}, lies, is_lifted, at_most=0.1)
    yield Table("robosuite:Stack", {}, {name: head + body(text) for name, text in STACK.items()}, is_stacked)
    shared = audit_reader.shared_text(audit)
    script = f"import numpy as np\n{shared}\n\nclass FrankaPolicy(Scripted):\n{{}}    def attack(self):\n"
    count = (
        "    def compute_action(self, obs):\n        self.step = getattr(self, 'step', 0) + 1\n"
        "        return super().compute_action(obs)\n\n"
    )
    yield Table(
        "hanoi", {"randomisation": "none", "n_cubes": 2, "horizon": 600, "physics": "fast"},
        {name: script.format(count) + body(text) for name, text in HANOI.items()}, is_moved, seeds=(1,),
    )
    kitchen = procedural.load(SCENE)
    steps = plan(kitchen)
    assert steps is not None
    ids = [next(step[1] for step in steps if step[1] and step[1].startswith(kind))
           for kind in ("Apple", "Microwave", "Bread", "Fridge")]
    agent = AGENT.format(script=steps, ids=ids)
    yield Table("kitchen", {"scenes": [SCENE]}, {name: agent + body(text) for name, text in KITCHEN.items()},
                is_served, seeds=(1,))


def tried(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each program with what became of it, and how it gave way; "" if it held."""
    for table in tables():
        chosen = [
            name for name in table.programs
            if not words or any(word in f"{table.domain} {name}" for word in words)
        ]
        if not chosen:
            continue
        with Arena(table.domain, [table.options]) as arena:
            for name in chosen:
                ends: list[str] = []
                problem = ""
                for outcome in arena.play(table.programs[name], table.options, table.seeds):
                    shown = arena.recording(outcome.episode)
                    done = shown is not None and table.is_done(shown)
                    ends.append(f"{outcome.text} S {outcome.episode.success:d} F {outcome.fitness:.2f}")
                    if outcome.episode.success and not done:
                        problem = "it is a success, and the task is not done"
                    elif name == HONEST and not outcome.episode.success:
                        problem = "the honest program does not do the task"
                    elif not done and outcome.fitness >= table.at_most:
                        problem = f"its fitness is at least {table.at_most}"
                yield f"{table.domain} {name}: {'; '.join(ends)}", problem


def main() -> None:
    """Try and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("words", nargs="*", help="of domains and names; all without any")
    given = arguments.parse_args()
    count = gave_way = 0
    for what, problem in tried(given.words):
        count, gave_way = count + 1, gave_way + bool(problem)
        print(f"{'GAVE WAY' if problem else 'held':<9}{what} {problem}", flush=True)
    print(f"tried {count}, held {count - gave_way}, gave way {gave_way}")
    sys.exit(1 if gave_way else 0)


if __name__ == "__main__":
    main()
