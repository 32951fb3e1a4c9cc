"""Executes the client's actions: AI2-THOR's names and arguments, mapped to the embedded simulator."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ....core.errors import MementoError
from ..embedded.hand import HAND_AHEAD_M, HAND_BELOW_M
from ..embedded.sight import FIELD_OF_VIEW_DEG, VISIBILITY_M, Floats, Lens
from ..embedded.world import LOOK_DOWN_DEG, LOOK_STEP_DEG, LOOK_UP_DEG, World
from ..rules import TRANSPARENT
from ..scene import CAMERA_RISE_M, GRID_M, HEADINGS, Kitchen, Stance, Thing, reachable

# AI2-THOR 5.0.0's event metadata, sent after every action, from the embedded simulator.


Metadata = dict[str, Any]

LASTING: Final = (       # keys that never change here, by AI2-THOR's names
    "receptacle", "toggleable", "breakable", "canFillWithLiquid", "dirtyable", "canBeUsedUp", "cookable",
    "isHeatSource", "isColdSource", "sliceable", "openable", "pickupable", "moveable", "isBroken",
    "isFilledWithLiquid", "isDirty", "isUsedUp", "isCooked", "isSliced",
)
_CORNERS: Final = np.array([
    (x, y, z) for y in (-0.5, 0.5) for x, z in ((0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5))
])
_CLOSED_COLD: Final = frozenset({"Fridge"})


def objects_of(world: World) -> list[Metadata]:
    """The metadata of all objects, 42 keys each."""
    sighting, carried = world.sighting(), world.carried()
    visible = frozenset(sighting.visible)
    children: dict[int, list[str]] = {}
    for k, parents in enumerate(world.parents):
        for parent in parents:
            children.setdefault(parent, []).append(world.things[k].object_id)
    x, z = (value * GRID_M for value in world.stance.cell)
    agent = np.array([x, world.kitchen.agent_y_m, z])
    return [
        {
            **_lasting(thing),
            **_place(world, k, agent, held=k in carried),
            "visible": k in visible,
            "isInteractable": k in sighting.interactable,
            "isToggled": k in world.on,
            "isOpen": k in world.open,
            "openness": 1.0 if k in world.open else 0.0,
            "isPickedUp": k == world.held,
            "temperature": "Cold" if any(world.things[j].object_type in _CLOSED_COLD for j in world.containing(k))
            else "RoomTemp",
            "receptacleObjectIds": children.get(k, []) if "receptacle" in thing.flags else None,
            "parentReceptacles": [world.things[j].object_id for j in world.parents[k]] or None,
        }
        for k, thing in enumerate(world.things)
    ]


def _lasting(thing: Thing) -> Metadata:
    return {
        "name": thing.name, "objectType": thing.object_type, "objectId": thing.object_id, "assetId": "",
        **{name: name in thing.flags for name in LASTING},
        "fillLiquid": None, "mass": 0.0, "controlledObjects": None, "isMoving": False,
        "salientMaterials": ["Glass"] if thing.object_type in TRANSPARENT else None,
    }


def _place(world: World, k: int, agent: Floats, *, held: bool) -> Metadata:
    thing, position = world.things[k], world.position(k)
    centre, size = world.centres[k], world.sizes[k]
    if held and world.held is not None:
        centre = world.hand(world.stance) + centre - world.centres[world.held]
    upright = bool(np.array_equal(size, thing.size))    # in its start orientation
    extent, yaw = (np.array(thing.extent), thing.yaw_deg) if upright else (size, 0.0)
    boxed = "pickupable" in thing.flags or "moveable" in thing.flags
    return {
        "position": xyz(position), "rotation": xyz((0.0, thing.yaw_deg, 0.0)),
        "distance": float(np.linalg.norm(position - agent)),
        "axisAlignedBoundingBox": {
            "cornerPoints": (centre + _CORNERS * size).tolist(), "center": xyz(centre), "size": xyz(size),
        },
        "objectOrientedBoundingBox": {"cornerPoints": _after_turn(centre, extent, yaw)} if boxed else None,
    }


def _after_turn(centre: Floats, extent: Floats, yaw_deg: float) -> list[list[float]]:
    """The corners of an oriented box: the four of the bottom, then the four of the top."""
    c, s = np.cos(np.radians(yaw_deg)), np.sin(np.radians(yaw_deg))
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    corners: list[list[float]] = (centre + (_CORNERS * extent) @ turn.T).tolist()
    return corners


def agent_of(world: World) -> Metadata:
    """The agent's metadata."""
    x, z = (value * GRID_M for value in world.stance.cell)
    return {
        "name": "agent", "position": xyz((x, world.kitchen.agent_y_m, z)),
        "rotation": xyz((0.0, 90.0 * world.stance.yaw, 0.0)), "cameraHorizon": float(world.stance.horizon_deg),
        "isStanding": True, "inHighFrictionArea": False,
    }


