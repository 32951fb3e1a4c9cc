"""The environment: observation fields, valid, failing and malformed actions, endings, recordings."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.domains.kitchen.embedded.planner import plan
from memento.domains.kitchen.embedded.simulator import Embedded
from memento.domains.kitchen.environment import KitchenEnvironment, parse_action
from memento.domains.kitchen.observation import ACTIONS, OBJECT_ACTIONS, PREDICATES
from memento.domains.kitchen.rules import ErrorCategory
from memento.domains.kitchen.scene import Stance

from .kitchens import environment, kitchen, thing

SUMMARY = {
    "objectType", "objectId", "name", "visible", "distance", "pickupable", "openable", "isOpen", "receptacle",
    "toggleable", "isToggled", "isPickedUp", "parentReceptacles",
}
FACING = Stance(cell=(0, 2), yaw=0, horizon_deg=30)


def facing(**given: Any) -> KitchenEnvironment:
    env = environment(kitchen(start=FACING), **given)
    env.reset(index=0, seed=0)
    return env


def observed(env: KitchenEnvironment) -> dict[str, Any]:
    """The observation as the policy receives it."""
    value: dict[str, Any] = json.loads(env.observe_encoded())
    assert [*value.items()] == [*json.loads(json.dumps(env.observe(), allow_nan=False)).items()]
    return value


def the(env: KitchenEnvironment, kind: str) -> str:
    return next(seen["objectId"] for seen in observed(env)["visible_objects"] if seen["objectType"] == kind)


def test_an_observation_has_the_papers_fields() -> None:
    obs = observed(facing())
    assert [*obs] == [
        "task", "task_description", "scene", "scene_is_fixed", "agent", "inventory", "targets", "visible_objects",
        "task_progress", "available_actions", "action_space", "last_action_result", "step_count", "max_steps",
    ]
    assert obs["task"] == "apple_in_microwave_on_bread_in_fridge"
    assert obs["agent"] == {
        "position": {"x": 0.0, "y": 0.9, "z": 0.5}, "rotation": {"x": 0.0, "y": 0.0, "z": 0.0}, "cameraHorizon": 30.0,
    }
    assert obs["inventory"] == {"holding": None, "holding_object_id": None}
    assert [*obs["task_progress"]] == [*PREDICATES]
    assert obs["available_actions"] == [*ACTIONS] and len(ACTIONS) == 12
    assert [*obs["action_space"]] == [*OBJECT_ACTIONS]
    assert {*obs["last_action_result"]} == {"action", "object_id", "success", "error_category", "error_message"}
    assert (obs["step_count"], obs["max_steps"]) == (0, 250)
    assert all({*seen} == SUMMARY for seen in obs["visible_objects"])


def test_ids_of_targets_are_known_once_seen_and_not_before() -> None:
    env = environment(kitchen(start=Stance(cell=(0, 0), yaw=2, horizon_deg=0)))
    env.reset(index=0, seed=0)
    hidden = observed(env)["targets"]
    assert hidden["apple_exists_in_scene"] and hidden["apple_object_id"] is None and not hidden["apple_visible"]
    for _ in range(2):
        env.step(["rotate_right", None])
    seen = observed(env)["targets"]
    assert seen["apple_visible"] and seen["apple_object_id"].startswith("Apple|")
    env.step(["rotate_right", None])
    env.step(["rotate_right", None])
    kept = observed(env)["targets"]
    assert not kept["apple_visible"] and kept["apple_object_id"] == seen["apple_object_id"]
    env.reset(index=0, seed=0)
    assert observed(env)["targets"]["apple_object_id"] is None, "a new episode"


def test_ids_can_be_revealed_for_an_ablation() -> None:
    env = environment(kitchen(start=Stance(cell=(0, 0), yaw=2, horizon_deg=0)), reveal_unseen=True)
    env.reset(index=0, seed=0)
    assert all(observed(env)["targets"][f"{word}_object_id"] for word in ("apple", "bread", "microwave", "fridge"))


def test_valid_actions_follow_the_state() -> None:
    env = facing()
    apple, microwave = the(env, "Apple"), the(env, "Microwave")
    space = observed(env)["action_space"]
    assert apple in space["pickup_object"] and microwave in space["open_object"] and microwave in space["toggle_on"]
    assert space["put_object"] == [] and space["close_object"] == [] and space["toggle_off"] == []
    env.step(["pickup_object", apple])
    space = observed(env)["action_space"]
    assert space["pickup_object"] == [] and microwave not in space["put_object"]
    assert the(env, "CounterTop") in space["put_object"]
    env.step(["open_object", microwave])
    space = observed(env)["action_space"]
    assert microwave in space["put_object"] and microwave in space["close_object"]
    assert microwave not in space["toggle_on"] and microwave not in space["open_object"]
    for _ in range(2):
        env.step(["rotate_left", None])
    assert not any({apple, microwave} & {*ids} for ids in observed(env)["action_space"].values())


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
def test_a_valid_action_fails_only_for_want_of_room_and_an_invalid_one_always(choices: list[int]) -> None:
    """After any actions: those outside the action space fail, those in it fail only because of geometry."""
    env = facing()
    ids = [each.object_id for each in kitchen().things]
    for choice in choices:
        obs = observed(env)
        offers: list[list[Any]] = [[name, one] for name in OBJECT_ACTIONS for one in ids]
        offers += [[name, None] for name in ACTIONS[:5]] * 6
        name, one = offers[choice % len(offers)]
        env.step([name, one])
        result = observed(env)["last_action_result"]
        if one is None:
            continue
        if one not in obs["action_space"][name]:
            assert not result["success"] and result["error_category"]
        elif not result["success"]:
            assert result["error_category"] in ("collision", "failed")


def test_put_object_sets_the_receptacle() -> None:
    env = facing()
    env.step(["pickup_object", the(env, "Apple")])
    counter = the(env, "CounterTop")
    env.step(["put_object", counter])
    result = observed(env)["last_action_result"]
    assert (result["action"], result["object_id"], result["success"]) == ("put_object", counter, True)


@pytest.mark.parametrize(("action", "category"), [
    (["pickup_object", "Apple|+09.00|+09.00|+09.00"], "not_visible"),
    (["pickup_object", "rubbish"], "not_visible"),
    (["pickup_object", None], "exception"),
    (["move_ahead", "Apple|-00.30|+00.98|+00.95"], "exception"),
    (["toggle_on", "Apple|-00.30|+00.98|+00.95"], "precondition"),
    (["open_object", "Fridge|+01.60|+00.90|-00.25"], "not_visible"),
    (["move_ahead", None], "blocked"),
])
def test_an_action_that_is_not_valid_costs_a_step_and_ends_nothing(action: list[Any], category: str) -> None:
    env = facing()
    assert env.step(action) is None
    obs = observed(env)
    assert not obs["last_action_result"]["success"]
    assert obs["last_action_result"]["error_category"] == category
    assert obs["last_action_result"]["error_message"]
    assert obs["step_count"] == 1
    recorded = env.recording()
    assert not recorded.actions["action_success"][0]
    assert recorded.actions["error_category"][0] == ErrorCategory[category.upper()]


@pytest.mark.parametrize("action", [
    [], ["move_ahead"], ["move_ahead", None, None], [1, None], ["pickup_object", 3], ["pickup_object", ["x"]],
    [None, None], ["fly", None], "move_ahead", {"action": "move_ahead"},
])
def test_a_malformed_action_is_refused(action: Any) -> None:
    env = facing()
    with pytest.raises(ValueError, match=r"action|object id"):
        env.step(action)


def test_a_misspelt_action_is_reported_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean move_ahead"):
        parse_action(["move_ahed", None])


def test_endings() -> None:
    env = facing(horizon=3)
    assert [env.step(["rotate_right", None]) for _ in range(3)] == [None, None, "horizon"]
    env = facing()
    assert env.step(["done", None]) == "done" and not env.success()
    env = facing()
    steps = plan(kitchen(start=FACING))
    assert steps is not None
    ends = [env.step([*step]) for step in steps]
    assert ends[-1] == "success" and ends[:-1] == [None] * (len(ends) - 1)
    assert env.success()
    assert observed(env)["task_progress"]["success"]


def test_success_needs_all_three_at_once() -> None:
    steps = plan(kitchen(start=FACING))
    assert steps is not None
    env = facing()
    for step in steps[:-1]:
        env.step([*step])
    assert observed(env)["task_progress"]["apple_in_microwave"] and observed(env)["task_progress"]["microwave_on"]
    assert not env.success()


def test_the_first_episodes_begin_at_the_scenes_own_start_and_later_ones_elsewhere() -> None:
    env = environment(kitchen(start=FACING))
    starts = []
    for index, seed in ((0, 1), (0, 2), (1, 1), (1, 1), (1, 2), (5, 3)):
        env.reset(index=index, seed=seed)
        starts.append(env.recording().info["start"])
    start = {"cell": [0, 2], "yaw_deg": 0, "horizon_deg": 30}
    assert starts[:2] == [start, start]
    assert starts[2] == starts[3] and len({json.dumps(start) for start in starts[2:]}) == 3


def test_scenes_take_turns() -> None:
    class Loads:
        def __init__(self) -> None:
            self.requested: list[str] = []

        def __call__(self, name: str) -> Any:
            self.requested.append(name)
            return kitchen(thing("Book", (0.0, 0.95, 0.95), (0.2, 0.04, 0.25)))

    load = Loads()
    env = KitchenEnvironment(["A", "B"], Embedded(load), horizon=10, reveal_unseen=False)
    for index in range(5):
        env.reset(index=index, seed=index)
    assert load.requested == ["A", "B"], "each kitchen is made once"


def test_a_recording_has_the_whole_episode() -> None:
    env = facing(horizon=40)
    steps = plan(kitchen(start=FACING))
    assert steps is not None
    for step in steps:
        env.step([*step])
    recording = env.recording()
    arrays = recording.arrays()
    assert recording.steps == len(steps)
    assert all(len(rows) == recording.steps + 1 for rows in recording.states.values())
    assert all(len(rows) == recording.steps for rows in recording.actions.values())
    assert arrays["success"].tolist() == [False] * recording.steps + [True]
    names, targets = arrays["action_names"].tolist(), arrays["target_names"].tolist()
    recorded = [(names[a], targets[t]) for a, t in zip(arrays["action"], arrays["action_target"], strict=True)]
    assert recorded[-1] == ("put_object", "fridge")
    assert [name for name, _ in recorded] == [name for name, _ in steps]
    assert (np.diff(arrays["apple_seen"].astype(int)) >= 0).all()
    assert (arrays["apple_seen"] >= arrays["apple_visible"]).all()
    assert arrays["max_steps"] == 40
    assert recording.info["scene"] == "Test"
    short = recording.cut(0)
    assert short.steps == 0 and len(short.actions["action"]) == 0


def test_the_held_item_is_visible_and_at_the_hand() -> None:
    env = facing()
    apple = the(env, "Apple")
    env.step(["pickup_object", apple])
    for _ in range(2):
        env.step(["rotate_right", None])
    (held,) = [seen for seen in observed(env)["visible_objects"] if seen["isPickedUp"]]
    assert held["objectId"] == apple and held["parentReceptacles"] is None
    assert held["distance"] < 0.6
    assert observed(env)["inventory"] == {"holding": "Apple", "holding_object_id": apple}
