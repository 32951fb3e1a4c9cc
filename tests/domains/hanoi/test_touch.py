"""What the texts say about fingers, grasps, turns and pushes agrees with the simulation."""

import re
from collections.abc import Iterator

import pytest
from memento.domains import load
from memento.domains.hanoi import touch

from ...benchmarks import touch as measured

SMALLEST_M = 0.022


@pytest.fixture(scope="module")
def rig() -> Iterator[measured.Rig]:
    rig = measured.Rig()
    yield rig
    rig.close()


@pytest.mark.slow
def test_fingers_and_grip_are_the_models(rig: measured.Rig) -> None:
    sizes = measured.finger_sizes(rig.again())
    assert sizes == pytest.approx({
        "pad_width_m": touch.PAD_EDGE_M, "pad_height_m": touch.PAD_EDGE_M,
        "pad_above_eef_m": touch.PAD_ABOVE_EEF_M,
        "finger_width_m": touch.FINGER_WIDTH_M, "finger_thickness_m": touch.FINGER_THICKNESS_M,
        "grip_n": touch.GRIP_N,
    }, rel=0.05)


@pytest.mark.slow
def test_the_opening_depends_on_the_strength() -> None:
    assert measured.open_fingers(0.85) == pytest.approx(touch.OPEN_M[0.85], abs=0.0006)


@pytest.mark.slow
def test_a_squeeze_moves_a_cube_to_the_middle(rig: measured.Rig) -> None:
    found = measured.squeeze(rig, -0.012)
    assert abs(found["off_m"]) < touch.CENTRED_M
    assert found["half_width_m"] == pytest.approx(SMALLEST_M, abs=0.0002)
    assert found["lifted_m"] > 0.06


@pytest.mark.slow
def test_turns_pushes_and_containers(rig: measured.Rig) -> None:
    *turns, once = measured.turning(rig)
    assert (turns[0], turns[-1], once) == pytest.approx(
        (touch.TURN_FIRST_RAD, touch.TURN_STEADY_RAD, touch.TURN_ONCE_RAD), rel=0.05
    )
    low, high = touch.PUSH_SLIDES_M
    assert low < measured.pushed_cube(rig) < high
    assert measured.pushed_container(rig) > 0.05


@pytest.mark.slow
def test_a_model_reads_these_figures() -> None:
    domain = load("hanoi")
    for goal, turning in (("achieved", touch.TURNING_ACHIEVED), ("desired", touch.TURNING_DESIRED)):
        brief = domain.brief(domain.options({"randomisation": "hard", "goal_update": goal}, preset="paper"))
        assert touch.TOUCH in brief.policy_interface
        assert turning.strip() in brief.policy_interface
        assert "A push changes the cube's speed by 0.1 m/s" in brief.uncertainties
        assert not re.search(r"\$\w|\{\w*\}", brief.policy_interface + brief.uncertainties)
