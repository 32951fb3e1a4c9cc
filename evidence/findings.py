"""The findings of a report: spreads, tests, correlations, rates and costs. Pure: evidence -> findings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

from ..core.intervals import share_interval
from ..core.text import plural
from .experiment import compares_models
from .loading import Evidence
from .records import RunRecord
from .statistics import (
    Correlation,
    PairedTest,
    Spread,
    adjust,
    agreement,
    area_under,
    correlate,
    fleiss_kappa,
    paired_test,
    ratio,
    spread,
)

POINT = 0.01  # a point of fitness, for what it cost
FITNESS, SUCCESS, AREA = "F", "S", "area under F"
SEVERAL = "several models"      # of a group whose arms are models


@dataclass(frozen=True, slots=True, kw_only=True)
class BandPoint:
    """One generation of a mean curve over n runs; the band is one standard deviation, within [0, 1]."""

    generation: int
    n: int
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureFinding:
    """One final measure of an arm: success (and fitness under the reference evaluator) of each run's elite.

    `success` is None if the task has no success predicate, `returns` if it has no rewards.
    """

    name: str
    success: Spread | None
    fitness: Spread | None
    by_seed: Mapping[int, float]
    fitness_by_seed: Mapping[int, float]
    return_by_seed: Mapping[int, float]
    returns: Spread | None
    episodes: int
    successes: int
    low: float | None  # Wilson, over all episodes
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Rates of an arm's proposals. None where there was nothing to count."""

    acceptance: float | None  # of hill-climb proposals
    failure: float | None  # of all candidates
    same_program: float | None  # of hill-climb proposals that could repeat a rejected one
    near_summary: float | None
    saved: float | None  # of the episodes that candidates would have had


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFinding:
    """The findings of one arm in one group."""

    arm: str
    method: str
    records: tuple[RunRecord, ...]
    fitness: Spread | None
    success: Spread | None
    area: Spread | None
    fitness_curve: tuple[BandPoint, ...]
    success_curve: tuple[BandPoint, ...]
    measures: tuple[MeasureFinding, ...]
    rates: Rates
    calls: Spread | None
    cost_usd: float | None
    usd_per_point: float | None
    calls_per_point: float | None
    episodes_per_point: float | None

    def values(self, quantity: str) -> dict[int, float]:
        """The arm's values by seed: F, S, the area, or a measure's "success: Cube", "fitness: …" or "return: …"."""
        simple: Mapping[str, Callable[[RunRecord], float | None]] = {
            FITNESS: lambda record: record.best_fitness,
            SUCCESS: lambda record: record.best_success,
            AREA: _area,
        }
        if quantity in simple:
            found = {record.seed: simple[quantity](record) for record in self.records}
            return {seed: value for seed, value in found.items() if value is not None}
        kind, _, name = quantity.partition(": ")
        measure = next((measure for measure in self.measures if measure.name == name), None)
        if measure is None:
            return {}
        by_kind = {
            "success": measure.by_seed, "fitness": measure.fitness_by_seed, "return": measure.return_by_seed,
        }
        return dict(by_kind[kind])


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFinding:
    """A paired test of the group's first arm against another one."""

    quantity: str
    one: str
    other: str
    test: PairedTest
    adjusted: float | None = None  # of the permutation p-values of the group, Benjamini-Hochberg


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFinding:
    """One task with one model, or with SEVERAL, which are the arms then: arms that may be compared."""

    task: str
    domain: str
    model: str
    arms: tuple[ArmFinding, ...]
    tests: tuple[TestFinding, ...]
    shared_evaluator: bool  # on every common seed all arms were under the same evaluator
    pairs: tuple[tuple[str, float, float], ...]  # (arm, F, S) of every elite, p_0 included
    correlation: Correlation

    @property
    def title(self) -> str:
        """The task, the model, the episodes per candidate and, where the task has several, the back end."""
        settings = self.arms[0].records[0].settings
        options = settings.get("options")
        backend = options.get("backend") if isinstance(options, Mapping) else None
        episodes = f"{plural(int(str(settings['n_roll'])), 'episode')} per candidate" if "n_roll" in settings else ""
        parts = (
            self.task, self.model, episodes,
            f"back end {backend}" if backend is not None else "",
        )
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class VotingFinding:
    """The agreement of judges over all pools of a report: of all judges ("") or of one model."""

    model: str
    votes: int
    abstentions: int
    agreement: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """All findings of a report, for the page and the tables."""

    groups: tuple[GroupFinding, ...]
    voting: tuple[VotingFinding, ...] = field(default_factory=tuple)


