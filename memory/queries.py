"""Questions about a run, answered by folding over its facts: pure, so they serve a live run and a finished one.

Every function takes the facts so far, in order, and any prefix of a run gives a sensible answer.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorExamined,
    Fact,
    FinalMeasured,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SpeculationEnded,
    StageEntered,
)
from ..core.values import JSON, Fault, FaultKind, Operator, Program, Rejection
from .spending import Spending, add_calls, calls_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run at a glance. What is not known yet is None.

    `status` is "new", "running", "paused", "stopped" (by a person), "budget" or "done". A run whose facts
    say "running" and which no living process writes was killed; only the lock tells.
    """

    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()
    status: str = "new"
    stage: str | None = None
    generations: int = 0  # finished ones
    elite: str | None = None
    fitness: float | None = None  # F of the elite, under the run's own evaluator
    success: float | None = None  # S of the elite, on the search seeds
    initial_fitness: float | None = None  # F of p_0
    initial_success: float | None = None
    final: FinalMeasured | None = None  # on unseen seeds
    candidates: int = 0  # slots spent
    failed: int = 0  # of these, candidates that failed as a whole
    episodes_run: int = 0  # of any stage
    episodes_saved: int = 0  # of the search: known without being run
    saved_by_duplicates: int = 0  # of these, the episodes of programs that were known; racing saved the others
    duplicates: int = 0  # candidates whose program was known
    asked_ahead: int = 0  # climbs that were asked for before the verdict that they presumed
    kept_ahead: int = 0  # of these, the ones whose verdict was the presumed one
    spending: Spending = Spending()


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One evaluated candidate. `fitness` and `success_rate` are None where it failed as a whole or was cut."""

    id: str
    operator: Operator
    generation: int
    slot: int
    parents: tuple[str, ...]
    summary: str
    program: Program
    fitness: float | None
    success_rate: float | None
    metrics: Mapping[str, JSON] = field(default_factory=dict)
    fault: Fault | None = None
    bound: float | None = None  # of a candidate that racing cut: its F is at most this
    duplicate_of: str | None = None  # the candidate of the same program, whose episodes it has
    episodes: int = 0  # that were rolled out for it
    accepted: bool | None = None  # by the hill-climb chain; None in the other branches
    elite_of: tuple[int, ...] = ()  # the generations whose elite it was


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRow:
    """One point of the curve: the elite C_g, where it came from and how the generation's slots went."""

    generation: int
    elite: str
    origin: Operator
    fitness: float
    success_rate: float
    changed: bool
    branches: tuple[BranchEnded, ...] = ()
    candidates: int = 0
    failed: int = 0
    accepted: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """How often programs of one kind failed in one way. `where` is "proposal", "episode", "evaluator" (an
    evaluator on T_0) or "score" (E* on a later episode)."""

    where: str
    kind: FaultKind
    count: int
    example: str  # the first message
    order: str | None  # and where it was


def summarise(facts: Iterable[Fact]) -> Summary:
    """The run at a glance."""
    view = Summary()
    roll, saving = Counter[str](), _Saving()
    for fact in facts:
        view = _follow_status(view, fact)
        saving.see(fact)
        match fact:
            case RunStarted():
                view = replace(view, settings=fact.settings, versions=fact.versions, sandbox=fact.sandbox)
            case RunResumed(sandbox=tuple(layers)):
                view = replace(view, sandbox=tuple(layer for layer in view.sandbox if layer in layers))
            case EliteChanged():
                view = replace(
                    view,
                    generations=max(view.generations, fact.generation),
                    elite=fact.candidate,
                    fitness=fact.fitness,
                    success=fact.success_rate,
                )
                if fact.generation == 0:
                    view = replace(view, initial_fitness=fact.fitness, initial_success=fact.success_rate)
            case CandidateScored():
                roll["candidates"] += 1
                roll["failed"] += fact.candidate.fault is not None
            case EpisodeEnded():
                roll["episodes_run"] += 1
            case DuplicateFound():
                roll["duplicates"] += 1
            case SpeculationEnded():
                roll["asked_ahead"] += 1
                roll["kept_ahead"] += fact.kept
            case FinalMeasured():
                view = replace(view, final=fact)
        if calls_of(fact) or isinstance(fact, SpeculationEnded):
            view = replace(view, spending=add_calls(view.spending, fact))
    return replace(
        view,
        candidates=roll["candidates"],
        failed=roll["failed"],
        episodes_run=roll["episodes_run"],
        episodes_saved=saving.episodes(),
        saved_by_duplicates=saving.episodes(duplicates_only=True),
        duplicates=roll["duplicates"],
        asked_ahead=roll["asked_ahead"],
        kept_ahead=roll["kept_ahead"],
    )


