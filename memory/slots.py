"""The outcome of every order of a run: one `Slot` per candidate, evaluator and vote, and lists of them.

`Slots` grows fact by fact and keeps everything, as `memento watch` and `memento show` need it. To bound the memory,
call `forget` at the end of a generation. Texts (programs, prompts, replies) are never read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..core.call_times import cpu_s
from ..core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    ConstantsTried,
    DuplicateFound,
    EliteChanged,
    EnvironmentRemembered,
    EpisodeEnded,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorHardened,
    EvaluatorMoved,
    EvaluatorPoolScored,
    Fact,
    GateDecided,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    SaturationChecked,
    SpeculationEnded,
    TuningEnded,
    VoteCast,
)
from ..core.faults import Fault, is_service_failure, is_stopped
from ..core.order_ids import EVALUATOR, FINAL, FRESH, INITIAL, SEARCH, owner_of, parse
from ..core.values import Operator, Rejection, Usage
from .quality import Seen, more_of, seen_in

RECENT_EPISODES = 40      # from which the simulation speed is computed
FIRST_EPISODES = 256      # one of each worker and more
OPEN = frozenset({"tuning", "proposed", "rolling"})
APART = frozenset({INITIAL, EVALUATOR, FINAL, *FRESH})      # stages whose orders are not candidates of the search


@dataclass(slots=True, kw_only=True)
class Slot:
    """One slot of the search's budget with its candidate, or one attempt at p_0, an evaluator or a vote.

    `state` is "tuning", "proposed", "rolling", "scored", "accepted", "rejected", "pruned", "failed", "stopped" (at
    the gate, or as a tuning without a gain), "voted" or "withdrawn"; displays add "asked". Only `Slots` changes it, and
    never one that a copy shares.
    """

    id: str
    state: str = "proposed"
    generation: int = 0
    island: int = 0                     # from 1; 0 where there is only one
    branch: str = ""                    # the middle of its id, such as "hill" of g2/hill/7
    place: int = 0
    operator: Operator | None = None
    parents: tuple[str, ...] = ()
    summary: str = ""
    fitness: float | None = None        # F; None until it is scored, and if it failed or was pruned
    version: int = 1                    # of the evaluator that F is by; `difference` is by the one of its generation
    success_rate: float | None = None   # S; also None if the task has no success predicate
    mean_return: float | None = None    # None if the task has no rewards
    bound: float | None = None          # upper bound of F, if racing pruned it
    difference: float | None = None     # F minus F of the climb's current policy
    accepted: bool | None = None        # verdict of the climb; None in other branches, and before the verdict
    fault: Fault | None = None
    same_as: str | None = None          # the candidate with the same program, whose episodes it reuses
    rolled: int = 0                     # finished episodes
    tried: int = 0                      # of a tuning: tried vectors of values
    steps: int = 0                      # their total number of steps
    wall_s: float = 0.0                 # their total duration
    walls_s: tuple[float, ...] = ()     # the duration of each
    calls_ms: tuple[float, ...] = ()    # the median CPU time of a call of the policy in each of them
    cpu_s: float = 0.0                  # the policy's CPU time in them, as in core.call_times
    p99_ms: float = 0.0                 # the longest of their 99 % values
    gate: GateDecided | None = None     # what the gate decided, with its mean on the cheap twin
    elite_of: tuple[int, ...] = ()      # the generations whose elite it was
    settled: bool = False               # p_0, or a candidate that was scored
    early: bool = False                 # rolled out before it was found that the environment remembers episodes
    at: float = 0.0                     # time of the last fact about it


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One settled candidate on the curves: its F and S (None: failed or pruned) and those of the elite at that time."""

    fitness: float | None
    success_rate: float | None
    elite_fitness: float | None
    elite_success: float | None


@dataclass(frozen=True, slots=True)
class Remembered:
    """One entry of the rejection memory, and the generation whose climb remembers it."""

    generation: int
    at: float
    rejection: Rejection


@dataclass(frozen=True, slots=True)
class CallLine:
    """One finished call of a model. `fault` is the problem with the reply, if any."""

    at: float
    order: str
    role: str
    model: str
    usage: Usage
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Rolled:
    """One rollout: its number of steps and its duration in seconds."""

    at: float
    steps: int
    wall_s: float