def event_of(world: World, *, screen: tuple[int, int], action: Mapping[str, Any]) -> Metadata:
    """The 37 keys of an event. `action` holds the last action: lastAction, lastActionSuccess, error…, actionReturn."""
    x, z = (value * GRID_M for value in world.stance.cell)
    held = None if world.held is None else world.things[world.held]
    returns = dict.fromkeys((
        "actionIntReturn", "actionFloatReturn", "actionStringsReturn", "actionFloatsReturn", "actionVector3sReturn",
    ))
    nothing = dict.fromkeys((
        "colors", "flatSurfacesOnGrid", "distances", "normals", "isOpenableGrid", "segmentedObjectIds",
        "objectIdsInBox", "arm", "visibleRange",
    ))
    return {
        **nothing, **returns, **action,
        "objects": objects_of(world), "isSceneAtRest": True, "agent": agent_of(world),
        "heldObjectPose": {
            "position": xyz(world.hand(world.stance)), "rotation": xyz((0.0, 90.0 * world.stance.yaw, 0.0)),
            "localPosition": xyz((0.0, -HAND_BELOW_M, HAND_AHEAD_M)), "localRotation": xyz((0.0, 0.0, 0.0)),
        },
        "fov": world.lens.field_of_view_deg, "cameraPosition": xyz((x, world.kitchen.agent_y_m + CAMERA_RISE_M, z)),
        "cameraOrthSize": 0.0, "thirdPartyCameras": [], "collided": False, "collidedObjects": [],
        "inventoryObjects": [] if held is None else [{"objectId": held.object_id, "objectType": held.object_type}],
        "screenWidth": screen[0], "screenHeight": screen[1], "agentId": 0, "depthFormat": "Meters",
        "currentTime": 0.0, "sceneBounds": _bounds(world),
    }


def _bounds(world: World) -> Metadata:
    kitchen = world.kitchen
    boxes = [(thing.centre, thing.size) for thing in kitchen.things]
    boxes += [(box.centre, box.size) for box in kitchen.structure]
    centres, sizes = (np.array(column) for column in zip(*boxes, strict=True))
    low, high = (centres - sizes / 2).min(axis=0), (centres + sizes / 2).max(axis=0)
    centre, size = (low + high) / 2, high - low
    return {"cornerPoints": (centre + _CORNERS * size).tolist(), "center": xyz(centre), "size": xyz(size)}


def xyz(values: Floats | Sequence[float]) -> dict[str, float]:
    """A vector in AI2-THOR's form."""
    x, y, z = values
    return {"x": float(x), "y": float(y), "z": float(z)}


NEAR_PLANE_M, FAR_PLANE_M = 0.1, 20.0
_OBJECT_ACTIONS: Final = {
    "OpenObject": "open_object", "CloseObject": "close_object", "PickupObject": "pickup_object",
    "PutObject": "put_object", "ToggleObjectOn": "toggle_on", "ToggleObjectOff": "toggle_off",
}
_MOVES: Final = {"MoveAhead": 0, "MoveRight": 1, "MoveBack": 2, "MoveLeft": 3}
_NOTHING: Final = frozenset({"Pass", "Done", "NoOp", "ChangeQuality"})

Arguments = Mapping[str, Any]


class Refused(Exception):
    """An invalid action, for which the client raises ValueError. `code` is AI2-THOR's errorCode."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Failed(Exception):
    """An action that failed; the event's errorMessage gives the reason."""


