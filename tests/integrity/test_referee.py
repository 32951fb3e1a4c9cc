"""Attacks on the referee alone, with sequences of states that no arm need reach."""

from collections.abc import Iterator

import numpy as np
import pytest
from memento.domains.hanoi import task
from memento.domains.hanoi.referee import Referee

PERIOD_S = 0.05
HALF = task.cube_half_edges(4)
CONTAINERS = [[x, y, task.CONTAINER_Z_M] for x, y in task.CONTAINER_XY_M]
UPRIGHT = [[1.0, 0.0, 0.0, 0.0]] * 3
TOWER = task.tower(4, (0.055, -0.25))
AWAY = [-0.2, 0.0, 1.2]
STEP_M = 0.0009         # below the speed of rest, and
JERK_M = 0.0015         # above it, so that the cubes are found at rest again and again


def shown(states: Iterator[tuple[list[float], np.ndarray]], rules: str = "strict") -> Referee:
    """A referee that saw these hands and cubes, until it ended the episode."""
    referee = Referee(HALF, rules=rules, control_period_s=PERIOD_S)
    referee.reset(TOWER, CONTAINERS, UPRIGHT)
    for eef, cubes in states:
        if referee.look(eef, cubes.tolist()) is not None:
            break
    return referee


def ferry(passengers: int, held: int | None) -> Iterator[tuple[list[float], np.ndarray]]:
    """The upper cubes go to C together, slow enough to count as at rest, with the hand at one of them or away."""
    cubes = np.array(TOWER)
    down = cubes[passengers - 1, 2] - HALF[passengers - 1] - task.TABLE_HEIGHT_M
    for axis, way in ((2, 0.03), (1, 0.5), (2, -0.03 - down)):
        gone = step = 0
        while gone < abs(way):
            by = JERK_M if step % 11 == 10 else STEP_M
            gone, step = gone + by, step + 1
            cubes[:passengers, axis] += by if way > 0 else -by
            yield AWAY if held is None else cubes[held].tolist(), cubes
    for _ in range(60):
        yield AWAY, cubes


@pytest.mark.parametrize(("passengers", "held"), [(2, 1), (2, 0), (2, None), (3, 2), (4, 3), (4, None)])
def test_cubes_that_travel_together_and_slowly_are_found_out(passengers: int, held: int | None) -> None:
    referee = shown(ferry(passengers, held))
    assert not referee.success
    assert referee.broken_rule in ("order", "two-cubes", "parking")


def test_the_papers_rules_permit_it() -> None:
    assert shown(ferry(4, 3), rules="paper").success


@pytest.mark.parametrize("held", [0, None])
def test_one_cube_may_go_slowly(held: int | None) -> None:
    referee = shown(ferry(1, held))
    assert referee.broken_rule in (None, "parking"), "slow enough to be at rest is parked"


def swapped() -> Iterator[tuple[list[float], np.ndarray]]:
    for _ in range(60):
        yield AWAY, np.array(TOWER)


@pytest.mark.parametrize("rules", ["strict", "paper"])
def test_containers_that_change_places_are_no_success(rules: str) -> None:
    referee = Referee(HALF, rules=rules, control_period_s=PERIOD_S)
    referee.reset(TOWER, CONTAINERS, UPRIGHT)
    referee.containers_at([CONTAINERS[2], CONTAINERS[1], CONTAINERS[0]], UPRIGHT)
    ended = [referee.look(eef, cubes.tolist()) for eef, cubes in swapped()]
    assert "success" not in ended
    assert (referee.broken_rule == "container") == (rules == "strict")
