"""The tables of a report, as text in rows and columns. Pure: findings -> tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.audits import HACK
from ..core.operators import OPERATORS
from ..core.text import DASH, cost, number, one_line, plural, plus_minus, share, signed_number
from .findings import ArmFinding, GroupFinding, MeasureFinding, VotingFinding
from .loading import Evidence
from .records import RunRecord
from .statistics import Spread, ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. The first `texts` columns are words, the others numbers; a row in `strong` is the method under test.

    `groups` are headings over columns: (title, how many).
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    texts: int = 1
    groups: tuple[tuple[str, int], ...] = ()
    strong: frozenset[int] = frozenset()


def glance(group: GroupFinding) -> Table:
    """The results of each arm."""
    measures = _measures(group)
    rows = [
        (
            arm.arm,
            str(len(arm.records)),
            spread(arm.fitness),
            spread(arm.success),
            *(spread(spread_of_measure(arm, name, fitness=False)) for name in measures),
            *(spread(spread_of_measure(arm, name, fitness=True)) for name in measures),
            spread(arm.area),
        )
        for arm in group.arms
    ]
    count = len(measures)
    rewarded = [name for name in measures if any(_returns(arm, name) is not None for arm in group.arms)]
    heads = [(words, number) for words, number in (
        ("success, held-out", count), ("reference F, held-out", count), ("return, held-out", len(rewarded))
    ) if number]
    rows = [
        (*row[:-1], *(mean_return(_returns(arm, name)) for name in rewarded), row[-1])
        for row, arm in zip(rows, group.arms, strict=True)
    ]
    return Table(
        title=f"Results: {group.title}",
        columns=("Method", "Runs", "F", "S", *measures, *measures, *rewarded, "Area under F"),
        groups=(("", 2), ("in the search", 2), *heads, ("", 1)),
        rows=tuple(rows),
        strong=frozenset({0}),
        note="Mean ± standard deviation over runs with different seeds. F and S in the search are those of the best "
        "policy so far on the search's own episodes; F is under the run's own evaluator. Held-out values were measured "
        "on episodes that no search used, by the success predicate and by the domain's reference evaluator.",
    )


def intervals(group: GroupFinding) -> Table:
    """Final measures with their intervals."""
    rows = []
    for name in _measures(group):
        for arm in group.arms:
            measure = next((one for one in arm.measures if one.name == name), None)
            if measure is not None and measure.success is not None:
                rows.append((name, arm.arm, *_interval_cells(measure, measure.success)))
    return Table(
        title=f"Success on held-out seeds, with intervals: {group.title}",
        columns=("Measure", "Method", "Runs", "Mean ± std", "95 % over runs", "Episodes", "Succeeded", "95 % over "
                 "episodes"),
        rows=tuple(rows),
        texts=2,
        note="Over runs: percentile bootstrap of the mean of each run's success. Over episodes: Wilson's interval of "
        "all episodes together, which is too narrow where runs differ from one another.",
    )


def _interval_cells(measure: MeasureFinding, success: Spread) -> tuple[str, ...]:
    return (
        str(success.n),
        spread(success),
        interval_words(success.low, success.high),
        str(measure.episodes),
        str(measure.successes),
        interval_words(measure.low, measure.high),
    )


def tests(group: GroupFinding) -> Table | None:
    """Paired tests against the first arm; None where there is nothing to test."""
    if not group.tests:
        return None
    rows = [
        (
            one.quantity,
            f"{one.one} − {one.other}",
            str(one.test.n),
            signed_number(one.test.difference, digits=3),
            interval_words(one.test.low, one.test.high, difference=True),
            f"{one.test.wins} : {one.test.losses}",
            p_value(one.test.wilcoxon),
            p_value(one.test.permutation),
            p_value(one.adjusted),
        )
        for one in group.tests
    ]
    least = group.tests[0].test.least_p
    fair = "" if group.shared_evaluator else (
        " Arms whose evaluators differ are not compared by their own F."
    )
    return Table(
        title=f"Paired tests on common seeds: {group.title}",
        columns=("Quantity", "Difference", "Seeds", "Mean", "95 %", "Won : lost", "Wilcoxon p", "Permutation p",
                 "Adjusted p"),
        rows=tuple(rows),
        texts=2,
        note=f"Two-sided. With {plural(group.tests[0].test.n, 'seed')} no such test can give a p below {least:.2g}."
        f" Adjusted: Benjamini-Hochberg over all permutation tests of this table.{fair}",
    )


def operators(group: GroupFinding) -> Table:
    """The outcomes of each operator's proposals."""
    rows = []
    for arm in group.arms:
        every = [count for record in arm.records for count in record.operators]
        for operator in OPERATORS.ordered(count.operator for count in every):
            counts = [count for count in every if count.operator is operator]
            slots = sum(count.slots for count in counts)
            accepted, rejected = sum(count.accepted for count in counts), sum(count.rejected for count in counts)
            best = [count.best_fitness for count in counts if count.best_fitness is not None]
            rows.append((
                arm.arm,
                OPERATORS[operator].title,
                str(slots),
                share(ratio(sum(count.failed for count in counts), slots)),
                share(ratio(sum(count.cut for count in counts), slots)),
                share(ratio(accepted, accepted + rejected)),
                str(sum(count.elites for count in counts)),
                number(max(best, default=None)),
            ))
    return Table(
        title=f"Operators: {group.title}",
        columns=("Method", "Operator", "Slots", "Failed", "Pruned by racing", "Accepted", "New elites", "Best F"),
        rows=tuple(rows),
        texts=2,
        note="Accepted: of the hill-climb proposals, those from which the climb continued. New elites: generations "
        "whose elite this operator made.",
    )