def find(evidence: Evidence) -> Findings:
    """Compute all findings of the evidence."""
    among_models = evidence.experiment is not None and compares_models(evidence.experiment)
    keys: dict[tuple[str, str], list[RunRecord]] = {}
    for record in evidence.used_records:
        keys.setdefault((record.task, SEVERAL if among_models else record.model), []).append(record)
    groups = [_group(task, model, records, evidence) for (task, model), records in keys.items()]
    return Findings(groups=tuple(groups), voting=find_votes(evidence.records))


def _group(task: str, model: str, records: Sequence[RunRecord], evidence: Evidence) -> GroupFinding:
    names = list(dict.fromkeys(record.arm for record in records))
    if evidence.experiment is not None:
        names = [arm.name for arm in evidence.experiment.arms if arm.name in names]
    names.sort(key=lambda name: not name.startswith("memento"))  # the method under test comes first
    arms = tuple(_arm(name, [record for record in records if record.arm == name], evidence) for name in names)
    shared = same_evaluators(records)
    pairs = pairs_of(records)
    return GroupFinding(
        task=task,
        domain=records[0].domain,
        model=model,
        arms=arms,
        tests=_tests(arms),
        shared_evaluator=shared,
        pairs=pairs,
        correlation=correlate([(fitness, success) for _, fitness, success in pairs]),
    )


def pairs_of(records: Iterable[RunRecord]) -> tuple[tuple[str, float, float], ...]:
    """(arm, F, S) of the elite of every generation, p_0 included."""
    return tuple(
        (record.arm, point.fitness, point.success)
        for record in records for point in record.curve if point.success is not None
    )


def same_evaluators(records: Iterable[RunRecord]) -> bool:
    """Whether all runs of each seed had the same E* from first to last; otherwise their F must not be compared."""
    by_seed: dict[int, set[tuple[str | None, int]]] = {}
    for record in records:
        used = record.evaluator.digest if record.evaluator else None
        by_seed.setdefault(record.seed, set()).add((used, record.version))
    return all(len(found) == 1 for found in by_seed.values())


def _area(record: RunRecord) -> float | None:
    """The area under the curve of F; None where the evaluator moved, since it would add up F of several versions."""
    return area_under([point.best_fitness for point in record.curve]) if record.version == 1 else None


def _arm(name: str, records: Sequence[RunRecord], evidence: Evidence) -> ArmFinding:
    measured = list(dict.fromkeys(measure for record in records for measure in evidence.held_out_of(record)))
    gains = fsum((record.best_fitness or 0.0) - (record.initial_fitness or 0.0) for record in records)
    proposing = [record.spending.by_role.get("proposer") for record in records]
    calls = [float(spent.calls) if spent is not None else 0.0 for spent in proposing]
    costs = [0.0 if spent is None else spent.cost_usd for spent in proposing]
    cost = None if None in costs else fsum(each for each in costs if each is not None)
    areas = [area for record in records if (area := _area(record)) is not None]
    return ArmFinding(
        arm=name,
        method=records[0].method,
        records=tuple(records),
        fitness=spread([record.best_fitness for record in records if record.best_fitness is not None]),
        success=spread([record.best_success for record in records if record.best_success is not None]),
        area=spread(areas),
        fitness_curve=band([[p.best_fitness for p in record.curve] for record in records if record.version == 1]),
        success_curve=band([
            [point.best_success for point in record.curve if point.best_success is not None] for record in records
        ]),
        measures=tuple(_measure(measure, records, evidence) for measure in measured),
        rates=rates_of(records),
        calls=spread(calls),
        cost_usd=cost,
        usd_per_point=None if cost is None or gains <= 0 else cost / (gains / POINT),
        calls_per_point=None if gains <= 0 else fsum(calls) / (gains / POINT),
        episodes_per_point=None if gains <= 0 else sum(r.episodes_run for r in records) / (gains / POINT),
    )


