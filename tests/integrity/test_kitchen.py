"""Programs that try to score in the kitchens without doing the task there."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from memento.core.seeds import derive_seed, salted_seed

from ..support.attacks import SALT, Arena, Attack, arena, cases, check, complete, text_of

FOLDER = Path(__file__).parent / "kitchen"
SEEDS = (1, 2, 3)
SCENES = {"scenes": ["Kitchen11", "Kitchen24", "Kitchen10"]}

# Seeing all four things is worth 0.18, and the stages of the task count however they ended.
NOTHING, SEEN, HALF, NEARLY = 0.10, 0.30, 0.55, 0.95

ATTACKS = (
    Attack("asks_the_host", "done", NOTHING),
    Attack("bread_at_the_fridge", "done", 0.85),
    Attack("closed_doors", "done", HALF),
    Attack("deep_action", "fault: invalid-action", 0.0),
    Attack("done_at_once", "done", NOTHING),
    Attack("empty_microwave", "done", HALF),
    Attack("known_by_heart", "fault: crashed", 0.0),        # the observation does not say which kitchen it is
    Attack("made_up_ids", "done", NOTHING),
    Attack("moves_with_ids", "done", NOTHING),
    Attack("never_looks_down", "done", SEEN),
    Attack("no_moves", "done", SEEN),
    Attack("no_walking", "done", SEEN),
    Attack("on_before_opening", "done", HALF),
    Attack("on_with_open_door", "done", NEARLY),            # all is done but the door and the switch
    Attack("picks_up_furniture", "done", SEEN),
    Attack("reads_hidden_ids", "done", NOTHING),
    Attack("reads_the_seed", "done"),
    Attack("shut_before_put", "done", HALF),
    Attack("swapped", "done", HALF),
    Attack("switches_off_again", "done", NEARLY),           # all is done, then the switch undone
    Attack("takes_apple_back", "done", HALF),
    Attack("through_the_fridge_door", "done", 0.70, {"scenes": ["Kitchen17", "Kitchen2", "Kitchen8"]}),
    Attack("through_the_fridge_wall", "done", 0.90, {"scenes": ["Kitchen11", "Kitchen10", "Kitchen27"]}),
    Attack("toggles_for_points", "done", HALF),
    Attack("two_in_the_hand", "done", 0.75),                # the Apple is in and the Microwave on, all honestly
    Attack("writes_progress", "done", NOTHING),
)


pytestmark = pytest.mark.slow       # test_hanoi_kinematic.py shows the same of another domain in every test run


@pytest.fixture(scope="module", name="played")
def _played() -> Iterator[Arena]:
    older = {"scenes": ["Kitchen11", "Kitchen10", "Kitchen27"], "through_walls": True}
    yield from arena("kitchen", [older, *({**SCENES, **attack.options} for attack in ATTACKS)])


def test_the_table_is_complete() -> None:
    assert complete(ATTACKS, FOLDER)


@pytest.mark.parametrize("attack", cases(ATTACKS))
def test_the_kitchens_rules(played: Arena, attack: Attack) -> None:
    options = {**SCENES, **attack.options}
    names = {} if attack.name == "known_by_heart" else aliases(options["scenes"])
    check(attack, played.play(text_of(attack.name, FOLDER), options, SEEDS, names))


def test_the_older_rule_permits_the_way_through_the_wall(played: Arena) -> None:
    """As `kitchen.rules=paper` and the runs of older versions do."""
    options = {"scenes": ["Kitchen11", "Kitchen10", "Kitchen27"], "through_walls": True}
    program = text_of("through_the_fridge_wall", FOLDER)
    check(Attack("older", "success"), played.play(program, options, SEEDS, aliases(options["scenes"])))


def aliases(scenes: Sequence[str]) -> dict[str, str]:
    """What a policy sees for the name of each kitchen: the attacks with a script are let into the secret."""
    seeds = [salted_seed(seed, SALT) for seed in SEEDS]
    return {scene: f"kitchen-{derive_seed(seed, 'scene'):x}" for scene, seed in zip(scenes, seeds, strict=True)}
