"""The rewards of goals: the paper's formulas, and the fast path equal to the vectorised one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.domains.envs import goals
from memento.domains.hanoi.task import tower

NEAR = st.lists(st.floats(-0.03, 0.03), min_size=12, max_size=12)
FAR = st.lists(st.floats(-2.0, 2.0), min_size=12, max_size=12)
TOWER = np.array(tower(4, (0.055, 0.25))).reshape(-1)


@given(offset=st.one_of(NEAR, FAR))
@pytest.mark.parametrize("kind", goals.REWARDS)
def test_one_goal_is_judged_as_many_are(kind: str, offset: list[float]) -> None:
    achieved = TOWER + np.array(offset)
    batch = np.stack([TOWER, achieved, achieved])
    many, reached = goals.reward_of(kind, batch, np.stack([TOWER] * 3)), goals.is_reached(batch, TOWER)
    assert many.shape == reached.shape == (3,)
    assert goals.judge(kind, achieved.tolist(), TOWER.tolist()) == (many[1], reached[1])
    assert goals.judge(kind, TOWER.tolist(), TOWER.tolist()) == (many[0], True)


def test_the_sparse_reward_is_0_within_the_tolerance_and_minus_1_outside() -> None:
    moved = TOWER.copy()
    moved[3] += 0.024
    assert goals.sparse(moved, TOWER) == 0.0
    moved[3] += 0.002
    assert goals.sparse(moved, TOWER) == -1.0


def test_the_dense_reward_is_minus_the_mean_distance_with_a_bonus_and_a_penalty_for_the_order() -> None:
    assert goals.dense(TOWER, TOWER) == 5.0
    aside = TOWER.copy()
    aside[9:12] += (0.3, 0.4, 0.0)      # the largest cube, 0.5 m away, still the lowest
    assert goals.dense(aside, TOWER) == pytest.approx(-0.5 / 4)
    swapped = TOWER.copy().reshape(4, 3)[[1, 0, 2, 3]].reshape(-1)
    apart = abs(TOWER[2] - TOWER[5])
    assert goals.dense(swapped, TOWER) == pytest.approx(-2 * apart / 4 - 1.0)
    level = TOWER.copy()
    level[2] = level[5]                 # the same height is not lower
    assert not goals.upright(level)
