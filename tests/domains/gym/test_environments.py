"""Options, success and refusals of Gymnasium's environments."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.faults import FaultKind
from memento.core.ports import InvalidAction, RollTask
from memento.core.provenance import GIVEN
from memento.core.values import Program
from memento.domains import import_string, load
from memento.domains.gym.documentation import clean, elements, tables, text_within
from memento.domains.gym.options import settings
from memento.runtime.rollouts.episode_notes import observed_fields
from memento.runtime.rollouts.generic_story import generic_story
from memento.runtime.rollouts.pool import ProcessPool

from ...conformance.playing import play

TOY = "gym:memento.tests.support.toy_environments"
SPACES = f"{TOY}:ToySpaces-v0"


def completed(name: str, **given: Any) -> dict[str, Any]:
    return load(name, GIVEN).options(given, preset="smoke")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "said"), [
    ("gym:CartPoll-v1", "did you mean 'CartPole-v1'"),
    ("gym:no_such_package:Thing-v0", "there is no module 'no_such_package'"),
    (f"{TOY}:ToyWide-v0", "has 100800 numbers, more than 32768"),
    (f"{TOY}:ToyUnseeded-v0", "not repeatable"),
])
def test_what_cannot_be_used_is_refused_in_a_sentence(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        completed(name)
    assert said in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("given", "said"), [
    ({"kwargs.sise": 3}, "unexpected keyword argument 'sise'"),
    ({"kwargs": {"render_mode": "human"}}, "no window is opened"),
    ({"kwargs.size": float("inf")}, "finite numbers alone"),
    ({"reset": 3}, r"gym\.reset\.NAME=VALUE"),
    ({"max_episode_steps": 0}, "whole number from 1"),
    ({"high": -1e9}, "must be greater than gym.low"),
    ({"success": "is_succes"}, "did you mean 'is_success'"),
    ({"success": "return"}, "set gym.threshold"),
    ({"task": "no-such-file.md"}, "cannot be read"),
    ({"description": "{}"}, "remove it"),
])
def test_options_are_checked(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load(SPACES, GIVEN).options(given, preset="smoke")


def test_a_warning_lets_an_unrepeatable_environment_run() -> None:
    options = completed(f"{TOY}:ToyUnseeded-v0", check="warn")
    assert "not repeatable" in load(f"{TOY}:ToyUnseeded-v0", GIVEN).brief(options).uncertainties


def test_an_environment_that_draws_when_it_is_made_is_made_for_every_episode() -> None:
    assert '"mode": "fresh-seeded"' in completed(f"{TOY}:ToyDrawn-v0")["description"]
    assert '"mode": "kept"' in completed(SPACES)["description"]


def test_the_brief_describes_the_environment(tmp_path: Path) -> None:
    domain = load(SPACES, GIVEN)
    brief = domain.brief(completed(SPACES, **{"kwargs.size": 4}))
    for words in ("Every kind of space", "size = 4", "at most 12 steps", "A step lasts 0.25 s", "`is_success` at the "
                  "last step"):
        assert words in brief.task, words
    assert "None of interest" not in brief.task
    for words in ("`observation_reward`: integers, shape (1,), each from -1 to 2", "`image`: integers, shape (2, 2, 3)",
                  "`parts_0`", "[1] to [2]: `action_1_push`, with the bounds below", "| 1 | from -1 to 2 |"):
        assert words in brief.policy_interface, words
    assert "`info_rewards_near_reward` (T,)" in brief.evaluator_interface
    assert "`info_pair` (T, 2)" in brief.evaluator_interface and "info_word" not in brief.evaluator_interface
    (tmp_path / "task.md").write_text("Walk slowly.")
    extended = domain.brief(completed(SPACES, task=f"+{tmp_path / 'task.md'}")).task
    replaced = domain.brief(completed(SPACES, task=str(tmp_path / "task.md"))).task
    assert "Walk slowly." in extended and "Walk slowly." in replaced
    assert "Every kind" in extended and "Every kind" not in replaced


def test_the_offline_model_reads_the_tables_of_the_users_text(tmp_path: Path) -> None:
    domain = load("gym:CartPole-v1", GIVEN)
    rows = "".join(f"| {at} | thing {word} |\n" for at, word in enumerate("abcd"))
    (tmp_path / "task.md").write_text(f"Four things.\n\n| Num | Observation |\n|---|---|\n{rows}")
    own, extended, replaced = (
        domain.shelf_for(domain.options({} if task is None else {"task": task}, preset="quick")).initial.text
        for task in (None, f"+{tmp_path / 'task.md'}", str(tmp_path / "task.md"))
    )
    assert own == extended, "the environment's own table is the first"
    assert "'thing_a'" in replaced and "'thing_a'" not in own


def test_stories_have_the_names_of_the_documentation() -> None:
    environment = load("gym:CartPole-v1", GIVEN).environment(completed("gym:CartPole-v1"))
    environment.reset(index=0, seed=1)
    while not environment.step(np.array([1.0])):
        pass
    story = generic_story(environment.recording(), observed_fields(environment))
    environment.close()
    assert "observation[2] Pole Angle" in {row[0] for row in story.rows}


@pytest.mark.slow
def test_an_episode_says_which_rule_ended_it() -> None:
    domain = load("gym:CartPole-v1", GIVEN)
    environment = domain.environment(completed("gym:CartPole-v1"))
    environment.reset(index=0, seed=1)
    while (ended := environment.step(np.array([1.0]))) is None:
        assert "broken_rule" not in environment.recording().info
    rule = environment.recording().info["broken_rule"]
    environment.reset(index=1, seed=2)
    assert ended == "terminated" and str(rule).startswith("angle -0.2") and str(rule).endswith(" < -0.2094")
    assert "broken_rule" not in environment.recording().info


def test_the_search_sees_success_only_where_the_options_say_so() -> None:
    """An environment's own word for success is in no array, no metric, no end of an episode and no text."""
    for shown in (False, True):
        options = completed(SPACES, measure="return", **({"success_info": "shown"} if shown else {}))
        domain = load(SPACES, GIVEN)
        environment = domain.environment(options)
        played = play(environment, [np.array([2.0, 0.0, 0.0])] * 12, seed=3)
        environment.close()
        brief = domain.brief(options)
        assert ("info_is_success" in played.recording.arrays()) == shown
        assert ("info_is_success" in brief.evaluator_interface) == shown
        assert ("Recordings show it, so that the fitness can count it." in brief.task) == shown
    older = {key: value for key, value in options.items() if key not in ("success_info", "diverged")}
    assert "info_is_success" in domain.brief(older).evaluator_interface, "a run of an older version is repeated"