def _follow_status(view: Summary, fact: Fact) -> Summary:
    match fact:
        case StageEntered():
            return replace(view, stage=fact.stage, status="done" if fact.stage == "done" else "running")
        case RunPaused():
            return replace(view, status="paused")
        case RunStopped():
            return replace(view, status=fact.reason)
        case RunStarted() | RunResumed() | RunContinued():
            return replace(view, status="done" if view.stage == "done" else "running")
    return view


class _Saving:
    """Counts the episodes that candidates were spared: those of T_0 less those that were run for them."""

    def __init__(self) -> None:
        self._proposed: set[str | None] = set()
        self._scored: list[str] = []
        self._ran: Counter[str] = Counter()
        self._full: str | None = None
        self._ahead: dict[str, str | None] = {}
        self._duplicates: set[str] = set()

    def see(self, fact: Fact) -> None:
        match fact:
            case ProposalMade():
                self._proposed.add(fact.order)
            case EpisodeEnded():
                self._ran[owner_of(fact)] += 1
            case InitialChosen():
                self._full = fact.order
            case CandidateScored():
                self._scored.append(fact.candidate.id)
            case SpeculationEnded(kept=True):
                self._ahead[fact.slot] = fact.order
            case DuplicateFound():
                self._duplicates.add(fact.candidate)

    def episodes(self, *, duplicates_only: bool = False) -> int:
        """A slot whose reply was no program had nothing to run, and spares nothing."""
        full = self._ran[self._full] if self._full is not None else 0
        made = [one for one in self._scored if self._ahead.get(one, one) in self._proposed]
        return sum(max(0, full - self._ran[one]) for one in made if not duplicates_only or one in self._duplicates)


def order_of_slots(facts: Iterable[Fact]) -> dict[str, str]:
    """The orders that asked for candidates where they have another id: asked for ahead, and kept. By candidate."""
    return {
        fact.slot: fact.order
        for fact in facts
        if isinstance(fact, SpeculationEnded) and fact.kept and fact.order is not None
    }


def sources_of(facts: Iterable[Fact]) -> dict[str, tuple[str, ...]]:
    """The candidates of whose rollouts a duplicate's episodes may be, the first of them first. By duplicate."""
    found: dict[str, tuple[str, ...]] = {}
    for fact in facts:
        if isinstance(fact, DuplicateFound):
            found[fact.candidate] = (*found.get(fact.of, ()), fact.of)
    return found


def list_candidates(facts: Iterable[Fact]) -> tuple[CandidateRow, ...]:
    """All candidates in the order in which they were settled, p_0 first."""
    rows: dict[str, CandidateRow] = {}
    episodes: Counter[str] = Counter()
    summaries: dict[str, str] = {}
    duplicates: dict[str, str] = {}
    for fact in facts:
        match fact:
            case EpisodeEnded():
                episodes[owner_of(fact)] += 1
            case DuplicateFound():
                duplicates[fact.candidate] = fact.of
            case ProposalMade(order=str(order)) if order.startswith("init/"):
                summaries[order] = fact.summary
            case InitialChosen(order=str(order)):
                rows[order] = CandidateRow(
                    id=order,
                    operator=Operator.INITIAL,
                    generation=0,
                    slot=0,
                    parents=(),
                    summary=summaries.get(order, ""),
                    program=fact.program,
                    fitness=None,
                    success_rate=None,
                )
            case CandidateScored():
                rows[fact.candidate.id] = _row_of(fact)
            case CandidateAccepted(candidate=key) if key in rows:
                rows[key] = replace(rows[key], accepted=True)
            case CandidateRejected(candidate=key) if key in rows:
                rows[key] = replace(rows[key], accepted=False)
            case EliteChanged(candidate=key) if key in rows:
                # C_0 is settled by becoming the first elite.
                rows[key] = replace(
                    rows[key],
                    fitness=fact.fitness,
                    success_rate=fact.success_rate,
                    elite_of=(*rows[key].elite_of, fact.generation),
                )
    return tuple(
        replace(row, episodes=episodes[row.id], duplicate_of=duplicates.get(row.id)) for row in rows.values()
    )


def _row_of(fact: CandidateScored) -> CandidateRow:
    candidate = fact.candidate
    sound = candidate.fault is None and candidate.bound is None
    return CandidateRow(
        id=candidate.id,
        operator=candidate.operator,
        generation=candidate.generation,
        slot=candidate.slot,
        parents=candidate.parents,
        summary=candidate.summary,
        program=candidate.program,
        fitness=candidate.fitness if sound else None,
        success_rate=candidate.success_rate if sound else None,
        metrics=candidate.metrics,
        fault=candidate.fault,
        bound=candidate.bound,
    )


