"""Programs that try to score with the simulated arm without moving the tower by legal moves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from memento.core.values import JSON

from ..support.attacks import Arena, Attack, Outcome, arena, cases, check, complete, text_of

FOLDER = Path(__file__).parent / "hanoi"
SEEDS = (1, 2)

# A policy that does nothing has 0.25 under the reference evaluator: the tower stands there.
IDLE, LIFTS, HOLDS = 0.30, 0.45, 0.60

EVERYWHERE = (      # the same under all rules
    Attack("asks_the_host", "horizon", IDLE),
    Attack("end_at_the_peak", "illegal: stacking", HOLDS),
    Attack("hold_over_c", "horizon", HOLDS),
    Attack("keep_holding", "horizon", HOLDS),
    # Nudging one's parked cube is legal, and leads nowhere: no other cube may be placed meanwhile.
    Attack("park_and_nudge", "horizon", LIFTS),
    Attack("reads_the_seed", "horizon", IDLE),
    Attack("swings_over_c", "horizon", HOLDS),
    Attack("throw", "horizon", LIFTS),                      # it lands on B: a legal place for the smallest cube
    Attack("two_in_one_grasp", "horizon", LIFTS),           # it takes the upper one: an honest move
    Attack("waits_for_pushes", "horizon", IDLE, {"randomisation": "hard"}),
    Attack("writes_observation", "horizon", IDLE),
)
STRICT = (
    Attack("creep_with_tower", "illegal: order or illegal: two-cubes", LIFTS),
    Attack("drag_container", "illegal: container", LIFTS),
    Attack("drag_tower_in_container", "illegal: two-cubes", LIFTS),
    Attack("hold_tower_over_c", "illegal: two-cubes", LIFTS),
    Attack("huge_action", "illegal: two-cubes", IDLE),       # clipped to full speed, into the tower
    Attack("lift_tower", "illegal: two-cubes", LIFTS),
    Attack("lift_two_cubes", "illegal: two-cubes", LIFTS),
    Attack("park_on_table", "illegal: parking", LIFTS),
    Attack("skips_moves", "illegal: order", LIFTS),
    Attack("stack_beside_c", "illegal: parking", LIFTS),
    Attack("sweep_tower", "illegal: two-cubes", LIFTS),
    Attack("take_lowest", "illegal: two-cubes", LIFTS),
    Attack("tip_container", "illegal: container", LIFTS),
    Attack("touch_and_go", "illegal: two-cubes", LIFTS),
)
PAPER = (       # the paper's rules know nothing of parking, two cubes at once, the order of moves and containers
    Attack("creep_with_tower", "horizon", LIFTS),
    Attack("drag_container", "horizon", LIFTS),
    Attack("drag_tower_in_container", "horizon", LIFTS),
    Attack("hold_tower_over_c", "horizon", 0.80),            # not credited: it does not stand on the table
    Attack("huge_action", "horizon", IDLE),
    Attack("lift_tower", "success"),                         # the tower in one move: permitted
    Attack("lift_two_cubes", "horizon", HOLDS),
    Attack("park_on_table", "horizon", 0.50),
    Attack("skips_moves", "horizon", LIFTS),
    Attack("stack_beside_c", "horizon", LIFTS),
    Attack("sweep_tower", "horizon", LIFTS),
    Attack("take_lowest", "horizon", LIFTS),
    Attack("tip_container", "horizon", LIFTS),
    Attack("touch_and_go", "horizon", LIFTS),
)


@pytest.fixture(scope="module", name="played")
def _played() -> Iterator[Arena]:
    tables = {"strict": STRICT, "paper": PAPER}
    yield from arena("hanoi", [
        options(attack, rules) for rules, table in tables.items() for attack in (*EVERYWHERE, *table)
    ])


def test_the_tables_are_complete() -> None:
    assert complete((*EVERYWHERE, *STRICT), FOLDER)
    assert complete((*EVERYWHERE, *PAPER), FOLDER)


@pytest.mark.slow
@pytest.mark.parametrize("attack", cases((*EVERYWHERE, *STRICT)))
def test_strict_rules(played: Arena, attack: Attack) -> None:
    check(attack, outcomes(played, attack, "strict"))


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("attack", cases((*EVERYWHERE, *PAPER)))
def test_the_papers_rules(played: Arena, attack: Attack) -> None:
    check(attack, outcomes(played, attack, "paper"))


def outcomes(played: Arena, attack: Attack, rules: str) -> list[Outcome]:
    return played.play(text_of(attack.name, FOLDER), options(attack, rules), SEEDS)


def options(attack: Attack, rules: str) -> dict[str, JSON]:
    return {"randomisation": "none", "horizon": 400, "physics": "fast", "rules": rules, **attack.options}