@dataclass(slots=True, kw_only=True)
class Slots:
    """All slots of a run. `apply` adds a fact, `copy` gives a value for other threads, `forget` bounds the memory."""

    candidates: dict[str, Slot] = field(default_factory=dict)   # of the search, p_0 first, in order of arrival
    others: dict[str, Slot] = field(default_factory=dict)       # attempts at p_0, evaluators, votes, final
    points: list[CurvePoint] = field(default_factory=list)
    elites: list[EliteChanged] = field(default_factory=list)    # one per generation, from 0, with F in force
    joined: dict[int, int] = field(default_factory=dict)        # starts that joined the search after a generation
    branches: list[BranchEnded] = field(default_factory=list)
    memory: list[Remembered] = field(default_factory=list)
    evaluation: list[Fact] = field(default_factory=list)        # pools, votes, choices: see evaluator_pools
    calls: list[CallLine] = field(default_factory=list)
    recent: list[Rolled] = field(default_factory=list)          # the last rollouts
    first_s: list[float] = field(default_factory=list)          # the duration of the first ones
    seen: dict[str, Seen] = field(default_factory=dict)         # candidates on fresh episodes
    rollout_s: float = 0.0                                      # of all rollouts together
    version: int = 1                                            # of the evaluator in use
    _open: set[str] = field(default_factory=set)                # unfinished candidates
    _own: set[str] = field(default_factory=set, compare=False)  # slots that no copy shares

    def get(self, key: str) -> Slot | None:
        """The slot with this id."""
        return self.candidates.get(key) or self.others.get(key)

    def __contains__(self, key: str) -> bool:
        return key in self.candidates or key in self.others

    def copy(self) -> "Slots":
        """All slots at this moment. Slots are shared and copied on write, so a copy only costs its lists."""
        self._own = set()
        return Slots(
            candidates=dict(self.candidates), others=dict(self.others), points=[*self.points], elites=[*self.elites],
            joined=dict(self.joined), branches=[*self.branches], memory=[*self.memory],
            evaluation=[*self.evaluation], calls=[*self.calls],
            recent=[*self.recent], first_s=[*self.first_s], seen=dict(self.seen),
            rollout_s=self.rollout_s, version=self.version, _open=set(self._open),
        )

    @property
    def comparable(self) -> list[EliteChanged]:
        """The elites with F by the evaluator in use on the search's episodes, by generation.

        There is none between a move of the evaluator and the next elite. Starts that joined made other episodes.
        """
        first = max(self.joined, default=0)
        return [elite for elite in self.elites if elite.version == self.version and elite.generation >= first]

    def forget(self, generation: int) -> None:
        """Drop the slots of this finished generation except the elite's, so that memory does not grow with the run."""
        elite = self.elites[-1].candidate if self.elites else None
        self.candidates = {
            key: slot for key, slot in self.candidates.items() if slot.generation > generation or key == elite
        }
        self.seen = {key: seen for key, seen in self.seen.items() if key == elite}
        for rows in (self.points, self.branches, self.memory, self.evaluation, self.calls):
            rows.clear()
        self._own &= {*self.candidates, *self.others}
        self._open &= self.candidates.keys()

    # --------------------------------------------------------------------------------------- growing

    def apply(self, fact: Fact, at: float) -> None:
        """Add a fact that was committed at this time (seconds since the epoch)."""
        self._record_calls(fact, at)
        for name, seen in seen_in(fact).items():
            self.seen[name] = more_of(self.seen.get(name), seen)
        match fact:
            case EpisodeEnded():
                self._end_episode(fact, at)
            case ProposalMade() | ProposalFailed():
                self._answer(fact, at)
            case ConstantsTried(order=str(order)):
                slot = self._change(owner_of(order), at)
                slot.state, slot.operator, slot.tried = "tuning", Operator.TUNE, slot.tried + 1
                slot.steps += fact.steps
                self._open.add(slot.id)
            case TuningEnded(order=str(order)):
                slot = self._change(order, at)
                slot.state, slot.summary = "proposed", fact.summary
                self._open.add(order)
            case GateDecided():
                self._change(fact.candidate, at).gate = fact
            case CandidateScored():
                self._score(fact, at)
            case CandidateAccepted():
                slot = self._change(fact.candidate, at)
                slot.state, slot.accepted, slot.difference = "accepted", True, fact.fitness_difference
            case CandidateRejected():
                self._reject(fact, at)
            case EliteChanged():
                self._change_elite(fact, at)
            case EvaluatorMoved():
                self._move_evaluator(fact)
            case SaturationChecked(joined=joined) if joined:
                self._join(fact, len(joined), at)
            case DuplicateFound():
                self._change(fact.candidate, at).same_as = fact.of
            case SpeculationEnded(kept=False):
                self._withdraw(fact.slot)
            case InitialChosen(order=str(order)):
                self._choose_initial(order, at)
            case EvaluatorExamined(order=str(order)):
                slot = self._change(owner_of(order), at)
                slot.fault = fact.examination.fault
                slot.state = "failed" if slot.fault else "scored"
            case VoteCast():
                self._vote(fact, at)
            case EvaluatorPoolScored() | EvaluatorChosen() | EvaluatorHardened():
                self.evaluation.append(fact)
            case BranchEnded():
                self.branches.append(fact)
            case EnvironmentRemembered(alone=True) if fact.before:
                for slot in [each for each in self.candidates.values() if each.rolled]:
                    self._change(slot.id, slot.at).early = True

    def _answer(self, fact: ProposalMade | ProposalFailed, at: float) -> None:
        if fact.order is None:
            return
        key = owner_of(fact.order)
        slot = self._change(key, at)
        slot.summary = fact.summary
        if isinstance(fact, ProposalFailed):
            slot.state, slot.fault = "failed", fact.fault
        else:
            slot.state = "proposed"
            if parse(key).stage == SEARCH:
                self._open.add(key)

    def _vote(self, fact: VoteCast, at: float) -> None:
        self.evaluation.append(fact)
        if fact.order is not None:
            slot = self._change(fact.order, at)
            slot.state, slot.summary = "failed" if fact.choice is None else "voted", fact.reason

    def _record_calls(self, fact: Fact, at: float) -> None:
        if not fact.interim:
            self.calls += [
                CallLine(at, fact.order or "", fact.role, call.model, call.usage, fact.reply_fault)
                for call in fact.calls
            ]

    def _end_episode(self, fact: EpisodeEnded, at: float) -> None:
        episode = fact.episode
        self.recent.append(Rolled(at, episode.steps, episode.wall_s))
        self.rollout_s += episode.wall_s
        if len(self.first_s) < FIRST_EPISODES:
            self.first_s.append(episode.wall_s)
        if len(self.recent) > RECENT_EPISODES:
            del self.recent[0]
        if fact.order is not None:
            slot = self._change(owner_of(fact.order), at)
            slot.rolled += 1
            slot.steps += episode.steps
            slot.wall_s += episode.wall_s
            slot.walls_s = (*slot.walls_s, episode.wall_s)
            times = episode.notes.times
            if times is not None:
                slot.calls_ms = (*slot.calls_ms, times.median_ms)
                slot.cpu_s += cpu_s(episode)
                slot.p99_ms = max(slot.p99_ms, times.p99_ms)
            if slot.state in OPEN:
                slot.state = "rolling"

    def _choose_initial(self, order: str, at: float) -> None:
        """Move p_0 to the candidates."""
        known = self.others.pop(order) if order in self.others else self.candidates.get(order)
        self.candidates[order] = known or new_slot(order)
        slot = self._change(order, at)
        slot.state, slot.operator, slot.settled, slot.place = "scored", Operator.INITIAL, True, 0

    def _score(self, fact: CandidateScored, at: float) -> None:
        candidate = fact.candidate
        sound = candidate.fault is None and candidate.bound is None
        slot = self._change(candidate.id, at)
        failed = "stopped" if is_stopped(candidate.fault) else "failed"
        slot.state = failed if candidate.fault else "scored" if sound else "pruned"
        slot.generation, slot.place, slot.operator = candidate.generation, candidate.slot, candidate.operator
        slot.parents, slot.summary = candidate.parents, candidate.summary
        slot.fitness = candidate.fitness if sound else None
        slot.success_rate = candidate.success_rate if sound else None
        slot.mean_return = candidate.mean_return if sound else None
        slot.version = candidate.version
        slot.bound, slot.fault, slot.settled = candidate.bound, candidate.fault, True
        self._open.discard(candidate.id)
        elite = self.elites[-1] if self.elites else None
        self.points.append(CurvePoint(
            slot.fitness, slot.success_rate, None if elite is None else elite.fitness,
            None if elite is None else elite.success_rate,
        ))

    def _reject(self, fact: CandidateRejected, at: float) -> None:
        slot = self._change(fact.candidate, at)
        if slot.state == "scored":      # "pruned", "failed" and "stopped" are more specific
            slot.state = "rejected"
        slot.accepted, slot.difference = False, fact.rejection.fitness_difference
        if not is_service_failure(slot.fault):
            self.memory.append(Remembered(slot.generation, at, fact.rejection))

    def _change_elite(self, fact: EliteChanged, at: float) -> None:
        self.elites.append(fact)
        slot = self._change(fact.candidate, at)
        slot.fitness, slot.success_rate, slot.mean_return = fact.fitness, fact.success_rate, fact.mean_return
        slot.version = fact.version
        slot.elite_of = (*slot.elite_of, fact.generation)
        if not self.points:
            self.points.append(CurvePoint(fact.fitness, fact.success_rate, fact.fitness, fact.success_rate))
        # Open slots of a finished generation will not be answered any more.
        for key in [key for key in self._open if self.candidates[key].generation <= fact.generation]:
            self._change(key, at).state = "withdrawn"
            self._open.discard(key)

    def _move_evaluator(self, fact: EvaluatorMoved) -> None:
        """If the successor took over, remembered candidates have their F from it, and the curves begin again."""
        self.evaluation.append(fact)
        if not fact.moved:
            return
        self.version = fact.version
        for name, fitness in zip(fact.candidates, fact.fitnesses, strict=False):
            slot = self.candidates.get(name)
            if slot is not None:    # else it is forgotten
                slot = self._change(name, slot.at)
                slot.fitness, slot.version = fitness, fact.version
        self.seen.clear()
        rate = self.elites[-1].success_rate if self.elites else None
        self.points[:] = [CurvePoint(fact.fitness, rate, fact.fitness, rate)]

    def _join(self, fact: SaturationChecked, starts: int, at: float) -> None:
        """Starts on which the elite fails joined the search: its F without them is withdrawn everywhere."""
        slot = self._change(fact.candidate, at)
        slot.fitness, slot.success_rate = fact.fitness, fact.success_rate
        self.joined[fact.generation] = self.joined.get(fact.generation, 0) + starts
        if self.elites and self.elites[-1].candidate == fact.candidate:
            self.elites[-1] = replace(self.elites[-1], fitness=fact.fitness, success_rate=fact.success_rate)
        self.points.append(CurvePoint(None, None, fact.fitness, fact.success_rate))

    def _withdraw(self, key: str) -> None:
        """Undo a speculative proposal whose assumption was wrong; the slot is proposed again."""
        slot = self.candidates.get(key)
        if slot is not None and slot.state in ("proposed", "failed"):
            del self.candidates[key]
            self._open.discard(key)

    def _change(self, key: str, at: float) -> Slot:
        """The slot, for changes in place: a new one if there is none, a copy if it is shared."""
        where = self._where(key)
        slot = where.get(key)
        if slot is None:
            slot = where[key] = new_slot(key)
        elif key not in self._own:
            slot = where[key] = replace(slot)
        self._own.add(key)
        slot.at = at
        return slot

    def _where(self, key: str) -> dict[str, Slot]:
        if key in self.candidates or parse(key).stage not in APART:
            return self.candidates
        return self.others


def new_slot(key: str, *, state: str = "proposed", at: float = 0.0) -> Slot:
    """A slot with only the values that its id names."""
    identity = parse(key)
    return Slot(
        id=key, state=state, generation=identity.generation, island=identity.island, branch=identity.branch,
        place=identity.slot or 0, at=at,
    )


def ancestors_of(slots: Slots, names: Iterable[str]) -> list[str]:
    """These candidates and all their ancestors, in order of arrival: parents before children."""
    candidates = slots.candidates
    found, waiting = set[str](), [*names]
    while waiting:
        key = waiting.pop()
        if key in candidates and key not in found:
            found.add(key)
            waiting += candidates[key].parents
    return [key for key in candidates if key in found]
