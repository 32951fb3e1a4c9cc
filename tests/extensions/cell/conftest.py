"""The shipped twin, opened once for all tests."""

from collections.abc import Iterator

import pytest
from memento.core.values import JSON
from memento.extensions.cell.cell_file import SHIPPED, Cell, read_cell
from memento.extensions.cell.twin import TwinArm
from memento.extensions.cell.twin_camera import TwinCamera

Twin = tuple[TwinArm, TwinCamera]

LIGHT: dict[str, JSON] = {        # a cell whose images cost little
    "segmenter": {"kind": "truth"}, "grounding": {"container_frames": 1},
    "camera": {"width": 160, "height": 120, "focal_px": 200.0, "every_steps": 4},
}


@pytest.fixture(scope="session")
def cell() -> Cell:
    return read_cell(SHIPPED / "twin.toml")


@pytest.fixture(scope="session")
def twin(cell: Cell) -> Iterator[Twin]:
    arm = TwinArm(cell)
    yield arm, TwinCamera(cell, arm)
    arm.close()
