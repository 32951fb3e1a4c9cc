"""What recorded runs show of their evaluators: rank correlation, its interval, and the mislead gap."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.rank_correlation import rank_correlation
from memento.core.values import EvaluatorCandidate
from memento.evidence.records import MemoryCount, Merit, RunRecord
from memento.evidence.validity import find_validity, validity_table
from memento.memory.evaluator_pools import EvaluatorPool
from scipy import stats

CHOSEN = EvaluatorCandidate(id="eval/g1/0", generation=1, slot=0, program=None)


def record(pairs: list[tuple[float, float]]) -> RunRecord:
    merits = tuple(Merit(id=f"g1/hill/{n}", fitness=f, success_rate=s) for n, (f, s) in enumerate(pairs))
    return RunRecord(
        name="run", folder="run", domain="hanoi", method="memento", model="offline", seed=3, status="finished",
        memory=MemoryCount(climbs=0, rejections=0, same_program=0, near_summary=0), merits=merits,
        pools=(EvaluatorPool(generation=1, chosen=CHOSEN, final=True),),
    )


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=3, max_size=30))
def test_the_rank_correlation_is_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = [float(one) for one, _ in pairs], [float(other) for _, other in pairs]
    found = rank_correlation(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(first, second).statistic)


def test_the_mislead_gap_is_the_largest_fitness_without_a_success() -> None:
    (found,) = find_validity([record([(0.2, 0.0), (0.7, 0.0), (0.9, 1.0), (0.5, 0.5)])])
    assert (found.gap, found.misleading, found.unsuccessful) == (0.7, "g1/hill/1", 2)
    assert found.evaluator == "eval/g1/0"
    assert -1.0 <= found.low <= found.rho <= found.high <= 1.0
    (row,) = validity_table([found]).rows
    assert {"run", "0.700", "g1/hill/1"} <= set(row)


@pytest.mark.slow
def test_the_interval_holds_rho_and_narrows_with_candidates() -> None:
    draw = random.Random(1)
    widths = []
    for count in (12, 120):
        pairs = [(s + draw.gauss(0, 0.3), s) for s in (draw.choice((0.0, 0.5, 1.0)) for _ in range(count))]
        (found,) = find_validity([record(pairs)])
        assert found.low < found.rho < found.high
        assert find_validity([record(pairs)]) == (found,)
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 2


def test_what_is_not_defined_is_not_reported() -> None:
    (found,) = find_validity([record([(0.2, 1.0), (0.7, 1.0), (0.9, 1.0)])])
    assert (found.rho, found.low, found.high, found.gap, found.misleading) == (None, None, None, None, "")
    assert find_validity([record([])]) == ()
    assert validity_table(()) is None
