"""AI2-THOR 5.0.0's event metadata, sent after every action, from the embedded simulator."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..embedded.hand import HAND_AHEAD_M, HAND_BELOW_M
from ..embedded.sight import Floats
from ..embedded.world import World
from ..rules import TRANSPARENT
from ..scene import CAMERA_RISE_M, GRID_M, Thing

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
        "objectOrientedBoundingBox": {"cornerPoints": _turned(centre, extent, yaw)} if boxed else None,
    }


def _turned(centre: Floats, extent: Floats, yaw_deg: float) -> list[list[float]]:
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
