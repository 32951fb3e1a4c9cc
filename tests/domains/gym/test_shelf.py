"""The shelf of any environment: what moves is found in the documentation, and every part fits every kind of space."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from memento.agents.contract_check import check
from memento.core.programs.constants import tunable_constants
from memento.core.values import Program
from memento.domains.gym.description import Description
from memento.domains.gym.domain import GymDomain
from memento.domains.gym.shelf import shelf, tuning_episodes
from memento.domains.gym.shelf.signals import joints_of, moving_in
from memento.domains.gym.spaces import Leaf
from memento.models.offline.edits import Workshop

WALKER = """
| Num | Action | Min | Max | Name (in the file) | Joint | Type |
|---|---|---|---|---|---|---|
| 0 | Torque on the left hip | -1 | 1 | left_hip | hinge | torque (N m) |
| 1 | Torque on the right hip | -1 | 1 | right_hip | hinge | torque (N m) |

| Num | Observation | Min | Max | Name (in the file) | Joint | Type |
|---|---|---|---|---|---|---|
| 0 | height of the torso | -Inf | Inf | root | slide | position (m) |
| 1 | angle of the right hip | -Inf | Inf | right_hip | hinge | angle (rad) |
| 2 | angle of the left hip | -Inf | Inf | left_hip | hinge | angle (rad) |
| 3 | angular velocity of the left hip | -Inf | Inf | left_hip | hinge | angular velocity (rad/s) |
| 4 | angular velocity of the right hip | -Inf | Inf | right_hip | hinge | angular velocity (rad/s) |
| 5 | velocity of the torso | -Inf | Inf | root | slide | velocity (m/s) |
"""
SWING = """
| Num | Observation | Min | Max |
|---|---|---|---|
| 0 | x = cos(theta) | -1.0 | 1.0 |
| 1 | y = sin(theta) | -1.0 | 1.0 |
| 2 | Angular Velocity | -8.0 | 8.0 |
"""


def box(name: str, size: int, low: float = -np.inf, high: float = np.inf) -> Leaf:
    return Leaf(name=name, path=(name,), kind="box", shape=(size,), dtype="float64", low=(low,), high=(high,))


def choice(name: str, count: int, start: int = 0) -> Leaf:
    return Leaf(name=name, path=(), kind="discrete", shape=(1,), dtype="int64", low=(start,), high=(start + count - 1,))


def described(observation: tuple[Leaf, ...], action: tuple[Leaf, ...], **more: Any) -> Description:
    blank = Description(
        id="Any-v0", kwargs={}, horizon=50, observation=observation, action=action, documentation="", step_s=None,
        threshold=None, info=(), success_key=None, goal=False, mode="kept", repeatable=True, random_mean=0.0,
        random_std=1.0, random_episodes=4, seen={}, draws=False, needs_opengl=False, versions={},
    )
    return replace(blank, **more)


GOALS = (box("observation", 4), box("achieved_goal", 3), box("desired_goal", 3))
TEXT = Leaf(name="mission", path=("mission",), kind="text", shape=(), dtype="str", low=(), high=())
KINDS = {
    "one number": described((box("observation", 3),), (box("action", 1, -2.0, 2.0),), documentation=SWING),
    "walker": described((box("observation", 6),), (box("action", 2, -1.0, 1.0),), documentation=WALKER, step_s=0.02),
    "many numbers": described((box("observation", 300),), (box("action", 40, 0.0, 1.0),)),
    "choice": described((box("observation", 4),), (choice("action", 3, start=-1),)),
    "states": described((choice("observation", 5, start=2),), (choice("action", 4),)),
    "choices": described((box("observation", 2),), (choice("left", 3), choice("right", 2))),
    "mixed": described((box("observation", 2),), (choice("action_0", 3), box("action_1", 2, -1.0, 2.0))),
    "goal": described(GOALS, (box("action", 4, -1.0, 1.0),), goal=True),
    "goal by a choice": described(GOALS, (choice("action", 4),), goal=True),
    "flat goal": described(GOALS, (box("action", 2, -1.0, 1.0),), goal=True),
    "texts": described((TEXT,), (choice("action", 2),)),
    "unbounded": described((box("observation", 1),), (box("action", 1),)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_alternative_acts_within_the_bounds(kind: str) -> None:
    known = KINDS[kind]
    workshop = Workshop(shelf(known))
    source = workshop.read(workshop.shelf.initial.text)
    edits = [edit for _, options in workshop.swaps(source) for edit in options]
    assert len(edits) >= 5 and len({edit.summary for edit in edits}) == len(edits)
    for text in (source.text, *(source.edited((edit,), edit.summary) for edit in edits)):
        assert check(Program(text), GymDomain(environment_id="Any-v0").contract) is None
        for action in acted(text, known):
            for number, (low, high, whole) in zip(action, bounds_of(known), strict=True):
                assert low <= number <= high and (not whole or number == round(number)), text


def acted(text: str, known: Description) -> list[list[float]]:
    """The actions of two short episodes of random observations."""
    space: dict[str, Any] = {}
    exec(text, space)
    policy, rng, actions = space["Policy"](), np.random.default_rng(5), []
    for step in range(24):
        if step in (0, 12):
            policy.reset()
        seen = {leaf.name: drawn(leaf, rng) for leaf in known.observation}
        actions.append(policy.compute_action(seen))
    return actions


def drawn(leaf: Leaf, rng: np.random.Generator) -> Any:
    if leaf.kind == "text":
        return "go"
    return rng.integers(int(leaf.low[0]), int(leaf.high[0]) + 1, leaf.size).astype(float) if leaf.whole else (
        rng.normal(size=leaf.shape))


def bounds_of(known: Description) -> list[tuple[float, float, bool]]:
    return [(leaf.low[0], leaf.high[0], leaf.whole) for leaf in known.action for _ in range(leaf.size)]


@pytest.mark.parametrize("kind", KINDS)
def test_tuning_changes_constants_of_parts_and_no_facts_of_the_task(kind: str) -> None:
    made = shelf(KINDS[kind])
    parts = {part.name for part in made.parts if part.kind == "constant"}
    assert {each.name for each in tunable_constants(made.initial)} <= parts


JOINTS = "hip", "knee", "shoulder", "elbow"
BODY = (
    "| Num | Action | Min | Max | Name (in the file) | Joint | Type |\n|---|---|---|---|---|---|---|\n"
    + "".join(f"| {at} | Torque on the {name} | -1 | 1 | {name} | hinge | torque |\n" for at, name in enumerate(JOINTS))
    + "\n| Num | Observation | Min | Max | Name (in the file) | Joint | Type |\n|---|---|---|---|---|---|---|\n"
    + "".join(
        f"| {at} | angle of the {name} | -Inf | Inf | {name} | hinge | angle |\n" for at, name in enumerate(JOINTS)
    )
)


@pytest.mark.parametrize("action, documentation, followed", [
    (4, BODY, True), (2, WALKER, False), (40, "", False), (4, "", True),
])
def test_a_body_with_many_joints_begins_with_a_gait(action: int, documentation: str, followed: bool) -> None:
    known = described((box("observation", 6),), (box("action", action, -1.0, 1.0),), documentation=documentation)
    made = shelf(known)
    assert ("Every joint follows" in made.initial.text) is followed
    tuned = {each.name for each in tunable_constants(made.initial)}
    assert any(name.startswith("PHASE_") for name in tuned) is followed
    assert tuning_episodes(known) == 240


@pytest.mark.parametrize("kind, expected", [
    ("walker", True), ("mixed", True), ("one number", False), ("choice", False), ("states", False), ("goal", False),
    ("texts", False),
])
def test_rhythms_need_tuning(kind: str, expected: bool) -> None:
    assert (tuning_episodes(KINDS[kind]) > 0) is expected
    assert not tuning_episodes(described((box("picture", 5000),), (box("action", 3),)))


def test_places_and_speeds_are_paired_by_their_names() -> None:
    moving = moving_in(KINDS["walker"])
    assert [(each.name, each.place, each.speed) for each in moving] == [
        ("root", 0, 5), ("right_hip", 1, 4), ("left_hip", 2, 3),
    ]
    assert joints_of(KINDS["walker"], moving, 2) == (2, 1), "the names decide, not the order"


def test_a_cosine_and_a_sine_are_an_angle() -> None:
    (angle,) = moving_in(KINDS["one number"])
    assert (angle.place, angle.sine, angle.speed) == (0, 1, 2)


def test_without_documentation_everything_is_a_place_whose_speed_is_a_difference() -> None:
    moving = moving_in(KINDS["many numbers"])
    assert len(moving) == 24 and all(each.speed is None for each in moving)


def test_goals_are_no_part_of_what_moves() -> None:
    assert [each.place for each in moving_in(KINDS["goal"])] == [0, 1, 2, 3]


def test_the_rate_of_a_gait_fits_the_usual_places_and_speeds_of_its_joints() -> None:
    rows = BODY + "".join(
        f"| {at + 4} | angular velocity of the {name} | -Inf | Inf | {name} | hinge | angular velocity |\n"
        for at, name in enumerate(JOINTS)
    )
    usual = ((-0.5,) * 4 + (-2.0 * np.pi,) * 4, (0.5,) * 4 + (2.0 * np.pi,) * 4)
    known = described(
        (box("observation", 8),), (box("action", 4, -1.0, 1.0),), documentation=rows, step_s=0.05,
        seen={"observation": usual},
    )
    rates = next(part for part in shelf(known).parts if part.name == "RATE_HZ")
    assert (float(rates.alternatives[0]), rates.low, rates.high) == pytest.approx((2.0, 4 / 3, 3.0), rel=0.01)
    assert all(rates.low <= float(rate) <= rates.high for rate in rates.alternatives)
    fast = next(part for part in shelf(replace(known, step_s=0.2)).parts if part.name == "RATE_HZ")
    assert (float(fast.alternatives[0]), fast.high) == (1.67, 2.5), "a cycle has at least two steps"