def memory(group: GroupFinding) -> Table:
    """Acceptance, repeats of rejected edits, and failures of programs."""
    rows = [
        (
            arm.arm,
            share(arm.rates.acceptance),
            share(arm.rates.same_program),
            share(arm.rates.near_summary),
            share(arm.rates.failure),
        )
        for arm in group.arms
    ]
    return Table(
        title=f"Acceptance, repeats and failures: {group.title}",
        columns=("Method", "Accepted", "Same program again", "Same words again", "Failed"),
        rows=tuple(rows),
        strong=frozenset({0}),
        note="Repeats: hill-climb proposals that repeat what their own chain had rejected, by program (comments and "
        "history left out) or, among the rest, by a near-duplicate edit summary.",
    )


def savings(group: GroupFinding) -> Table:
    """Rollouts that were not needed, and climbs that were proposed ahead of their turn."""
    rows = []
    for arm in group.arms:
        runs = arm.records
        by_duplicates = sum(record.saved_by_duplicates for record in runs)
        by_racing = sum(record.episodes_saved for record in runs) - by_duplicates
        ahead, kept = sum(record.asked_ahead for record in runs), sum(record.kept_ahead for record in runs)
        rows.append((
            arm.arm, str(sum(record.episodes_run for record in runs)), str(by_racing), str(by_duplicates),
            share(arm.rates.saved), str(sum(record.duplicates for record in runs)), str(ahead),
            share(ratio(kept, ahead)),
        ))
    return Table(
        title=f"What was saved, all runs together: {group.title}",
        columns=("Method", "Run", "By racing", "By duplicates", "Saved", "Known programs", "Proposed ahead", "Kept"),
        groups=(("", 1), ("episodes", 4), ("", 1), ("climbs", 2)),
        rows=tuple(rows),
        strong=frozenset({0}),
        note="None of these savings changes a result. Racing ends a candidate's episodes once it cannot win, a known "
        "program takes over its episodes, and a climb proposed ahead is kept if the verdict that it assumed was right.",
    )


