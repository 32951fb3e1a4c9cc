"""Recordings made through the client give the same kitchens back."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from memento.core.errors import RolloutError
from memento.domains.kitchen import DOMAIN, recorded
from memento.domains.kitchen import procedural as generated
from memento.domains.kitchen.embedded.planner import plan
from memento.domains.kitchen.scene import Kitchen, reachable
from memento.domains.kitchen.unity.client import Deadlines
from memento.domains.kitchen.unity.record import record

from .kitchens import RECORDINGS, needs_recordings
from .players import bad_build, build


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


def assert_same(one: Kitchen, other: Kitchen) -> None:
    """Compare all but walls and bare shelves, which recordings lack, and parents that are not receptacles."""
    assert (one.name, one.start, one.agent_y_m) == (other.name, other.start, other.agent_y_m)
    assert one.cells == reachable(other.cells, other.start.cell)
    for first, second in zip(one.things, other.things, strict=True):
        for name in ("object_id", "name", "object_type", "flags"):
            assert getattr(first, name) == getattr(second, name), (name, first, second)
        for name in ("position", "centre", "size", *["extent"] * ("pickupable" in first.flags)):
            assert np.allclose(getattr(first, name), getattr(second, name), atol=2e-3), (name, first, second)
        assert {*first.parents} <= {*second.parents}
        assert abs((first.yaw_deg - second.yaw_deg + 180.0) % 360.0 - 180.0) < 0.01


@pytest.mark.slow
def test_a_generated_kitchen_is_recorded_and_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    made = [*record(build(tmp_path), ["Kitchen1", "Kitchen2"], folder)]
    assert [scene for scene, _, _ in made] == ["Kitchen1", "Kitchen2"]
    for scene, things, cells in made:
        again = recorded.load(folder, scene)
        assert (len(again.things), len(again.cells)) == (things, cells)
        assert_same(again, generated.load(scene))
        assert plan(again) is not None
    options = DOMAIN.options(
        {"backend": "recorded", "recordings": str(folder), "scenes": ["Kitchen2"]}, preset="paper"
    )
    env = DOMAIN.environment(options)
    env.reset(index=0, seed=0)
    assert env.recording().info["scene"] == "Kitchen2"


@pytest.mark.slow
@needs_recordings
def test_a_recorded_kitchen_is_recorded_and_read_back(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    for scene, _, _ in record(build(tmp_path, recorded=True), ["FloorPlan2", "FloorPlan20"], folder):
        assert_same(recorded.load(folder, scene), recorded.load(RECORDINGS, scene))


def test_a_failing_player_leaves_no_partial_file(tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    with pytest.raises(RolloutError):
        next(record(bad_build(tmp_path, "sys.exit(1)"), ["Kitchen1"], folder, deadlines=Deadlines(start_s=5.0)))
    assert not folder.exists()


@pytest.mark.slow
def test_the_command_records_and_explains_how_to_play(tmp_path: Path) -> None:
    program, folder = build(tmp_path), tmp_path / "recordings"
    command = [sys.executable, "-m", "memento", "kitchen", "record", "Kitchen3", "--out", str(folder)]
    done = subprocess.run(
        [*command, "--unity-build", str(program)], capture_output=True, text=True, timeout=150, check=True
    )
    assert done.stdout.startswith("Kitchen3: ") and "kitchen.backend=recorded" in done.stderr
    assert recorded.scene_names(folder) == ("Kitchen3",)
    missing = subprocess.run(command, capture_output=True, text=True, timeout=150)
    assert missing.returncode == 2 and missing.stderr.startswith("memento: no Unity build of AI2-THOR is in")
    assert "Traceback" not in missing.stderr and "download_only=True" in missing.stderr
    unwritable = subprocess.run(
        [*command[:-1], "/proc/nowhere", "--unity-build", str(program)], capture_output=True, text=True, timeout=150
    )
    assert unwritable.returncode == 3 and "cannot be written to /proc/nowhere" in unwritable.stderr
    assert "Traceback" not in unwritable.stderr
