"""The check of a cell finds what is wrong with it."""

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from memento.extensions.cell.cell_file import Cell
from memento.extensions.cell.checking import _containers, check
from memento.extensions.cell.grounding import Scenery
from memento.extensions.cell.hardware import Hardware
from memento.extensions.cell.ports import ArmState, Waypoint

from .conftest import Twin


@dataclass
class Sticking:
    """An arm that does not move."""

    arm: object
    real_time: bool = False

    def prepare(self, *, index: int, seed: int) -> None:
        self.arm.prepare(index=index, seed=seed)
        self.first = self.arm.state()

    def state(self) -> ArmState:
        return self.first

    def move(self, waypoint: Waypoint) -> None:
        self.arm.move(self.arm._here())

    def stop(self) -> None:
        self.arm.stop()


def found(cell: Cell, twin: Twin, arm: object) -> dict[str, tuple[bool, str]]:
    short = cell.model_copy(update={"grounding": cell.grounding.model_copy(update={"container_frames": 2})})
    hardware = Hardware(arm=arm, camera=twin[1], begin=twin[1].begin, close=lambda: None)
    return {finding.what: (finding.ok, finding.found) for finding in check(short, hardware)}


@pytest.mark.slow
def test_a_colour_that_nothing_has_and_an_arm_that_sticks_are_found(cell: Cell, twin: Twin) -> None:
    colours = dict(cell.segmenter.colours)
    colours["small"] = colours["small"].model_copy(update={"mean": (0.05, 0.05)})
    wrong = cell.model_copy(update={"segmenter": cell.segmenter.model_copy(update={"colours": colours})})
    findings = found(wrong, twin, Sticking(twin[0]))
    assert findings["cube small"] == (False, "not seen")
    assert findings["cube medium"][0] and findings["table"][0] and findings["containers"][0]
    ok, reach = findings["reach"]
    assert not ok and "above A" in reach
    assert not findings["limits"][0]


@pytest.mark.slow
def test_a_cube_of_another_size_is_found(cell: Cell, twin: Twin) -> None:
    sizes = cell.objects.model_copy(update={"half_edges_m": (0.030, 0.025, 0.028, 0.031)})
    findings = found(cell.model_copy(update={"objects": sizes}), twin, twin[0])
    assert not findings["cube small"][0]
    assert findings["cube medium"][0] and findings["reach"][0] and findings["limits"][0]


@pytest.mark.parametrize(("places", "ok", "words"), [
    (((0.0, -0.25), (0.0, 0.0), (0.0, 0.25)), True, "A at +0, +0 mm and 0 degrees from its place in training; B"),
    (((0.03, -0.3), (-0.1, 0.0), (0.0, 0.3)), True, "A at +30, -50 mm"),
    (((0.0, -0.45), (0.0, 0.0), (0.0, 0.25)), False, "-200 mm and 0 degrees from its place in training, out of"),
    (((0.0, -0.25), (0.0, 0.1), (0.0, 0.25)), False, "two holes are only 150 mm apart"),
])
def test_containers_may_lie_anywhere_within_reach_and_apart(
    cell: Cell, places: tuple[tuple[float, float], ...], ok: bool, words: str
) -> None:
    origins = np.array([[x, y, 0.8] for x, y in places])
    found = _containers(cell, Scenery(camera=cell.camera.stands, containers=origins, yaws_rad=np.zeros(3)))
    assert found.ok == ok and words in found.found


@pytest.mark.slow
def test_a_segmenter_that_fails_is_found(cell: Cell, twin: Twin) -> None:
    part = cell.segmenter.model_copy(update={"kind": "command", "command": (sys.executable, "-c", "")})
    findings = found(cell.model_copy(update={"segmenter": part}), twin, twin[0])
    assert list(findings) == ["camera", "segments"] and not findings["segments"][0]
    assert findings["segments"][1].startswith("the segmenter ")
