"""The player from the client's side: the unmodified ai2thor Controller over both of its servers."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ...support.processes import start_process
from .kitchens import needs_recordings
from .players import alive, build

EVENT = """
    objects isSceneAtRest agent heldObjectPose arm fov cameraPosition cameraOrthSize thirdPartyCameras collided
    collidedObjects inventoryObjects sceneName lastAction errorMessage errorCode lastActionSuccess screenWidth
    screenHeight agentId depthFormat colors flatSurfacesOnGrid distances normals isOpenableGrid
    segmentedObjectIds objectIdsInBox actionIntReturn actionFloatReturn actionStringsReturn actionFloatsReturn
    actionVector3sReturn visibleRange currentTime sceneBounds actionReturn
"""
OBJECT = """
    name position rotation visible isInteractable receptacle toggleable isToggled breakable isBroken
    canFillWithLiquid isFilledWithLiquid fillLiquid dirtyable isDirty canBeUsedUp isUsedUp cookable isCooked
    temperature isHeatSource isColdSource sliceable isSliced openable isOpen openness pickupable isPickedUp
    moveable mass salientMaterials receptacleObjectIds distance objectType objectId assetId parentReceptacles
    controlledObjects isMoving axisAlignedBoundingBox objectOrientedBoundingBox
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


def controller(program: Path, server: str, **given: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # the client's sources have invalid escapes
        from ai2thor.controller import Controller
        from ai2thor.fifo_server import FifoServer
        from ai2thor.wsgi_server import WsgiServer
    return Controller(
        local_executable_path=str(program), x_display=":0", server_timeout=20.0, server_start_timeout=30.0,
        server_class={"FIFO": FifoServer, "WSGI": WsgiServer}[server], **given,
    )


@pytest.fixture(params=["FIFO", pytest.param("WSGI", marks=pytest.mark.nightly)])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)    # the client leaves its log open
        made = controller(build(tmp_path), request.param, scene="Kitchen1", width=450, height=300)
        yield made
        made.stop()


def first(client: Any, kind: str) -> Any:
    return next(row for row in client.last_event.metadata["objects"] if row["objectType"] == kind)


@pytest.mark.slow
def test_the_metadata_has_ai2thors_keys(client: Any) -> None:
    metadata = client.last_event.metadata
    assert {*metadata} == {*EVENT.split()} and len(metadata) == 37
    assert all({*row} == {*OBJECT.split()} and len(row) == 42 for row in metadata["objects"])
    assert metadata["sceneName"] == "Kitchen1" and metadata["lastAction"] == "Initialize"
    assert (metadata["screenWidth"], metadata["screenHeight"], metadata["fov"]) == (450, 300, 90.0)
    assert (client.server.camera_near_plane, client.server.camera_far_plane) == (0.1, 20.0)
    assert "Kitchen29" in client.scenes_in_build
    assert client.last_event.frame is None, "the player renders no images"
    assert client.last_event.pose_discrete[3] == 0