def trace_lineage(facts: Iterable[Fact], candidate: str | None = None) -> tuple[CandidateRow, ...]:
    """A candidate and all its ancestors, parents before children; without a name, of the last elite."""
    rows = {row.id: row for row in list_candidates(facts)}
    if candidate is None:
        elites = [(max(row.elite_of), row.id) for row in rows.values() if row.elite_of]
        if not elites:
            return ()
        candidate = max(elites)[1]
    found, waiting = set[str](), [candidate]
    while waiting:
        key = waiting.pop()
        if key in rows and key not in found:
            found.add(key)
            waiting += rows[key].parents
    # Candidates are settled after their parents, so the order of the table is an order of descent.
    return tuple(row for row in rows.values() if row.id in found)


def list_generations(facts: Iterable[Fact]) -> tuple[GenerationRow, ...]:
    """The curve of the search: one row for each finished generation, generation 0 (p_0) first."""
    counts: dict[int, Counter[str]] = {}
    branches: dict[int, list[BranchEnded]] = {}
    elites: dict[int, EliteChanged] = {}
    generation_of: dict[str, int] = {}
    for fact in facts:
        match fact:
            case CandidateScored(candidate=candidate):
                generation_of[candidate.id] = candidate.generation
                count = counts.setdefault(candidate.generation, Counter())
                count["candidates"] += 1
                count["failed"] += candidate.fault is not None
            case CandidateAccepted(candidate=key) if key in generation_of:
                counts[generation_of[key]]["accepted"] += 1
            case CandidateRejected(candidate=key) if key in generation_of:
                counts[generation_of[key]]["rejected"] += 1
            case BranchEnded():
                branches.setdefault(fact.generation, []).append(fact)
            case EliteChanged():
                elites[fact.generation] = fact
    return tuple(
        _generation(elite, branches.get(number, ()), counts.get(number, Counter()))
        for number, elite in sorted(elites.items())
    )


def _generation(elite: EliteChanged, branches: Iterable[BranchEnded], count: Counter[str]) -> GenerationRow:
    return GenerationRow(
        generation=elite.generation,
        elite=elite.candidate,
        origin=elite.origin,
        fitness=elite.fitness,
        success_rate=elite.success_rate,
        changed=elite.changed,
        branches=tuple(branches),
        candidates=count["candidates"],
        failed=count["failed"],
        accepted=count["accepted"],
        rejected=count["rejected"],
    )


def list_rejections(facts: Iterable[Fact]) -> dict[int, tuple[Rejection, ...]]:
    """The rejection memory H of each generation's hill-climb chain, oldest first."""
    generation_of: dict[str, int] = {}
    memory: dict[int, tuple[Rejection, ...]] = {}
    for fact in facts:
        match fact:
            case CandidateScored():
                generation_of[fact.candidate.id] = fact.candidate.generation
            case CandidateRejected(candidate=key) if key in generation_of:
                generation = generation_of[key]
                memory[generation] = (*memory.get(generation, ()), fact.rejection)
    return memory


def count_failures(facts: Iterable[Fact]) -> tuple[FailureCount, ...]:
    """How programs failed, the most frequent first."""
    found: dict[tuple[str, FaultKind], FailureCount] = {}
    for fact in facts:
        where, fault = _fault_of(fact)
        if fault is None:
            continue
        new = FailureCount(where=where, kind=fault.kind, count=0, example=fault.message, order=fact.order)
        row = found.get((where, fault.kind), new)
        found[where, fault.kind] = replace(row, count=row.count + 1)
    return tuple(sorted(found.values(), key=lambda row: -row.count))


class ActiveSeconds:
    """How long a run was worked on, fact by fact: without pauses and without the time before a RunResumed, when no
    controller lived (what a killed one did after its last commit is lost)."""

    def __init__(self) -> None:
        self.total_s = 0.0
        self._last: float | None = None

    def apply(self, at: float, fact: Fact) -> None:
        """Take in the next fact, committed at `at` seconds since the epoch."""
        if self._last is not None and not isinstance(fact, RunResumed | RunContinued):
            self.total_s += max(0.0, at - self._last)
        self._last = at


def active_seconds(dated: Iterable[tuple[float, Fact]]) -> float:
    """How long the run was worked on, from (time of commit, fact)."""
    active = ActiveSeconds()
    for at, fact in dated:
        active.apply(at, fact)
    return active.total_s


def _fault_of(fact: Fact) -> tuple[str, Fault | None]:
    match fact:
        case ProposalFailed():
            return "proposal", fact.fault
        case EpisodeEnded():
            return "episode", fact.episode.fault
        case EvaluatorExamined():
            return "evaluator", fact.examination.fault
        case EpisodeScored():
            return "score", fact.score.fault
    return "", None


def owner_of(fact: EpisodeEnded) -> str:
    """The candidate that an episode was rolled out for: g1/macro/7 of order g1/macro/7/e3."""
    return (fact.order or "").rpartition("/")[0]
