"""The story of an episode of a robosuite task, from recordings that are made up: no simulator."""

from dataclasses import replace

import numpy as np
import pytest
from memento.core.ports import MAX_ROWS, Story
from memento.core.recording import Recording
from memento.domains.robosuite import named
from memento.domains.robosuite.domain import RobosuiteDomain
from memento.runtime.rollouts.story_text import MAX_STORY, story_text

STEPS = 60


def recording(**states: object) -> Recording:
    rows = {name: np.asarray(values, dtype=np.float32) for name, values in states.items()}
    count = len(next(iter(rows.values())))
    return Recording(
        states={**rows, "reward": np.zeros(count), "success": np.zeros(count, dtype=bool)},
        actions={"actions": np.zeros((count - 1, 7))}, constants={"control_period_s": np.array(0.05)},
        info={"ended_by": "horizon"},
    )


def dropped() -> Recording:
    """A hand goes down to a cube, closes on it, lifts it by 10 cm, and lets it fall."""
    step = np.arange(STEPS + 1.0)
    height = 0.82 + np.interp(step, [0, 20, 30, 40, 60], [0.2, 0.0, 0.0, 0.1, 0.1])
    opening = np.interp(step, [0, 20, 23, 45, 48], [0.04, 0.04, 0.02, 0.02, 0.04])
    cube = 0.82 + np.interp(step, [0, 30, 40, 46, 50], [0.0, 0.0, 0.1, 0.1, 0.0])
    still, line = np.zeros(STEPS + 1), np.full(STEPS + 1, 0.1)
    return recording(
        robot0_eef_pos=np.stack([line, still, height], axis=1),
        robot0_gripper_qpos=np.stack([opening, -opening], axis=1),
        cubeA_pos=np.stack([line, still, cube], axis=1), cubeB_pos=np.stack([still, still, line + 0.725], axis=1),
    )


def story(task: str, of: Recording) -> Story:
    domain = named(task)
    assert isinstance(domain, RobosuiteDomain)
    return domain.story(of)


def test_phases_heights_and_what_left_the_fingers_are_told() -> None:
    found = story("Stack", dropped())
    assert [row[1].partition(",")[0] for row in found.rows] == [
        "away", "at cubeA", "holds cubeA", "carries cubeA", "away", "away",
    ]
    text = story_text(found)
    assert "cubeA was first held at step 24" in text and "cubeA rose by at most 10.0 cm, at step 40" in text
    assert "step 46: cubeA left the fingers 10.0 cm up" in text
    assert "in the end cubeA is 10.0 cm beside and -0.5 cm above cubeB" in text
    assert found.conditions["cubeA x y [m]"] == "0.100 0.000"


@pytest.mark.parametrize("steps", [0, 1, 2, 30, STEPS])
def test_every_beginning_has_a_short_story_that_says_nothing_of_success(steps: int) -> None:
    cut = dropped().cut(steps)
    found = story("Stack", cut)
    assert (found.rows[0][0], found.rows[-1][0]) == ("0", str(steps)) and len(found.rows) <= MAX_ROWS
    assert len(story_text(found)) < MAX_STORY
    states = {**cut.states, "success": ~cut.states["success"], "reward": cut.states["reward"] + 1}
    assert story("Stack", replace(cut, states=states, info={"ended_by": "success"})) == found


def test_a_door_has_its_angles_and_a_table_its_dirt() -> None:
    step = np.arange(11.0)
    hand = np.zeros((11, 3))
    door = story("Door", recording(
        robot0_eef_pos=hand, robot0_gripper_qpos=np.full((11, 2), 0.02), handle_pos=hand + 0.3,
        hinge_angle=0.02 * step[:, None], handle_angle=np.zeros((11, 1)),
    ))
    assert door.rows[-1][-2:] == ("0.20 rad", "0.00 rad")
    assert "hinge: at most 0.20 rad, at step 10" in door.notes and "the handle did not move" in door.notes
    wiped = (np.arange(100)[None, :] < 5 * step[:, None]).astype(float)
    table = story("Wipe", recording(robot0_eef_pos=hand, marker_pos=np.zeros((11, 300)), marker_wiped=wiped))
    assert table.rows[-1][-1] == "50 %" and table.notes == ("wiped in the end: 50 %, none after step 10",)


def test_each_of_two_arms_has_its_columns() -> None:
    hand, fingers = np.zeros((11, 3)), np.full((11, 2), 0.02)
    found = story("TwoArmLift", recording(
        robot0_eef_pos=hand, robot0_gripper_qpos=fingers, robot1_eef_pos=hand + 1, robot1_gripper_qpos=fingers,
        pot_pos=hand + 0.01,
    ))
    assert found.head[1] == "phase robot0" and found.head[4] == "phase robot1"
    assert [found.rows[-1][1], found.rows[-1][4]] == ["holds pot", "away, pot 171 cm"]