def costs(group: GroupFinding) -> Table:
    """The costs of the search, per run and per gain in fitness."""
    rows = []
    for arm in group.arms:
        spent = [record.spending.total for record in arm.records]
        rows.append((
            arm.arm,
            number(arm.calls.mean if arm.calls else None, digits=0),
            f"{sum(one.tokens for one in spent) / len(spent):,.0f}",
            money(arm.cost_usd, len(arm.records)),
            number(sum(record.episodes_run for record in arm.records) / len(arm.records), digits=0),
            number(sum(record.wall_s for record in arm.records) / len(arm.records) / 60, digits=1),
            number(arm.calls_per_point, digits=1),
            number(arm.episodes_per_point, digits=1),
            cost(arm.usd_per_point, digits=4, unknown=DASH),
        ))
    return Table(
        title=f"Costs: {group.title}",
        columns=("Method", "Proposals", "Tokens", "Cost", "Episodes", "Minutes", "Proposals", "Episodes", "Cost"),
        groups=(("", 1), ("per run, on average", 5), ("per 0.01 of F gained", 3)),
        rows=tuple(rows),
        strong=frozenset({0}),
        note="Cost and proposals are the policy search's own; evaluator writers and judges, whose work a comparison's "
        "runs share, are in the table of roles. Tokens are those of all roles. An unknown price is not 0.",
    )


def roles(records: Iterable[RunRecord]) -> Table:
    """Calls by role, of all runs together."""
    found: dict[str, list[float | None]] = {}
    for record in records:
        for role, spent in record.spending.by_role.items():
            row = found.setdefault(role, [0, 0, 0, 0, 0.0, 0.0])
            amounts = (spent.calls, spent.input_tokens, spent.cached_tokens, spent.output_tokens, spent.latency_s)
            for place, amount in enumerate(amounts):
                row[place] = (row[place] or 0) + amount
            row[5] = None if row[5] is None or spent.cost_usd is None else row[5] + spent.cost_usd
    rows = [
        (role, *(f"{amount or 0:,.0f}" for amount in row[:4]), f"{(row[4] or 0) / 60:.1f}", money(row[5], 1))
        for role, row in found.items()
    ]
    return Table(
        title="Model calls by role, all runs together",
        columns=("Role", "Calls", "Tokens in", "of these cached", "Tokens out", "Minutes of waiting", "Cost"),
        rows=tuple(rows),
    )


def nodes(records: Iterable[RunRecord]) -> Table | None:
    """The nodes of clusters, all runs together; None if all runs were on one machine."""
    found: dict[str, list[float]] = {}
    for record in records:
        for node, use in record.nodes.items():
            row = found.setdefault(node, [0, 0, 0.0])
            for place, amount in enumerate((1, use.episodes, use.wall_s)):
                row[place] += amount
    if not found:
        return None
    episodes = sum(row[1] for row in found.values())
    return Table(
        title="Nodes of the cluster, all runs together",
        columns=("Node", "Runs", "Episodes", "Share", "Hours of episodes"),
        rows=tuple(
            (node, f"{row[0]:.0f}", f"{row[1]:,.0f}", share(ratio(row[1], episodes)), f"{row[2] / 3600:.2f}")
            for node, row in sorted(found.items(), key=lambda each: (-each[1][1], each[0]))
        ),
    )


def voting(found: Sequence[VotingFinding]) -> Table | None:
    """The agreement of the judges."""
    if not found:
        return None
    return Table(
        title="Agreement of the judges",
        columns=("Model", "Votes", "Abstentions", "Pairs that agree", "Fleiss' kappa"),
        rows=tuple(
            (one.model or "all", str(one.votes), str(one.abstentions), share(one.agreement), number(one.kappa))
            for one in found
        ),
        note="Kappa: 1 is full agreement, 0 what chance would give. Each pool of each run is a subject.",
    )