def test_an_episode_that_diverges_is_a_fault_and_no_way_to_stop_losing() -> None:
    name = f"{TOY}:ToyEscaping-v0"
    environment = load(name, GIVEN).environment(completed(name))
    with pytest.raises(InvalidAction, match="the environment diverged"):
        play(environment, [np.array([2.0, 0.0, 2.0])] * 12, seed=3)
    environment.close()
    environment = load(name, GIVEN).environment(completed(name, diverged="ends"))
    played = play(environment, [np.array([2.0, 0.0, 2.0])] * 12, seed=3)
    environment.close()
    assert played.ended == "diverged", "as in runs of older versions"


@pytest.mark.parametrize(("given", "success"), [
    ({}, False), ({"success_at": "any"}, True), ({"threshold": -100.0, "success": "return"}, True),
    ({"threshold": 0.0, "success": "return"}, False), ({"success": "none"}, False),
])
def test_success_is_what_the_options_say(given: dict[str, Any], success: bool) -> None:
    """The walk comes near the goal and passes it."""
    environment = load(SPACES, GIVEN).environment(completed(SPACES, **given))
    played = play(environment, [np.array([2.0, 0.0, 0.0])] * 12, seed=3)
    environment.close()
    assert "info_is_success" not in played.recording.arrays(), "what is searched with does not see S"
    assert played.success is success and played.ended == "horizon"
    assert played.recording.info["return"] == played.recording.actions["reward"].sum()


