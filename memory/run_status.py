"""How a run stands, in a value of constant size that grows fact by fact: every display and report reads this one.

Times are seconds since the epoch: those of the log's entries, or those that the caller gives for live facts.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..core.events import (
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorExamined,
    Fact,
    FinalMeasured,
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
from ..core.methods import candidates_expected
from ..core.values import JSON, Fault, FaultKind
from .saved_episodes import SavedEpisodes
from .spending import Spending, SpendingTally

ENOUGH_TO_JUDGE = 3       # candidates before their rate is believed


class Dated(Protocol):
    """A committed fact, such as `memory.store.Entry`."""

    @property
    def at(self) -> float:
        """When it was committed, in seconds since the epoch."""

    @property
    def fact(self) -> Fact:
        """What happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCount:
    """How often programs of one kind failed in one way. `where` is "proposal", "episode", "evaluator" (an
    evaluator on T_0) or "score" (E* on a later episode)."""

    where: str
    kind: FaultKind
    count: int
    example: str  # the first message
    order: str | None  # and where it was


@dataclass(slots=True, kw_only=True)
class RunStatus:
    """A run at a glance. What is not known yet is None; `apply` adds a fact, `copy` gives a value for others.

    `status` is "new", "running", "paused", "stopped" (by a person), "budget" or "done"; `state_of` puts it
    into words together with the lock. `generation` counts the finished generations.
    """

    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()       # the layers that were live all the time
    status: str = "new"
    stage: str = ""
    began: float | None = None          # when the first fact was committed
    last: float | None = None           # when the last fact was committed
    active_s: float = 0.0               # until `last`, without pauses and without the time when no controller lived
    rate_since: float | None = None     # since when, and from how many candidates, their rate is measured
    rate_from: int = 0
    first_elite: EliteChanged | None = None     # p_0
    elite_before: EliteChanged | None = None
    elite: EliteChanged | None = None
    final: FinalMeasured | None = None  # on held-out seeds
    candidates: int = 0                 # slots spent: candidates with an end, whichever
    failed: int = 0                     # of these, those that failed as a whole
    duplicates: int = 0                 # candidates whose program was known
    speculative: int = 0                # climbs that were proposed before the verdict that they presumed
    speculative_kept: int = 0           # of these, those whose verdict was the presumed one
    episodes: int = 0                   # of any stage
    episode_steps: int = 0
    episode_wall_s: float = 0.0         # of all episodes together
    unusable: int = 0                   # replies that gave no program
    evaluators: int = 0                 # evaluator generations that ended
    votes: int = 0
    failures: dict[tuple[str, FaultKind], FailureCount] = field(default_factory=dict)
    _tally: SpendingTally = field(default_factory=SpendingTally)
    _saved: SavedEpisodes = field(default_factory=SavedEpisodes)

    # --------------------------------------------------------------------------------------- reading

    @property
    def spending(self) -> Spending:
        """All finished calls."""
        return self._tally.so_far()

    @property
    def generation(self) -> int:
        """The last generation that ended; 0 for p_0 and before."""
        return 0 if self.elite is None else self.elite.generation

    @property
    def generation_under_way(self) -> int:
        """The generation of the search that is being made; 0 before the search, the last one after it."""
        if self.elite is None:
            return 0
        return min(self.elite.generation + 1, self.number("generations") or self.elite.generation + 1)

    @property
    def candidates_expected(self) -> int:
        """The slots of the whole search; 0 where the settings are not known yet."""
        return candidates_expected(self.settings)

    @property
    def episodes_saved(self) -> int:
        """Episodes of the search that were known without being run."""
        return self._saved.total()

    @property
    def saved_by_duplicates(self) -> int:
        """Of these, the episodes of programs that were known; racing saved the others."""
        return self._saved.by_duplicates()

    def number(self, key: str) -> int:
        """A whole number of the settings; 0 where it is not known."""
        value = self.settings.get(key)
        return value if isinstance(value, int) else 0

    def copy(self) -> "RunStatus":
        """The status now, which later facts do not change."""
        other = copy(self)
        other.failures = dict(self.failures)
        other._tally, other._saved = self._tally.copy(), self._saved.copy()
        return other

    # --------------------------------------------------------------------------------------- growing

    def apply(self, fact: Fact, at: float) -> None:
        """Add a fact that was committed at this time."""
        self._pass_time(fact, at)
        match fact:
            case EpisodeEnded():
                self._end_episode(fact)
            case EpisodeScored():
                self._count("score", fact.score.fault, fact.order)
            case ProposalMade() | VoteCast():
                self._tally.apply(fact)
                self.votes += isinstance(fact, VoteCast)
            case ProposalFailed():
                self._tally.apply(fact)
                self.unusable += 1
                self._count("proposal", fact.fault, fact.order)
            case CandidateScored():
                self.candidates += 1
                self.failed += fact.candidate.fault is not None
            case EvaluatorExamined():
                self._count("evaluator", fact.examination.fault, fact.order)
            case DuplicateFound():
                self.duplicates += 1
            case SpeculationEnded():
                self._tally.apply(fact)
                self.speculative += 1
                self.speculative_kept += fact.kept
            case EliteChanged():
                self._change_elite(fact)
            case EvaluatorChosen():
                self.evaluators += 1
            case FinalMeasured():
                self.final = fact
            case RunStarted() | RunResumed() | RunPaused() | RunContinued() | RunStopped() | StageEntered():
                self._move_on(fact, at)
        self._saved.apply(fact)

    def _pass_time(self, fact: Fact, at: float) -> None:
        if self.began is None:
            self.began = at
        if self.last is not None and not isinstance(fact, RunResumed | RunContinued):
            self.active_s += max(0.0, at - self.last)
        self.last = at

    def _move_on(self, fact: Fact, at: float) -> None:
        """Status, stage and layers. Whatever interrupts the search makes the rate of candidates start again."""
        match fact:
            case RunPaused():
                self.status = "paused"
                return
            case RunStopped():
                self.status = fact.reason
                return
            case StageEntered():
                self.stage = fact.stage
            case RunStarted():
                self.settings, self.versions, self.sandbox = fact.settings, fact.versions, fact.sandbox
            case RunResumed(sandbox=tuple(layers)):
                self.sandbox = tuple(layer for layer in self.sandbox if layer in layers)
        self.status = "done" if self.stage == "done" else "running"
        self.rate_since, self.rate_from = at, self.candidates

    def _end_episode(self, fact: EpisodeEnded) -> None:
        self.episodes += 1
        self.episode_steps += fact.episode.steps
        self.episode_wall_s += fact.episode.wall_s
        self._count("episode", fact.episode.fault, fact.order)

    def _change_elite(self, fact: EliteChanged) -> None:
        self.elite_before, self.elite = self.elite, fact
        if fact.generation == 0:
            self.first_elite = fact

    def _count(self, where: str, fault: Fault | None, order: str | None) -> None:
        if fault is None:
            return
        new = FailureCount(where=where, kind=fault.kind, count=0, example=fault.message, order=order)
        known = self.failures.get((where, fault.kind), new)
        self.failures[where, fault.kind] = replace(known, count=known.count + 1)


