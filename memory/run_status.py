"""The status of a run: a value of constant size, updated fact by fact. Every display and report uses it.

Times are seconds since the epoch: of the log's entries, or given by the caller for live facts.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..core.events import (
    CandidateScored,
    ConstantsTried,
    Criticised,
    DuplicateFound,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EnvironmentRemembered,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorMoved,
    Fact,
    FinalMeasured,
    GateDecided,
    HintGiven,
    IslandsChanged,
    ProposalFailed,
    ReplayDiffered,
    RobustMeasured,
    RolledAhead,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SaturationChecked,
    SpeculationEnded,
    StageEntered,
    ToolAnswered,
    TurnTaken,
    TwinTried,
    VoteCast,
)
from ..core.faults import Fault, FaultKind, is_stopped
from ..core.methods import RecordedSettings, branches_of, candidates_expected, final_measures, tuning_episodes
from ..core.order_ids import FINAL, parse
from ..core.returns import return_of
from ..core.text import credible
from ..core.values import JSON, Episode
from .saved_episodes import SavedEpisodes
from .spending import Spending, SpendingTally

ENOUGH_TO_JUDGE = 3       # candidates before an estimate of their rate is shown


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
    """The number of failures of one kind in one place. `where` is "proposal", "episode", "evaluator" (an
    evaluator on T_0) or "score" (E* on a later episode)."""

    where: str
    kind: FaultKind
    count: int
    example: str  # the first message
    order: str | None  # the order of that message


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUse:
    """What a node of a cluster has done: episodes, and how long they took together, in seconds."""

    episodes: int = 0
    wall_s: float = 0.0


@dataclass(slots=True, kw_only=True)
class RunStatus:
    """The summary of a run. Unknown values are None; `apply` adds a fact, `copy` returns an independent value.

    `status` is "new", "running", "paused", "stopped" (by the user), "budget", "failed" or "done"; `state_of` combines
    it with the lock into a word for display. `why` is the sentence on its end, where nobody asked for that.
    `generation` counts the finished generations.
    """

    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()       # the layers that were active all the time
    status: str = "new"
    why: str = ""
    stage: str = ""
    began: float | None = None          # when the first fact was committed
    last: float | None = None           # when the last fact was committed
    active_s: float = 0.0               # until `last`, without pauses and without the time when no controller ran
    rate_since: float | None = None     # time and number of candidates from which the rate is measured
    rate_from: int = 0
    tuning_from: int = 0                # episodes of tuning at that time
    first_elite: EliteChanged | None = None     # p_0
    elite_before: EliteChanged | None = None
    elite: EliteChanged | None = None
    islands: IslandsChanged | None = None   # the elites of islands, where there are several
    final: FinalMeasured | None = None  # on held-out seeds
    robust: tuple[RobustMeasured, ...] = ()     # on the same seeds under changed conditions
    candidates: int = 0                 # spent slots: finished candidates, whatever the result
    failed: int = 0                     # of these, those that failed as a whole; not those that the gate stopped
    duplicates: int = 0                 # candidates whose program was known
    speculative: int = 0                # climbs proposed before the verdict that they assumed
    speculative_kept: int = 0           # of these, those with the right assumption
    ahead: int = 0                      # episodes that idle workers rolled out before they were ordered
    ahead_used: int = 0                 # of these, those that were ordered
    ahead_s: float = 0.0                # the time of workers that all of them took, and those that were given up
    ahead_unused_s: float = 0.0         # of this, for what was not used
    episodes: int = 0                   # of any stage, practice among them
    search_episodes: int = 0            # of p_0, the search and its confirmations, which a budget of episodes counts
    practice: int = 0                   # of these, in which drafts were tried
    practice_cpu_s: float = 0.0         # CPU time of drafts in practice and of code that computes
    turns: int = 0                      # replies in conversations before the submission
    confirmations: int = 0              # comparisons of a candidate with the elite on fresh episodes
    chosen: EliteChosen | None = None   # the result of the final choice
    joined: int = 0                     # fresh starts that became episodes of the search
    refuted: int = 0                    # of these, those in which the elite stayed: the order was another one
    tuning_episodes: int = 0            # of the search's, those on which constants were tried
    gate_episodes: int = 0              # on the cheap twin; in no other count of episodes
    gate_stopped: int = 0               # candidates that did not pass there
    episode_wall_s: float = 0.0         # of all episodes together
    nodes: dict[str, NodeUse] = field(default_factory=dict)     # of a cluster, by name; empty on one machine
    unusable: int = 0                   # replies without a usable program
    evaluators: int = 0                 # finished evaluator generations
    votes: int = 0
    version: int = 1                    # of the evaluator in use; F of different versions cannot be compared
    moves: int = 0                      # successors that were tried
    hints: int = 0                      # that a person gave
    critiques: int = 0                  # what a critic said about episodes
    remembers: str = ""                 # that the environment keeps something of earlier episodes, in a sentence
    rolls_alone: bool = False           # so that every rollout has a process of its own
    early: frozenset[str] = frozenset()     # the first and the last elite by then, whose rollouts had not
    returns: tuple[float, float] | None = None  # the least and the greatest of an episode
    succeeded: int = 0                  # episodes
    replay_differs: str | None = None   # in a replay by order: the first order whose prompt was not the recorded one
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
        """The current generation of the search; 0 before the search, the last generation after it."""
        if self.elite is None:
            return 0
        return min(self.elite.generation + 1, self.number("generations") or self.elite.generation + 1)

    @property
    def candidates_expected(self) -> int:
        """The slots of the whole search; 0 if the settings are not known yet."""
        return candidates_expected(self.settings)

    @property
    def episodes_saved(self) -> int:
        """Episodes of the search that did not have to be rolled out."""
        return self._saved.total()

    @property
    def saved_by_duplicates(self) -> int:
        """The saved episodes of already known programs; racing saved the others."""
        return self._saved.by_duplicates()

    def number(self, key: str) -> int:
        """An integer setting; 0 if it is not known."""
        value = self.settings.get(key)
        return value if isinstance(value, int) else 0

    def copy(self) -> "RunStatus":
        """A copy of the current status, which later facts do not change."""
        other = copy(self)
        other.failures, other.nodes = dict(self.failures), dict(self.nodes)
        other._tally, other._saved = self._tally.copy(), self._saved.copy()
        return other

    # --------------------------------------------------------------------------------------- growing

    def apply(self, fact: Fact, at: float) -> None:
        """Add a fact that was committed at this time."""
        self._pass_time(fact, at)
        self._tally.apply(fact)
        match fact:
            case EpisodeEnded():
                self._end_episode(fact)
            case ConstantsTried():
                self.episodes += len(fact.fitnesses)
                self.search_episodes += len(fact.fitnesses)
                self.tuning_episodes += len(fact.fitnesses)
                self.episode_wall_s += fact.wall_s
            case EpisodeScored():
                self._count("score", fact.score.fault, fact.order)
            case ToolAnswered():
                self.practice_cpu_s += fact.cpu_s
                if fact.episode is not None:
                    self.practice += 1
                    self._add_episode(fact.order, fact.episode)
            case Criticised():
                self.critiques += bool(fact.words)
            case VoteCast():
                self.votes += 1
            case TurnTaken():
                self.turns += 1
            case ProposalFailed():
                self.unusable += 1
                self._count("proposal", fact.fault, fact.order)
            case CandidateScored():
                self.candidates += 1
                self.failed += fact.candidate.fault is not None and not is_stopped(fact.candidate.fault)
            case TwinTried():
                self.gate_episodes += 1
            case GateDecided():
                self.gate_stopped += not fact.passed
            case EvaluatorExamined():
                self._count("evaluator", fact.examination.fault, fact.order)
            case DuplicateFound():
                self.duplicates += 1
            case SpeculationEnded():
                self.speculative += 1
                self.speculative_kept += fact.kept
            case RolledAhead():
                self.ahead += fact.episodes
                self.ahead_used += fact.used
                self.ahead_s += fact.worker_s
                self.ahead_unused_s += fact.worker_s - fact.used_s
            case EliteConfirmed():
                self.confirmations += 1
                self.refuted += not fact.confirmed
            case SaturationChecked(joined=joined) if joined and self.elite is not None:
                self.elite = replace(self.elite, fitness=fact.fitness, success_rate=fact.success_rate)
                self.joined += len(joined)
            case EliteChosen():
                self.chosen = fact
            case EliteChanged():
                self._change_elite(fact)
            case IslandsChanged():
                self.islands = fact
            case EvaluatorChosen():
                self.evaluators += 1
            case RobustMeasured():
                self.robust = (*self.robust, fact)
            case EvaluatorMoved():
                self._move_evaluator(fact)
            case FinalMeasured():
                self.final = fact
            case HintGiven():
                self.hints += 1
            case EnvironmentRemembered():
                self.remembers, self.rolls_alone = fact.text, fact.alone
                if fact.before and fact.alone:
                    self.early = frozenset(each.candidate for each in (self.first_elite, self.elite) if each)
            case ReplayDiffered() if self.replay_differs is None:
                self.replay_differs = fact.asked
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
        """Update status, stage and layers. Every interruption of the search restarts the measurement of the rate."""
        match fact:
            case RunPaused():
                self.status = "paused"
                return
            case RunStopped():
                self.status, self.why = fact.reason, fact.why
                return
            case StageEntered():
                self.stage = fact.stage
            case RunStarted():
                self.settings = RecordedSettings(fact.settings, fact.branches)
                self.versions, self.sandbox = fact.versions, fact.sandbox
            case RunResumed():
                if fact.sandbox is not None:
                    self.sandbox = tuple(layer for layer in self.sandbox if layer in fact.sandbox)
                if fact.model:      # both answered: such a run is compared with none that one of them made
                    both = {**self.settings, "model": f"{self.settings.get('model', '')},{fact.model}"}
                    self.settings = RecordedSettings(both, branches_of(self.settings))
        self.status, self.why = "done" if self.stage == "done" else "running", ""
        self.rate_since, self.rate_from, self.tuning_from = at, self.candidates, self.tuning_episodes

    def _add_episode(self, order: str | None, episode: Episode) -> None:
        self.episodes += 1
        self.search_episodes += parse(order or "").stage != FINAL
        self.episode_wall_s += episode.wall_s
        self.succeeded += episode.success
        total = return_of(episode)
        if total is not None:
            least, most = self.returns or (total, total)
            self.returns = min(least, total), max(most, total)
        node = episode.notes.node
        if node is not None:
            use = self.nodes.get(node, NodeUse())
            self.nodes[node] = NodeUse(episodes=use.episodes + 1, wall_s=use.wall_s + episode.wall_s)

    def _end_episode(self, fact: EpisodeEnded) -> None:
        self._add_episode(fact.order, fact.episode)
        self._count("episode", fact.episode.fault, fact.order)

    def _change_elite(self, fact: EliteChanged) -> None:
        self.elite_before, self.elite = self.elite, fact
        if fact.generation == 0:
            self.first_elite = fact

    def _move_evaluator(self, fact: EvaluatorMoved) -> None:
        """If the successor took over, p_0 and the elite have their F from it."""
        self.moves += 1
        self.version = fact.version
        known = dict(zip(fact.candidates, fact.fitnesses, strict=False))

        def again(elite: EliteChanged | None) -> EliteChanged | None:
            if elite is None or elite.candidate not in known:
                return elite
            return replace(elite, fitness=known[elite.candidate], version=fact.version)

        self.elite, self.first_elite = again(self.elite), again(self.first_elite)

    def _count(self, where: str, fault: Fault | None, order: str | None) -> None:
        if fault is None:
            return
        new = FailureCount(where=where, kind=fault.kind, count=0, example=fault.message, order=order)
        known = self.failures.get((where, fault.kind), new)
        self.failures[where, fault.kind] = replace(known, count=known.count + 1)


def status_of(entries: Iterable[Dated]) -> RunStatus:
    """The status after all these facts."""
    status = RunStatus()
    for entry in entries:
        status.apply(entry.fact, entry.at)
    return status


def state_of(status: str, *, live: bool, reading: bool = False) -> str:
    """The state of a run for display. A run with the status "running" that no process writes was killed.

    `reading`: its log is not yet read to its end, so the state is not yet certain.
    """
    if not live and status in ("new", "running", "paused"):
        return "starting" if reading else "killed"
    return "out of budget" if status == "budget" else status


def list_failures(status: RunStatus) -> list[FailureCount]:
    """The failures of programs, the most frequent first."""
    return sorted(status.failures.values(), key=lambda row: -row.count)


def elapsed_s(status: RunStatus, *, live: bool, now: float) -> float:
    """The active time of the run in seconds, up to now if a controller works on it."""
    working = live and status.status == "running" and status.last is not None
    return status.active_s + (max(0.0, now - status.last) if working and status.last is not None else 0.0)


def held_out_episodes(status: RunStatus) -> int:
    """The episodes of the final measure at most: fewer if p_0 is the elite."""
    return 2 * status.number("final_episodes") * final_measures(status.settings)


def time_left_s(status: RunStatus, *, now: float) -> float | None:
    """Estimated seconds until the end of the search and the final measure; None if there is no estimate.

    The rate is that of the search itself: the earlier stages do not predict it. It is that of candidates, since a model
    that thinks takes most of the time, or that of episodes with those of tuning, whichever leaves more time.
    """
    done = status.candidates - status.rate_from
    if status.stage != "search" or status.status != "running" or status.rate_since is None:
        return None
    if done < ENOUGH_TO_JUDGE or not status.episodes:
        return None
    remaining = max(0, status.candidates_expected - status.candidates)
    each, tried = max(1, status.number("n_roll")), status.tuning_episodes
    rolled = done * each + tried - status.tuning_from
    to_roll = remaining * each + max(0, tuning_episodes(status.settings) - tried)
    measured_s = now - status.rate_since
    search_s = measured_s * max(remaining / done, to_roll / rolled)
    episode_s = status.episode_wall_s / status.episodes
    at_once = max(1, status.number("workers"), len(status.nodes))
    final_s = held_out_episodes(status) * episode_s / at_once
    return credible(search_s + final_s, measured_s=measured_s)