def test_actions_are_clipped_or_refused(tmp_path: Path) -> None:
    """In the run's own processes: a number beyond a Box is clipped, a choice that does not exist is a fault."""
    programs = {action: Program(
        "class Policy:\n    def reset(self):\n        pass\n\n    def compute_action(self, obs):\n"
        f"        assert obs['image'].shape == (2, 2, 3)\n        return {action}\n"
    ) for action in ("[2, 9.0, -9.0]", "[3, 0, 0]", "[0.5, 0, 0]")}

    async def rolled() -> list[Any]:
        splits = {"test": completed(SPACES)}
        async with ProcessPool(domain=import_string(SPACES), splits=splits, workers=1, trajectories=tmp_path) as pool:
            return [await pool.roll(RollTask(order=f"o{place}", program=program, split="test", index=0, seed=1))
                    for place, program in enumerate(programs.values())]

    clipped, absent, broken = asyncio.run(rolled())
    assert clipped.fault is None and clipped.steps == 12
    for episode, said in ((absent, "action[0] is 3; it must be an integer from 0 to 2"), (broken, "is 0.5; it must")):
        assert episode.fault.kind == FaultKind.INVALID_ACTION and said in episode.fault.message


def test_an_action_of_one_number_may_be_a_plain_number(tmp_path: Path) -> None:
    """Also where observations hold a text, so that observations and actions are JSON."""
    name = f"{TOY}:ToySpoken-v0"
    program = Program(
        "import numpy as np\n\n\nclass Policy:\n    def reset(self):\n        self.answers = [1, [1], np.int64(1)]\n\n"
        "    def compute_action(self, obs):\n        return self.answers.pop()\n"
    )

    async def rolled() -> Any:
        splits = {"test": completed(name)}
        async with ProcessPool(domain=import_string(name), splits=splits, workers=1, trajectories=tmp_path) as pool:
            return await pool.roll(RollTask(order="o", program=program, split="test", index=0, seed=1))

    episode = asyncio.run(rolled())
    assert (episode.steps, episode.fault) == (3, None)


def test_a_tuple_of_choices_is_seen() -> None:
    """Gymnasium's card game, whose observations are such a tuple."""
    names = [leaf.name for leaf in settings(completed("gym:Blackjack-v1")).description.observation]
    assert names == ["observation_0", "observation_1", "observation_2"]


def test_documentation_is_cleaned_and_bounded() -> None:
    text = clean("""
    ## Description
    See [this](http://example.org) and ![that](figure.png).
    ```{figure} a.png
    :name: a
    ```
    | Num | Name      |
    |-----|-----------|
    | 0   | left leg  |

    ## Arguments
    secret=1
    ## Version History
    * v0
    """)
    assert text == "### Description\nSee this and .\n| Num | Name |\n|---|---|\n| 0 | left leg |"


ART = """
# Title
Walls:

    +---+
    |R: | :
    | | |
    +---+

- `Mine-v1`: this one.
- `Other-v1`: another one,
    over two lines.

It is fast. To run it:
```
python mine.py
```

The reward:
```
2 * x | y
```
<!-- hidden
too -->
Changelog:
    - (1/1/20) all new

## Second
```
a fence that nothing closes

## Version History
- v0: long ago

## Third
The end.
"""


