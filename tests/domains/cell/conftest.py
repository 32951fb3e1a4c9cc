"""The shipped twin, opened once for all tests."""

from collections.abc import Iterator

import pytest
from memento.domains.cell.cell_file import SHIPPED, Cell, read_cell
from memento.domains.cell.twin import TwinArm, TwinCamera

Twin = tuple[TwinArm, TwinCamera]


@pytest.fixture(scope="session")
def cell() -> Cell:
    return read_cell(SHIPPED / "twin.toml")


@pytest.fixture(scope="session")
def twin(cell: Cell) -> Iterator[Twin]:
    arm = TwinArm(cell)
    yield arm, TwinCamera(cell, arm)
    arm.close()