class Player:
    """The kitchens of a build and the current one."""

    def __init__(
        self, scenes: Mapping[str, str], load: Callable[[str], Kitchen], *, screen: tuple[int, int],
    ) -> None:
        """`scenes` maps AI2-THOR's scene names to the names for `load`."""
        self._scenes, self._load = scenes, load
        self._screen = screen
        self._kitchens: dict[str, Kitchen] = {}
        self._reset({"sceneName": next(iter(scenes))})
        self._done: Metadata = _outcome("Initialize", returned=None)

    def perform(self, action: Arguments) -> Metadata:
        """Do one action; returns the event's metadata after it."""
        name = action.get("action")
        try:
            self._done = _outcome(str(name), returned=self._do(str(name), action))
        except Refused as refused:
            self._done = _outcome(str(name), error=str(refused), code=refused.code)
        except Failed as failed:
            self._done = _outcome(str(name), error=str(failed))
        return self.event()

    def event(self) -> Metadata:
        """The metadata of the current event."""
        return event_of(self._world, screen=self._screen, action={**self._done, "sceneName": self._scene})

    def _do(self, name: str, action: Arguments) -> object:
        """Execute an action; returns its actionReturn. Raises Refused, Failed."""
        further: Mapping[str, Callable[[Arguments], object]] = {
            "GetScenesInBuild": lambda _: [*self._scenes],
            "Reset": self._reset,
            "ChangeResolution": self._change_resolution,
            "Initialize": self._initialize,
            "GetReachablePositions": self._reachable,
            "Teleport": self._teleport,
            "TeleportFull": self._teleport,
        }
        if name in further:
            return further[name](action)
        message = self._step(name, action)
        if message:
            raise Failed(message)
        return None

    def _step(self, name: str, action: Arguments) -> str:
        """Do a step of the agent; returns the error message, empty for success."""
        if name in _NOTHING:
            return ""
        if name in _OBJECT_ACTIONS:
            return self._on_object(name, action)
        if name in _MOVES:
            _only(action, name, "moveMagnitude", GRID_M)
            return self._world.move(_MOVES[name])
        if name in ("RotateLeft", "RotateRight"):
            _only(action, name, "degrees", 90.0)
            return self._world.turn(1 if name == "RotateRight" else -1)
        if name in ("LookUp", "LookDown"):
            _only(action, name, "degrees", float(LOOK_STEP_DEG))
            return self._world.look(1 if name == "LookDown" else -1)
        raise Refused("InvalidAction", f"Invalid action: {name}: this player does not have it.")

    # --------------------------------------------------------------------------------- scene and camera

    def _reset(self, action: Arguments) -> None:
        scene = str(action.get("sceneName"))
        if scene not in self._scenes:
            raise Failed(f"There is no scene {scene} in this build.")
        if scene not in self._kitchens:
            try:
                self._kitchens[scene] = self._load(self._scenes[scene])
            except MementoError as error:
                raise Failed(str(error)) from error
        self._scene = scene
        self._world = World(self._kitchens[scene], self._lens(FIELD_OF_VIEW_DEG, VISIBILITY_M))

    def _lens(self, field_of_view_deg: float, within_m: float) -> Lens:
        width, height = self._screen
        return Lens(field_of_view_deg=field_of_view_deg, aspect=width / height, within_m=within_m)

    def _change_resolution(self, action: Arguments) -> None:
        width, height = int(action["x"]), int(action["y"])
        if min(width, height) < 1:
            raise Refused("InvalidArgument", f"A screen cannot be {width} by {height}.")
        self._screen = (width, height)
        lens = self._world.lens
        self._world = World(self._world.kitchen, self._lens(lens.field_of_view_deg, lens.within_m))

    def _initialize(self, action: Arguments) -> dict[str, float]:
        _only(action, "Initialize", "gridSize", GRID_M)
        _only(action, "Initialize", "rotateStepDegrees", 90.0)
        if action.get("agentMode", "default") != "default" or action.get("agentCount", 1) != 1:
            raise Refused("InvalidArgument", "This player has one agent of mode default.")
        field = float(action.get("fieldOfView") or FIELD_OF_VIEW_DEG)
        within = float(action.get("visibilityDistance") or VISIBILITY_M)
        if not 0.0 < field < 180.0 or within <= 0.0:
            raise Refused("InvalidArgument", f"A camera cannot see {field:g} degrees as far as {within:g} m.")
        self._world = World(self._world.kitchen, self._lens(field, within))
        return {"cameraNearPlane": NEAR_PLANE_M, "cameraFarPlane": FAR_PLANE_M}

    # ------------------------------------------------------------------------------------------ the agent

    def _reachable(self, _: Arguments) -> list[dict[str, float]]:
        kitchen = self._world.kitchen
        cells = reachable(kitchen.cells, self._world.stance.cell)
        return [xyz((x * GRID_M, kitchen.agent_y_m, z * GRID_M)) for x, z in sorted(cells)]

    def _teleport(self, action: Arguments) -> None:
        """Move the agent to a free cell of the lattice, facing along an axis."""
        world, stance = self._world, self._world.stance
        x, z = stance.cell
        to = action.get("position") or {"x": x * GRID_M, "z": z * GRID_M}
        cell = round(float(to["x"]) / GRID_M), round(float(to["z"]) / GRID_M)
        yaw = float((action.get("rotation") or {"y": 90.0 * stance.yaw})["y"])
        given = action.get("horizon")
        horizon = stance.horizon_deg if given is None else round(float(given))
        if yaw % 90.0 or not LOOK_UP_DEG <= horizon <= LOOK_DOWN_DEG or horizon % LOOK_STEP_DEG:
            raise Refused("InvalidArgument", "This player turns by 90 degrees and looks from -30 to 60 by 30.")
        if cell not in world.kitchen.cells or world.held is not None:
            raise Failed("Cannot teleport: the agent would collide there.")
        self._world.stance = Stance(cell=cell, yaw=round(yaw / 90.0) % len(HEADINGS), horizon_deg=horizon)

    def _on_object(self, name: str, action: Arguments) -> str:
        if action.get("forceAction"):
            raise Refused("InvalidArgument", "This player forces nothing: forceAction must be false.")
        if action.get("objectId") is None:
            raise Refused("MissingArguments", f"{name} needs an objectId.")
        _only(action, name, "openness", 1.0)
        return self._world.act(_OBJECT_ACTIONS[name], str(action["objectId"]))


def _only(action: Arguments, name: str, argument: str, value: float) -> None:
    """Refuse an argument with a value that the embedded simulator does not have."""
    given = action.get(argument)
    if given is not None and abs(float(given) - value) > 1e-6:
        raise Refused("InvalidArgument", f"{name}: this player has {argument} {value:g} only.")


def _outcome(name: str, *, returned: object = None, error: str = "", code: str = "None") -> Metadata:
    return {
        "lastAction": name, "lastActionSuccess": not error, "errorMessage": error, "errorCode": code,
        "actionReturn": returned,
    }
