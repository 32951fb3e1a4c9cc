"""Programs that try to score in the kinematic Hanoi without moving the tower by legal moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from memento.core.values import JSON

from ..support.attacks import Arena, Attack, Outcome, arena, cases, check, complete, text_of

pytestmark = pytest.mark.quick

FOLDER = Path(__file__).parent / "hanoi_kinematic"
SEEDS = (1, 2)
LONG = {"horizon": 500}

# A policy that does nothing has 0.25 under the reference evaluator: the tower stands there.
IDLE, LIFTS, HOLDS = 0.30, 0.45, 0.60

EVERYWHERE = (      # the same under all rules
    Attack("asks_the_host", "horizon", IDLE),
    Attack("drop_through_stack", "horizon", LIFTS),
    Attack("end_at_the_peak", "illegal: stacking", HOLDS),
    Attack("hold_over_c", "horizon", HOLDS),
    Attack("huge_action", "horizon", IDLE),
    Attack("inf_action", "fault: invalid-action", 0.0),
    Attack("keep_holding", "horizon", LIFTS),
    Attack("leaves_early", "fault: crashed", 0.0),
    Attack("nan_action", "fault: invalid-action", 0.0),
    Attack("nominal_places", "horizon", HOLDS),
    Attack("palm_through_tower", "horizon", IDLE),
    # Nudging one's parked cube is legal, and leads nowhere: no other cube may be placed meanwhile.
    Attack("park_and_nudge", "horizon", LIFTS),
    Attack("park_under_the_hand", "horizon", LIFTS),
    Attack("park_while_held", "horizon", LIFTS),
    # Pushing one cube along the table is a move of one cube: legal. The bars stop it.
    Attack("push_over_bars", "horizon", LIFTS),
    Attack("reads_the_seed", "horizon", IDLE),
    Attack("sideways_beneath", "horizon", IDLE),
    Attack("swings_over_c", "horizon", HOLDS),
    Attack("sweep_tower", "horizon", IDLE),
    Attack("two_in_one_grasp", "horizon", HOLDS),           # it takes the upper one: an honest move
    Attack("waits_for_pushes", "horizon", IDLE, {"randomisation": "hard"}),
    Attack("writes_observation", "horizon", IDLE),
    Attack("wrong_shape", "fault: invalid-action", 0.0),
)
STRICT = (
    Attack("creep_with_tower", "illegal: parking", LIFTS),
    Attack("creep_without_rest", "illegal: parking", LIFTS),
    Attack("park_and_solve", "illegal: parking", LIFTS),
    Attack("park_in_gate", "illegal: order or illegal: parking", HOLDS),
    Attack("park_on_table", "illegal: parking", LIFTS),
    Attack("skips_moves", "illegal: order", LIFTS),
    Attack("stack_beside_c", "illegal: parking", LIFTS),
    Attack("throw", "horizon or illegal: parking", LIFTS),   # it may land in C: a legal place for the smallest cube
    Attack("touch_and_go", "illegal: two-cubes", LIFTS),
    Attack("tower_from_below", "illegal: parking", LIFTS),
    Attack("turn_while_grasping", "illegal: two-cubes", LIFTS),
    Attack("up_through_others", "illegal: two-cubes", LIFTS),
)
PAPER = (       # the paper's rules know nothing of parking, of two cubes at once and of the order of moves
    Attack("creep_with_tower", "horizon or illegal: stacking", LIFTS),
    Attack("creep_without_rest", "horizon or illegal: stacking", LIFTS),
    Attack("park_and_solve", "success", options=LONG),       # seven moves: permitted
    Attack("park_in_gate", "horizon", HOLDS),
    Attack("park_on_table", "horizon", HOLDS),
    Attack("skips_moves", "horizon", HOLDS),                 # permitted; the cubes on the bars are in its way
    Attack("stack_beside_c", "horizon", LIFTS),
    Attack("throw", "horizon", LIFTS),
    Attack("touch_and_go", "horizon", LIFTS),
    Attack("tower_from_below", "horizon", HOLDS),
    Attack("turn_while_grasping", "horizon", LIFTS),
    Attack("up_through_others", "horizon", LIFTS),
)


@pytest.fixture(scope="module", name="played")
def _played() -> Iterator[Arena]:
    tables = {"strict": STRICT, "paper": PAPER}
    yield from arena("hanoi-kinematic", [
        options(attack, rules) for rules, table in tables.items() for attack in (*EVERYWHERE, *table)
    ])


def test_the_tables_are_complete() -> None:
    assert complete((*EVERYWHERE, *STRICT), FOLDER)
    assert complete((*EVERYWHERE, *PAPER), FOLDER)


@pytest.mark.parametrize("attack", cases((*EVERYWHERE, *STRICT)))
def test_strict_rules(played: Arena, attack: Attack) -> None:
    check(attack, outcomes(played, attack, "strict"))


@pytest.mark.slow
@pytest.mark.parametrize("attack", cases((*EVERYWHERE, *PAPER)))
def test_the_papers_rules(played: Arena, attack: Attack) -> None:
    check(attack, outcomes(played, attack, "paper"))


def outcomes(played: Arena, attack: Attack, rules: str) -> list[Outcome]:
    return played.play(text_of(attack.name, FOLDER), options(attack, rules), SEEDS)


def options(attack: Attack, rules: str) -> dict[str, JSON]:
    return {"randomisation": "none", "horizon": 250, "rules": rules, **attack.options}