@pytest.mark.slow
def test_actions_work_or_fail_as_in_ai2thor(client: Any) -> None:
    turned = client.step("RotateRight")
    assert turned.metadata["lastActionSuccess"] and turned.metadata["errorMessage"] == ""
    places = client.step("GetReachablePositions").metadata["actionReturn"]
    assert len(places) >= 30
    there = places[len(places) // 2]
    event = client.step("Teleport", position=there, rotation=180, horizon=30, standing=True)
    assert event.metadata["agent"]["position"] == there
    assert event.metadata["agent"]["rotation"]["y"] == 180.0 and event.metadata["agent"]["cameraHorizon"] == 30.0
    event = client.step("PickupObject", objectId="Apple|+99.00|+99.00|+99.00")
    assert not event and "is not the objectId on any object" in event.metadata["errorMessage"]
    assert not client.step("PutObject", objectId=first(client, "Fridge")["objectId"])
    assert not client.step("Teleport", position={"x": 50.0, "y": 0.9, "z": 50.0})
    moved = client.step("MoveBack")
    assert moved.metadata["lastActionSuccess"] or "is blocking Agent 0" in moved.metadata["errorMessage"]


@pytest.mark.slow
@pytest.mark.parametrize(("action", "given", "words"), [
    ("Fly", {}, "Fly"), ("PickupObject", {}, "objectId"), ("MoveAhead", {"moveMagnitude": 0.1}, "0.25"),
    ("RotateLeft", {"degrees": 45}, "90"), ("OpenObject", {"objectId": "x", "forceAction": True}, "forceAction"),
    ("Teleport", {"rotation": 45}, "90"), ("Initialize", {"gridSize": 0.5}, "0.25"),
])
def test_what_the_player_does_not_have_is_refused_in_ai2thors_way(
    client: Any, action: str, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        client.step(action, **given)
    assert client.step("Pass"), "the player continues"


@pytest.mark.slow
def test_a_reset_starts_afresh_and_a_lens_changes_what_is_seen(client: Any) -> None:
    wide = [row["objectId"] for row in client.last_event.metadata["objects"] if row["visible"]]
    client.step("RotateRight")
    event = client.reset("Kitchen2", visibilityDistance=0.4)
    assert event.metadata["sceneName"] == "Kitchen2"
    event = client.reset("Kitchen1", visibilityDistance=0.4)
    near = [row["objectId"] for row in event.metadata["objects"] if row["visible"]]
    assert {*near} < {*wide}
    assert event.metadata["agent"]["rotation"]["y"] != client.step("RotateRight").metadata["agent"]["rotation"]["y"]


def test_stop_ends_the_player(client: Any) -> None:
    pid = client.unity_pid
    assert alive(pid)
    client.stop()
    assert not alive(pid)


@pytest.mark.slow
def test_a_player_ends_when_its_client_is_gone(tmp_path: Path) -> None:
    """A killed client cannot close the connection."""
    code = (
        "import sys, time, warnings\nwarnings.simplefilter('ignore')\n"
        "from ai2thor.controller import Controller\n"
        f"made = Controller(local_executable_path={str(build(tmp_path))!r}, x_display=':0', scene='Kitchen1')\n"
        "print(made.unity_pid, flush=True)\ntime.sleep(600)"
    )
    client = start_process([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert client.stdout is not None
    pid = int(client.stdout.readline())
    client.kill()
    client.wait(10)
    until = time.monotonic() + 20.0
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


@pytest.mark.slow
def test_a_player_ends_when_its_client_died_before_it_opened_its_pipe(tmp_path: Path) -> None:
    pipes = {f"AI2THOR_FIFO_{who}_PIPE_PATH": str(tmp_path / who) for who in ("SERVER", "CLIENT")}
    for path in pipes.values():
        os.mkfifo(path)
    client = start_process(
        ["sh", "-c", f"'{build(tmp_path)}' & echo $!; exec sleep 600"], stdout=subprocess.PIPE,
        env={**os.environ, **pipes, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert client.stdout is not None
    pid = int(client.stdout.readline())
    until = time.monotonic() + 60.0
    while len([*Path(f"/proc/{pid}/task").iterdir()]) < 2 and time.monotonic() < until:  # with the one that watches
        time.sleep(0.05)
    assert alive(pid)
    client.kill()
    client.wait(10)
    until = time.monotonic() + 20.0
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)


@pytest.mark.slow
def test_a_player_without_a_client_explains_how_to_start_it() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AI2THOR_")}
    done = subprocess.run(
        [sys.executable, "-m", "memento.domains.kitchen.player"], env=environment, capture_output=True, text=True,
        timeout=150,
    )
    assert done.returncode == 2 and "start the player through the ai2thor client" in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "memento.domains.kitchen.player", "--recordings", "/nowhere"], env=environment,
        capture_output=True, text=True, timeout=150,
    )
    assert done.returncode == 2 and "no recorded kitchens" in done.stderr


@pytest.mark.slow
@needs_recordings
def test_recorded_scenes_have_ai2thors_names(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        made = controller(build(tmp_path, recorded=True), "FIFO")
        try:
            assert made.last_event.metadata["sceneName"] == "FloorPlan10_physics", "the first in the client's order"
            made.reset("FloorPlan2")
            apple, fridge = (first(made, kind) for kind in ("Apple", "Fridge"))
            assert apple["parentReceptacles"] == [fridge["objectId"]]
            assert apple["objectId"] in fridge["receptacleObjectIds"] and apple["temperature"] == "Cold"
            with pytest.raises(ValueError, match="not contained in build"):
                made.reset("FloorPlan201")
        finally:
            made.stop()