def status_of(entries: Iterable[Dated]) -> RunStatus:
    """The status once all these facts are known."""
    status = RunStatus()
    for entry in entries:
        status.apply(entry.fact, entry.at)
    return status


def state_of(status: str, *, live: bool, reading: bool = False) -> str:
    """How a run stands, in a word. A run whose facts say "running" and which no process writes was killed.

    `reading`: its log is not yet read to its end, so that nothing is known for certain.
    """
    if not live and status in ("new", "running", "paused"):
        return "starting" if reading else "killed"
    return "out of budget" if status == "budget" else status


def list_failures(status: RunStatus) -> list[FailureCount]:
    """How programs failed, the most frequent first."""
    return sorted(status.failures.values(), key=lambda row: -row.count)


def elapsed_s(status: RunStatus, *, live: bool, now: float) -> float:
    """How long the run was worked on, up to now where a controller works on it."""
    working = live and status.status == "running" and status.last is not None
    return status.active_s + (max(0.0, now - status.last) if working and status.last is not None else 0.0)


def time_left_s(status: RunStatus, *, now: float) -> float | None:
    """How long the search and the final measure still take at the present rate; None where it cannot be estimated.

    The rate is that of the search itself: candidates take the time, and the stages before say nothing about it.
    """
    done = status.candidates - status.rate_from
    if status.stage != "search" or status.status != "running" or status.rate_since is None:
        return None
    if done < ENOUGH_TO_JUDGE or not status.episodes:
        return None
    remaining = max(0, status.candidates_expected - status.candidates)
    search_s = (now - status.rate_since) / done * remaining
    episode_s = status.episode_wall_s / status.episodes
    final_s = 2 * status.number("final_episodes") * episode_s / max(1, status.number("workers"))
    return search_s + final_s