def band(curves: Sequence[Sequence[float]]) -> tuple[BandPoint, ...]:
    """The mean of curves per generation, over those that reached it."""
    points = []
    for generation in range(max(map(len, curves), default=0)):
        found = [curve[generation] for curve in curves if len(curve) > generation]
        mean = fsum(found) / len(found)
        std = (fsum((value - mean) ** 2 for value in found) / (len(found) - 1)) ** 0.5 if len(found) > 1 else 0.0
        points.append(
            BandPoint(
                generation=generation, n=len(found), mean=mean, low=max(0.0, mean - std), high=min(1.0, mean + std)
            )
        )
    return tuple(points)


def rates_of(records: Iterable[RunRecord]) -> Rates:
    """Rates over all runs of an arm."""
    runs = tuple(records)
    counts = [count for record in runs for count in record.operators]
    accepted, rejected = sum(count.accepted for count in counts), sum(count.rejected for count in counts)
    climbs = sum(record.memory.climbs for record in runs)
    saved, ran = sum(record.episodes_saved for record in runs), sum(record.episodes_run for record in runs)
    return Rates(
        acceptance=ratio(accepted, accepted + rejected),
        failure=ratio(sum(record.failed for record in runs), sum(record.candidates for record in runs)),
        same_program=ratio(sum(record.memory.same_program for record in runs), climbs),
        near_summary=ratio(sum(record.memory.near_summary for record in runs), climbs),
        saved=ratio(saved, saved + ran),
    )


def _measure(name: str, records: Sequence[RunRecord], evidence: Evidence) -> MeasureFinding:
    found = {record.seed: measures[name] for record in records if name in (measures := evidence.held_out_of(record))}
    episodes = sum(held_out.episodes for held_out in found.values())
    successes = sum(held_out.successes for held_out in found.values())
    success = {seed: held_out.success for seed, held_out in found.items() if held_out.success is not None}
    interval = share_interval(successes, episodes) if success else None
    fitness = {
        seed: held_out.fitness for seed, held_out in found.items() if held_out.fitness is not None
    }
    returns = {
        seed: held_out.mean_return for seed, held_out in found.items() if held_out.mean_return is not None
    }
    return MeasureFinding(
        name=name,
        success=spread([*success.values()]),
        fitness=spread([*fitness.values()]),
        by_seed=success,
        fitness_by_seed=fitness,
        return_by_seed=returns,
        returns=spread([*returns.values()]),
        episodes=episodes,
        successes=successes,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
    )


def _tests(arms: Sequence[ArmFinding]) -> tuple[TestFinding, ...]:
    """The first arm against each other one. The search's own F is compared only where the evaluators are the same."""
    if len(arms) < 2:
        return ()
    first, others = arms[0], arms[1:]
    measures = list(dict.fromkeys(measure.name for arm in arms for measure in arm.measures))
    quantities = [FITNESS, AREA, SUCCESS, *(f"{kind}: {name}" for name in measures for kind in ("success", "fitness"))]
    found = []
    for quantity in quantities:
        for other in others:
            if quantity in (FITNESS, AREA) and not same_evaluators(_on_common_seeds(first, other)):
                continue
            test = paired_test(first.values(quantity), other.values(quantity))
            if test is not None:
                found.append(TestFinding(quantity=quantity, one=first.arm, other=other.arm, test=test))
    adjusted = adjust([one.test.permutation for one in found])
    return tuple(replace(one, adjusted=value) for one, value in zip(found, adjusted, strict=True))


def _on_common_seeds(one: ArmFinding, other: ArmFinding) -> list[RunRecord]:
    common = {record.seed for record in one.records} & {record.seed for record in other.records}
    return [record for record in (*one.records, *other.records) if record.seed in common]


def find_votes(records: Iterable[RunRecord]) -> tuple[VotingFinding, ...]:
    """Agreement of all judges, then of each model's if there are several. Each pool of each run is a subject."""
    pools = [pool for record in records for pool in record.pools if pool.votes]
    models = sorted({vote.call.model for pool in pools for vote in pool.votes if vote.call is not None})
    found = []
    for model in ["", *(models if len(models) > 1 else [])]:
        ballots, abstentions = [], 0
        for pool in pools:
            votes = [vote for vote in pool.votes if not model or (vote.call is not None and vote.call.model == model)]
            ballots.append([vote.choice for vote in votes if vote.choice is not None])
            abstentions += sum(vote.choice is None for vote in votes)
        count = sum(map(len, ballots)) + abstentions
        if count:
            found.append(
                VotingFinding(
                    model=model, votes=count, abstentions=abstentions, agreement=agreement(ballots),
                    kappa=fleiss_kappa(ballots),
                )
            )
    return tuple(found)
