"""The view of a run, folded from its facts. Pure: fold(view, entries) -> view.

Folding in pieces gives what folding at once gives, so a live run and a finished one look the same. Texts
(programs, prompts, replies) are never looked at: they are read when somebody opens the candidate.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ...core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
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
    VoteCast,
)
from ...core.order_ids import slot_of
from ...core.values import JSON, Fault, Operator
from ...memory.spending import Spending, add_all_calls, calls_of, role_of
from .view import CallLine, Point, Remembered, Rolled, RunView, Slot, branch_of, owner_of

RECENT_EPISODES = 40      # of which the speed of simulation is told
_OPEN = frozenset({"proposed", "rolling"})


class Dated(Protocol):
    """A committed fact: its place in the log, and when it was committed (seconds since the epoch)."""

    @property
    def seq(self) -> int:
        """From 1."""

    @property
    def at(self) -> float:
        """Seconds since the epoch."""

    @property
    def fact(self) -> Fact:
        """What happened."""


def fold(view: RunView, entries: Iterable[Dated]) -> RunView:
    """The view once these facts are known too. `view` itself stays as it is."""
    draft = _Draft(view)
    for entry in entries:
        draft.take(entry)
    return draft.done()


class _Draft:
    """A view being written: the same names, in containers that grow."""

    def __init__(self, view: RunView) -> None:
        for name in RunView.__slots__:
            setattr(self, name, getattr(view, name))
        self.candidates: dict[str, Slot] = dict(view.candidates)
        self.others: dict[str, Slot] = dict(view.others)
        self.written: dict[str, dict[str, Any]] = {}     # fields of slots that changed, until they are asked for
        self.asked: list[Fact] = []                      # facts that report calls
        self.faults: dict[str, int] = dict(view.faults)
        self.points: list[Point] = list(view.points)
        self.calls: list[CallLine] = list(view.calls)
        self.memory: list[Remembered] = list(view.memory)
        self.elites: list[EliteChanged] = list(view.elites)
        self.recent: list[Rolled] = list(view.recent)
        self.open: set[str] = set(view.open)

    def done(self) -> RunView:
        """The view, which nobody changes any more."""
        for key in [*self.written]:
            self._slot(key)
        self.spending = add_all_calls(self.spending, self.asked)
        fields: dict[str, Any] = {name: getattr(self, name) for name in RunView.__slots__}
        for name in ("points", "calls", "memory", "elites"):
            fields[name] = tuple(fields[name])
        fields["open"] = frozenset(self.open)
        fields["recent"] = tuple(self.recent[-RECENT_EPISODES:])
        return RunView(**fields)

    seq: int
    status: str
    stage: str
    began: float | None
    last: float | None
    active_s: float
    search_since: float | None
    search_from: int
    settled: int
    failed: int
    episodes: int
    episode_steps: int
    episode_wall_s: float
    evaluators: int
    spending: Spending
    settings: Mapping[str, JSON]
    versions: Mapping[str, str]
    sandbox: tuple[str, ...]
    branches: tuple[BranchEnded, ...]
    evaluation: tuple[Fact, ...]
    final: FinalMeasured | None

    def take(self, entry: Dated) -> None:
        """One more fact."""
        fact, at = entry.fact, entry.at
        self.seq = entry.seq
        self._time(fact, at)
        if calls_of(fact) or isinstance(fact, SpeculationEnded):
            self.asked.append(fact)
        if calls_of(fact):
            self._call(fact, at)
        match fact:
            case EpisodeEnded():
                self._episode(fact, at)
            case ProposalMade(order=str(order)):
                self._put(slot_of(order), at, state="proposed", summary=fact.summary)
                if order.startswith("g"):
                    self.open.add(slot_of(order))
            case ProposalFailed(order=str(order)):
                self._count("proposal", fact.fault)
                self._put(slot_of(order), at, state="failed", fault=fact.fault, summary=fact.summary)
            case SpeculationEnded(kept=False, slot=slot):
                if self._slot(slot).state in ("proposed", "failed"):    # it is asked for anew
                    self.candidates.pop(slot, None)
                    self.open.discard(slot)
            case DuplicateFound(candidate=key):
                self._put(key, at, same_as=fact.of)
            case CandidateScored():
                self._scored(fact, at)
            case CandidateAccepted(candidate=key):
                self._put(key, at, state="accepted", difference=fact.fitness_difference)
            case CandidateRejected(candidate=key):
                self._rejected(fact, at)
            case EliteChanged():
                self._elite(fact, at)
            case InitialChosen(order=str(order)):
                self.candidates[order] = self._slot(order)
                self.others.pop(order, None)
                self._put(order, at, state="scored", operator=Operator.INITIAL.value, place=0)
            case EvaluatorExamined(order=str(order)):
                fault = fact.examination.fault
                self._count("evaluator", fault)
                self._put(owner_of(order), at, state="failed" if fault else "scored", fault=fault)
            case VoteCast():
                self.evaluation = (*self.evaluation, fact)
                if fact.order is not None:
                    self._put(fact.order, at, state="failed" if fact.choice is None else "voted", summary=fact.reason)
            case EvaluatorPoolScored():
                self.evaluation = (*self.evaluation, fact)
            case EvaluatorChosen():
                self.evaluation = (*self.evaluation, fact)
                self.evaluators += 1
            case BranchEnded():
                self.branches = (*self.branches, fact)
            case FinalMeasured():
                self.final = fact
            case RunStarted():
                self.settings, self.versions, self.sandbox = fact.settings, fact.versions, fact.sandbox

    def _time(self, fact: Fact, at: float) -> None:
        """Status, stage and time of work; the rules are those of memory.queries."""
        if self.began is None:
            self.began = at
        if self.last is not None and not isinstance(fact, RunResumed | RunContinued):
            self.active_s += max(0.0, at - self.last)
        self.last = at
        match fact:
            case StageEntered():
                self.stage, self.status = fact.stage, "done" if fact.stage == "done" else "running"
                self.search_since, self.search_from = at, self.settled
            case RunPaused():
                self.status = "paused"
            case RunStopped():
                self.status = fact.reason
            case RunStarted() | RunResumed() | RunContinued():
                self.status = "done" if self.stage == "done" else "running"
                self.search_since, self.search_from = at, self.settled

    def _call(self, fact: Fact, at: float) -> None:
        fault = fact.fault if isinstance(fact, ProposalFailed) else None
        self.calls += [
            CallLine(at, fact.order or "", role_of(fact), call.model, call.usage, fault) for call in calls_of(fact)
        ]

    def _episode(self, fact: EpisodeEnded, at: float) -> None:
        episode = fact.episode
        self.episodes += 1
        self.episode_steps += episode.steps
        self.episode_wall_s += episode.wall_s
        self.recent.append(Rolled(at, episode.steps, episode.wall_s))
        self._count("episode", episode.fault)
        if fact.order is not None:
            fields = self._fields(owner_of(fact.order))
            if fields["state"] in _OPEN:
                fields["state"] = "rolling"
            fields["rolled"] += 1
            fields["steps"] += episode.steps
            fields["at"] = at

    def _scored(self, fact: CandidateScored, at: float) -> None:
        candidate = fact.candidate
        sound = candidate.fault is None and candidate.bound is None
        fitness = candidate.fitness if sound else None
        success = candidate.success_rate if sound else None
        self._put(
            candidate.id, at, state="failed" if candidate.fault else "scored" if sound else "cut",
            generation=candidate.generation, place=candidate.slot, operator=candidate.operator.value,
            parents=candidate.parents, summary=candidate.summary, fitness=fitness, success_rate=success,
            bound=candidate.bound, fault=candidate.fault,
        )
        self.open.discard(candidate.id)
        self.settled += 1
        self.failed += candidate.fault is not None
        elite = self.elites[-1] if self.elites else None
        self.points.append(Point(
            fitness, success, None if elite is None else elite.fitness, None if elite is None else elite.success_rate
        ))

    def _rejected(self, fact: CandidateRejected, at: float) -> None:
        old = self._slot(fact.candidate)
        state = "rejected" if old.state == "scored" else old.state      # "cut" and "failed" tell more
        self._put(fact.candidate, at, state=state, difference=fact.rejection.fitness_difference)
        self.memory.append(Remembered(old.generation, at, fact.rejection))

    def _elite(self, fact: EliteChanged, at: float) -> None:
        self.elites.append(fact)
        old = self._slot(fact.candidate)
        self._put(
            fact.candidate, at, fitness=fact.fitness, success_rate=fact.success_rate,
            elite_of=(*old.elite_of, fact.generation),
        )
        if not self.points:
            self.points.append(Point(fact.fitness, fact.success_rate, fact.fitness, fact.success_rate))
        # What was still open in the generation that is over will not be answered any more.
        for key in [*self.open]:
            if self._slot(key).generation <= fact.generation:
                self._put(key, at, state="withdrawn")
                self.open.discard(key)

    def _count(self, where: str, fault: Fault | None) -> None:
        if fault is not None:
            key = f"{where} {fault.kind.value}"
            self.faults[key] = self.faults.get(key, 0) + 1

    def _slot(self, key: str) -> Slot:
        """The slot as it is now; one that is not known has the fields that its id names."""
        fields = self.written.pop(key, None)
        where = self._where(key)
        if fields is not None:
            where[key] = Slot(**fields)
        return where.get(key) or _empty(key)

    def _fields(self, key: str) -> dict[str, Any]:
        """The slot's fields, to be changed in place. A slot changes several times in a piece of a log."""
        fields = self.written.get(key)
        if fields is None:
            where = self._where(key)
            slot = where.setdefault(key, _empty(key))       # keeps its place in the order of arrival
            fields = self.written[key] = {name: getattr(slot, name) for name in Slot.__slots__}
        return fields

    def _put(self, key: str, at: float, **fields: Any) -> None:
        self._fields(key).update(fields, at=at)

    def _where(self, key: str) -> dict[str, Slot]:
        apart = key.startswith(("init/", "eval/", "final/")) and key not in self.candidates
        return self.others if apart else self.candidates


def _empty(key: str) -> Slot:
    generation, branch, place = branch_of(key)
    return Slot(id=key, generation=generation, branch=branch, place=place)
