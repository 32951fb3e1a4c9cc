"""How far a fitness can be trusted: its rank correlation with success over a run's candidates, and the mislead gap.

Over all candidates with F and S, not only the elites: a search rolled them out anyway. The mislead gap is the largest F
of a candidate that never succeeded: what an evaluator pays for nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.examined import EvaluatorTests
from ..core.rank_correlation import rank_correlation
from ..core.text import DASH, number, one_line
from .records import Merit, RunRecord
from .statistics import CONFIDENCE
from .tables import Table, interval_words

RESAMPLES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """What a run shows of its evaluator E*.

    `rho` is Spearman's, with a percentile bootstrap interval over the candidates; None where F or S does not vary.
    """

    run: str
    evaluator: str  # the name of E*, such as "eval/g1/0" or "eval/fixed"
    candidates: int  # with F and S, p_0 among them
    rho: float | None
    low: float | None
    high: float | None
    unsuccessful: int  # of these, those with S = 0
    gap: float | None  # None without such a candidate
    misleading: str  # the candidate that has it; "" without one
    tests: EvaluatorTests | None  # None: E* was not tested


def find_validity(records: Iterable[RunRecord]) -> tuple[Validity, ...]:
    """One for each run that froze an evaluator and has candidates with F and S."""
    return tuple(found for record in records if (found := _of_run(record)) is not None)


def _of_run(record: RunRecord) -> Validity | None:
    frozen = [pool.chosen for pool in record.pools if pool.final and pool.chosen is not None]
    chosen = frozen[-1] if frozen else None
    if chosen is None or not record.merits:
        return None
    low, high = _interval(record.merits, seed=record.seed)
    failed = [each for each in record.merits if each.success_rate == 0]
    worst = max(failed, key=lambda each: each.fitness, default=None)
    return Validity(
        run=record.name, evaluator=chosen.id, candidates=len(record.merits),
        rho=rank_correlation(*_sides(record.merits)), low=low, high=high, unsuccessful=len(failed),
        gap=None if worst is None else worst.fitness, misleading="" if worst is None else worst.id,
        tests=chosen.examination.tests,
    )


def _sides(merits: Sequence[Merit]) -> tuple[list[float], list[float]]:
    return [each.fitness for each in merits], [each.success_rate for each in merits]


def _interval(merits: Sequence[Merit], *, seed: int) -> tuple[float | None, float | None]:
    """The percentile interval of rho over candidates drawn with replacement; draws without variation do not count."""
    if rank_correlation(*_sides(merits)) is None:
        return None, None
    rng = np.random.default_rng(seed)
    drawn = ([merits[place] for place in rng.integers(len(merits), size=len(merits))] for _ in range(RESAMPLES))
    rhos = [rho for sample in drawn if (rho := rank_correlation(*_sides(sample))) is not None]
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(rhos, [tail, 100 - tail])
    return float(low), float(high)


def validity_table(found: Sequence[Validity]) -> Table | None:
    """One row for each run; None without runs."""
    if not found:
        return None
    return Table(
        title="Validity of the evaluators over all candidates",
        columns=(
            "Run", "E*", "Candidates", "ρ of F and S", "95 %", "S = 0", "Mislead gap", "of", "Certain pairs inverted",
            "τ", "Invariances broken",
        ),
        rows=tuple(
            (
                one.run, one.evaluator, str(one.candidates), number(one.rho, digits=2),
                interval_words(one.low, one.high), str(one.unsuccessful), number(one.gap),
                one_line(one.misleading, 60) or DASH, *_test_cells(one.tests),
            )
            for one in found
        ),
        texts=2,
        note="Spearman's ρ over the candidates of each run with a bootstrap interval over candidates, which depend on "
        "one another. The mislead gap is the largest F of a candidate that never succeeded. Pairs, Kendall's τ and "
        "invariances are those of the tests before the search.",
    )


def _test_cells(tests: EvaluatorTests | None) -> tuple[str, str, str]:
    if tests is None:
        return DASH, DASH, DASH
    return (
        f"{tests.inversions} of {tests.pairs}", number(tests.tau, digits=2),
        f"{tests.broken_invariances} of {len(tests.invariances)}",
    )
