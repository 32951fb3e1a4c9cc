"""Records kitchens of a Unity build for the `recorded` back end.

A recording of a scene is two JSON files of the same name: `start_states/X.json` holds the scene after its
reset, `recorded/X.json` the cells where the agent can stand.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ....core.errors import RolloutError
from ....core.files import replace_file
from ..recorded import FOLDERS, kitchen
from ..scene import GRID_M
from .client import Client, Deadlines, Metadata

DECIMALS: Final = 4
_COMPACT: Final = (",", ":")


def record(
    program: Path, scenes: Sequence[str], folder: Path, *, deadlines: Deadlines | None = None,
) -> Iterator[tuple[str, int, int]]:
    """Record scenes one by one; yields (scene, number of objects, number of cells) once its files are written.

    Raises RolloutError, and OSError if a file cannot be written.
    """
    client = Client(program, scenes[0], deadlines=deadlines or Deadlines())
    try:
        for number, scene in enumerate(scenes):
            metadata = client.reset(scene) if number else client.metadata
            start = start_state(scene, metadata)
            answer = client.step("GetReachablePositions")
            if not answer["lastActionSuccess"] or not answer["actionReturn"]:
                raise RolloutError(f"{scene}: the build returned no reachable positions: {answer['errorMessage']}")
            visited = {
                "scene": scene, "grid_size": GRID_M, "source": start["source"],
                "grid_all": sorted([_number(place["x"]), _number(place["z"])] for place in answer["actionReturn"]),
            }
            made = kitchen(scene, start, visited)       # checks that the recording can be read back
            for part, content in zip(FOLDERS, (start, visited), strict=True):
                _write(folder / part / f"{scene}.json", content)
            yield scene, len(made.things), len(made.cells)
    finally:
        client.close()


def start_state(scene: str, metadata: Metadata) -> dict[str, Any]:
    """A scene after its reset in compact form: vectors as lists, flags as the names of those that are true."""
    agent = metadata["agent"]
    return {
        "scene": scene,
        "agent_start": {
            "position": _vector(agent["position"]), "yaw": _number(agent["rotation"]["y"]),
            "horizon": _number(agent["cameraHorizon"]), "isStanding": agent.get("isStanding", True),
        },
        "cameraPosition": _vector(metadata["cameraPosition"]),
        "fov": metadata["fov"],
        "screen": [metadata["screenWidth"], metadata["screenHeight"]],
        "sceneBounds": {part: _vector(metadata["sceneBounds"][part]) for part in ("center", "size")},
        "objects": [_object(row) for row in metadata["objects"]],
        "source": "memento kitchen record",
    }


def _object(row: Mapping[str, Any]) -> dict[str, Any]:
    box, oriented = row["axisAlignedBoundingBox"], row["objectOrientedBoundingBox"]
    optional = {
        "obb": None if oriented is None else [[_number(v) for v in corner] for corner in oriented["cornerPoints"]],
        "parentReceptacles": row["parentReceptacles"], "receptacleObjectIds": row["receptacleObjectIds"],
        "salientMaterials": row["salientMaterials"], "controlledObjects": row["controlledObjects"],
        "openness": row["openness"],
    }
    return {
        **{name: row[name] for name in ("objectId", "name", "objectType", "assetId", "temperature")},
        "position": _vector(row["position"]), "rotation": _vector(row["rotation"]),
        "aabb": {part: _vector(box[part]) for part in ("center", "size")},
        "distance": _number(row["distance"]), "mass": _number(row["mass"]),
        "flags": [name for name, value in row.items() if value is True],
        **{name: value for name, value in optional.items() if value},
    }


def _vector(value: Mapping[str, float]) -> list[float]:
    return [_number(value[axis]) for axis in "xyz"]


def _number(value: float) -> float:
    return round(float(value), DECIMALS)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, json.dumps(content, separators=_COMPACT) + "\n")