def audits(records: Iterable[RunRecord]) -> Table | None:
    """How many programs that never succeed please the runs' evaluators; None if no evaluator was audited."""
    found = [(record.name, record.audit) for record in records if record.audit is not None]
    if not found:
        return None
    rows = []
    for name, audit in found:
        total, worst = audit.total, audit.worst[0] if audit.worst else None
        rows.append((
            name, f"{one_line(worst.name, 60)} ({one_line(worst.kind, 30)})" if worst is not None else DASH,
            str(audit.episodes), str(total.programs), str(total.unsuccessful), str(total.hacks),
            DASH if total.share is None else f"{100 * total.share:.1f} %", number(total.best_fitness),
        ))
    return Table(
        title="Reward-hacking audits of the evaluators",
        columns=("Run", "Highest F by", "Episodes each", "Programs", "S = 0", f"F ≥ {HACK:g}", "Share", "Highest F"),
        rows=tuple(rows),
        texts=2,
        note=f"Programs that were written or bred to please the evaluator without doing the task, judged by the frozen"
        f" evaluator. The share is that of F ≥ {HACK:g} among the programs that succeeded in no episode.",
    )


def runs(evidence: Evidence) -> Table:
    """Every run, so that each number can be traced."""
    rows: list[tuple[str, ...]] = []
    for record in evidence.records:
        held_out = "; ".join(
            f"{name} {found.success:.2f}" for name, found in evidence.held_out_of(record).items()
            if found.success is not None
        )
        rows.append((
            record.name, record.arm, str(record.seed), record.status, number(record.initial_fitness),
            number(record.result_fitness), number(record.result_success), str(record.candidates),
            str(record.episodes_run), _pace(record), held_out or DASH,
        ))
    known = any(record.quality is not None and record.quality.fresh for record in evidence.records)
    fresh = "F and S are those of the result on fresh episodes, where a run has them. " if known else ""
    rows += [(name, DASH, DASH, why, *[DASH] * 7) for name, why in evidence.missing.items()]
    return Table(
        title="Runs",
        columns=("Run", "Method", "Seed", "Status", "F of p_0", "F", "S", "Candidates", "Episodes", "ms per call",
                 "Held-out success"),
        rows=tuple(rows),
        texts=2,
        note=f"{fresh}ms per call: the elite's CPU time for one action, median and 99 %, on the machine of the run.",
    )


# ------------------------------------------------------------------------------ cells


def _pace(record: RunRecord) -> str:
    return DASH if record.pace is None else f"{record.pace.median_ms:.2g} / {record.pace.p99_ms:.2g}"


def _measures(group: GroupFinding) -> list[str]:
    return list(dict.fromkeys(measure.name for arm in group.arms for measure in arm.measures))


def spread_of_measure(arm: ArmFinding, measure: str, *, fitness: bool) -> Spread | None:
    """Success, or fitness under the reference evaluator, of an arm in a measure; None where it was not measured."""
    found = next((one for one in arm.measures if one.name == measure), None)
    if found is None:
        return None
    return found.fitness if fitness else found.success


def _returns(arm: ArmFinding, measure: str) -> Spread | None:
    """The mean returns of an arm in a measure; None where there are none."""
    found = next((one for one in arm.measures if one.name == measure), None)
    return None if found is None else found.returns


def mean_return(found: Spread | None) -> str:
    """mean ± std of returns, which are of any size."""
    if found is None:
        return DASH
    return f"{found.mean:,.2f}" if found.std is None else f"{found.mean:,.2f} ± {found.std:,.2f}"


def spread(found: Spread | None) -> str:
    """mean ± std, as the paper prints it."""
    return plus_minus(None if found is None else (found.mean, found.std))


def interval_words(low: float | None, high: float | None, *, difference: bool = False) -> str:
    """An interval."""
    if low is None or high is None:
        return DASH
    words = (signed_number(low), signed_number(high)) if difference else (f"{low:.2f}", f"{high:.2f}")
    return f"[{', '.join(words)}]"


def money(cost_usd: float | None, among: int) -> str:
    """An amount of money per run."""
    return cost(None if cost_usd is None else cost_usd / max(1, among), unknown="not known")


def p_value(value: float | None) -> str:
    """A p-value with its significant digits."""
    if value is None:
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