def test_blocks_stay_as_they_are_and_what_concerns_other_environments_is_left_out() -> None:
    text = clean(ART, "Mine-v1")
    assert "    +---+\n    |R: | :\n    | | |\n    +---+" in text and "```\n2 * x | y\n```" in text
    assert "`Mine-v1`" in text and "It is fast." in text and "The reward:" in text
    assert "a fence that nothing closes" in text and text.endswith("**Third**\nThe end.")
    for word in ("long ago", "Other-v1", "two lines", "To run it", "mine.py", "hidden", "all new", "Changelog"):
        assert word not in text


def test_the_sections_share_the_room_and_reward_and_end_come_first() -> None:
    rows = "".join(f"| {place} | number {place} | -Inf | {place} |\n" for place in range(400))
    table = f"| Num | Observation | Min | Max |\n|---|---|---|---|\n{rows}"
    text = clean(f"## Description\n{'A task. ' * 40}\n## Observation Space\n{table}\n## Rewards\n{'+1. ' * 300}\n"
                 "## Episode End\nIt ends at last.\n")
    assert text_within(text, most=50_000).count("+1.") == 300
    short = text_within(text, most=3_000)
    assert len(short) <= 3_000 and "It ends at last." in short and short.count("+1.") == 300
    assert 'The section "Observation Space" is shortened here' in short
    moved = text_within(text, most=3_000, shown=tables(text))
    assert "number 3" not in moved and "shortened" not in moved and "(The table is in the interface.)" in moved
    for most in range(0, 3_000, 37):
        assert len(text_within(text, most=most)) <= most


def test_the_description_of_an_older_run_still_makes_a_brief() -> None:
    options = completed(SPACES)
    old = {key: value for key, value in json.loads(str(options["description"])).items()
           if key not in ("notes", "arguments", "model", "parts")}
    brief = load(SPACES, GIVEN).brief({**options, "description": json.dumps(old)})
    assert "Every kind of space" in brief.task and "Arguments in force" not in brief.task


def test_bounds_that_do_not_hold_are_named() -> None:
    domain = load("gym:CartPole-v1", GIVEN)
    options = domain.options({}, preset="smoke")
    known = json.loads(str(options["description"]))
    said = "In random episodes [0] went beyond the stated bounds."
    assert said not in domain.brief(options).policy_interface
    ((low, high),) = known["seen"].values()
    known["seen"] = {"observation": [low, [5.1, *high[1:]]]}
    assert said in domain.brief({**options, "description": json.dumps(known)}).policy_interface


def test_equal_rows_and_columns_are_folded() -> None:
    text = clean("| Num | Observation | Unit | Kind |\n|---|---|---|---|\n"
                 "| 0 | a | m | x |\n| 1 | b | s | x |\n| 2 | b | s | x |\n| 3 | b | s | x |\n| no | c | s | x |\n")
    assert text_within(text) == ("| Num | Observation | Unit |\n| --- | --- | --- |\n| 0 | a | m |\n| 1-3 | b | s |\n"
                            "| no | c | s |\n(In every row: Kind: x.)")
    assert [row[1] for row in elements(text, "Observation", {"all": 4})["all"].rows] == ["a", "b", "b", "b"]
    assert elements(text, "Observation", {"all": 3}) == {} == elements(text, "Action", {"all": 4})


def test_the_model_says_where_joints_and_parts_are_and_what_an_observation_leaves_out() -> None:
    """The foot of Hopper-v5: its capsule lies along x, its middle is 6.5 cm behind and 10 cm above its origin."""
    text = load("gym:Hopper-v5", GIVEN).brief(completed("gym:Hopper-v5")).task
    foot = next(line for line in text.splitlines() if line.startswith("| foot | leg |"))
    assert "half-length 0.195 along [1, 0, 0], centre [-0.065, 0, 0.1] | 2 |" in foot
    assert "| foot_joint | foot | hinge | [-0.13, 0, 0.1] | [0, -1, 0] | -0.7854 to 0.7854 | 1 | 1 |" in text
    assert "| number | drives |" in text, "no column of names that the model does not give"
    assert "clipped to -10 to 10" in text
