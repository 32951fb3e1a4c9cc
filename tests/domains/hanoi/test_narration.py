"""The captions of a picture: the count of moves, the order of phases, and the result."""

import numpy as np
import pytest
from memento.core.recording import Recording
from memento.domains.hanoi.narration import Story

from ...support.rollouts import kinematic, play, solve


@pytest.fixture(scope="module")
def solved() -> Recording:
    env = kinematic(randomisation="light")
    assert solve(env, 3) == "success"
    return env.recording()


def test_a_solved_tower_is_fifteen_moves(solved: Recording) -> None:
    story = Story(solved)
    assert story.least_moves == 15
    assert len(story.moments) == solved.steps + 1
    counts = [moment.moves for moment in story.moments]
    assert counts == sorted(counts), "moves are never taken back"
    assert set(counts) <= set(range(16))
    assert story.lines(0) == ("move 1 of at least 15: reach", "not solved yet, 0 of 4 on C")
    assert story.lines(solved.steps) == ("done in 15 moves, of at least 15", "SOLVED, 4 of 4 on C")


def test_every_move_takes_the_cube_of_the_plan(solved: Recording) -> None:
    story = Story(solved)
    taken = []
    for moment in story.moments:
        held = (moment.moves, moment.cube)
        if moment.cube is not None and moment.phase != "grasp" and held not in taken[-1:]:
            taken.append(held)
    ruler = [(number & -number).bit_length() - 1 for number in range(1, 16)]    # 0 1 0 2 0 1 0 3 …
    assert [cube for _, cube in taken] == ruler
    assert [moves for moves, _ in taken] == list(range(15))


def test_a_move_begins_with_the_lift_and_ends_with_the_placing(solved: Recording) -> None:
    story = Story(solved)
    first = [moment.phase for moment in story.moments if moment.moves == 0]
    order = [phase for place, phase in enumerate(first) if place == 0 or first[place - 1] != phase]
    known = [phase for phase in order if phase != "reach"]
    assert known[0] == "grasp"
    assert known.index("lift") < known.index("carry") < known.index("place")


def test_an_arm_that_waves_moves_nothing() -> None:
    env = kinematic(randomisation="none")
    waving = play(env, 1, lambda *_: np.array([0.0, 1.0, 0.3, 0.0, 0.0, 0.0, 0.0]), 20)
    story = Story(waving)
    assert {(moment.moves, moment.phase, moment.cube) for moment in story.moments} == {(0, "reach", None)}


def test_the_result_is_shown_at_the_end_only(solved: Recording) -> None:
    cut = Recording(
        states={name: rows[:50] for name, rows in solved.states.items()},
        actions={name: rows[:49] for name, rows in solved.actions.items()},
        constants=solved.constants, info={**solved.info, "ended_by": "illegal"},
    )
    story = Story(cut)
    assert story.lines(48)[1].startswith("not solved yet")
    assert story.lines(49)[1].startswith("not solved: illegal")
