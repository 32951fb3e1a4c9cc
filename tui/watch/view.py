"""All that a watcher sees of a run, folded from its facts. Pure: fold(view, entries) -> view.

Folding in pieces gives what folding at once gives, so a live run and a finished one look the same. Texts
(programs, prompts, replies) are never looked at: they are read when somebody opens the candidate.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    slot_of,
)
from ...core.values import JSON, Fault, Operator, Rejection, Usage
from ...memory.spending import RoleSpending, Spending, calls_of, role_of
from ..branches import branches_of
from ..view import ENOUGH_TO_JUDGE

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place of the search's budget and the candidate in it, or one try at p_0, an evaluator or a vote.

    `state` is "proposed", "rolling", "scored", "accepted", "rejected", "cut", "failed", "voted" or
    "withdrawn". `branch` is the middle of its id: "hill" of g2/hill/7, whatever a method calls it.
    """

    id: str
    state: str = "proposed"
    generation: int = 0
    branch: str = ""
    place: int = 0
    operator: str = ""
    parents: tuple[str, ...] = ()
    summary: str = ""
    fitness: float | None = None        # F; None until it is scored, and where it failed or was cut
    success_rate: float | None = None   # S
    bound: float | None = None          # of one that racing cut: F is at most this
    difference: float | None = None     # F less that of the climb's policy
    fault: Fault | None = None
    same_as: str | None = None          # the candidate of the same program, whose episodes it has
    rolled: int = 0                     # episodes that ended
    steps: int = 0                      # of these together
    elite_of: tuple[int, ...] = ()      # the generations whose elite it was
    at: float = 0.0                     # of the last fact about it


@dataclass(frozen=True, slots=True)
class Point:
    """One settled candidate on the curves: its F and S (None: failed or cut) and those of the elite then."""

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
    """One finished call of a model. `fault` is what was wrong with the reply, if anything."""

    at: float
    order: str
    role: str
    model: str
    usage: Usage
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Rolled:
    """One rollout: how many steps in how many seconds."""

    at: float
    steps: int
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as seen so far. Times are seconds since the epoch; nothing depends on when it is looked at."""

    seq: int = 0
    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()
    status: str = "new"                 # as in memory.queries.Summary
    stage: str = ""
    began: float | None = None
    last: float | None = None           # when the last fact was committed
    active_s: float = 0.0               # until `last`, without pauses and without the time when nobody lived
    search_since: float | None = None   # since when, and from how many candidates, their rate is measured
    search_from: int = 0
    candidates: Mapping[str, Slot] = field(default_factory=dict)     # of the search, p_0 first, as they came
    others: Mapping[str, Slot] = field(default_factory=dict)         # tries at p_0, evaluators, votes, final
    points: tuple[Point, ...] = ()
    elites: tuple[EliteChanged, ...] = ()                            # one a generation, from 0
    branches: tuple[BranchEnded, ...] = ()
    memory: tuple[Remembered, ...] = ()
    evaluation: tuple[Fact, ...] = ()   # pools, votes and choices: memory.pools.list_pools tells them
    evaluators: int = 0                 # evaluator generations that ended
    calls: tuple[CallLine, ...] = ()
    spending: Spending = Spending()
    faults: Mapping[str, int] = field(default_factory=dict)          # "episode crashed" -> how often
    final: FinalMeasured | None = None
    episodes: int = 0
    episode_steps: int = 0
    episode_wall_s: float = 0.0
    recent: tuple[Rolled, ...] = ()     # the last rollouts
    open: frozenset[str] = frozenset()  # candidates without an end
    settled: int = 0                    # candidates with an end, whichever
    failed: int = 0                     # of these, those that failed as a whole

    def number(self, key: str) -> int:
        """A whole number of the settings; 0 where it is not known."""
        value = self.settings.get(key)
        return value if isinstance(value, int) else 0

    @property
    def elite(self) -> EliteChanged | None:
        """The last elite."""
        return self.elites[-1] if self.elites else None

    @property
    def generation(self) -> int:
        """The generation of the search that is being made; 0 before the search."""
        return 0 if not self.elites else self.elites[-1].generation + 1

    @property
    def expected(self) -> int:
        """The slots of the whole search, as far as the settings tell."""
        return self.number("generations") * sum(branch.slots for branch in branches_of(self.settings))


def fold(view: RunView, entries: Iterable[Dated]) -> RunView:
    """The view once these facts are known too. `view` itself stays as it is."""
    draft = _Draft(view)
    for entry in entries:
        draft.take(entry)
    return draft.done()


def branch_of(order: str) -> tuple[int, str, int]:
    """Generation, branch and place that an id names: (2, "hill", 7) of g2/hill/7, (1, "judge", 4) of
    eval/g1/judge/4, (0, "", 3) of init/3."""
    parts = order.split("/")
    generation = next((int(part[1:]) for part in parts if part[:1] == "g" and part[1:].isdecimal()), 0)
    middle = [part for part in parts[1:-1] if not (part[:1] == "g" and part[1:].isdecimal())]
    return generation, "/".join(middle), int(parts[-1]) if parts[-1].isdecimal() else 0


def owner_of(order: str) -> str:
    """Whom an order is about: g1/macro/7 of g1/macro/7/e3, of g1/macro/7/e3/score and of g1/macro/7/ahead."""
    parts = slot_of(order).split("/")
    while len(parts) > 1 and (parts[-1] in ("score", "examine") or _is_episode(parts[-1])):
        parts.pop()
    return "/".join(parts)


def time_left_s(view: RunView, *, now: float) -> float | None:
    """How long the search and the final measure still take at the rate so far; None where it cannot be told."""
    done = view.settled - view.search_from
    if view.stage != "search" or done < ENOUGH_TO_JUDGE or not view.episodes or view.search_since is None:
        return None
    if view.status != "running":
        return None
    search_s = (now - view.search_since) / done * max(0, view.expected - view.settled)
    final_s = 2 * view.number("final_episodes") * view.episode_wall_s / view.episodes / max(1, view.number("workers"))
    return search_s + final_s


def _is_episode(part: str) -> bool:
    return part[:1] == "e" and part[1:].isdecimal()


class _Draft:
    """A view being written: the same names, in containers that grow."""

    def __init__(self, view: RunView) -> None:
        for name in RunView.__slots__:
            setattr(self, name, getattr(view, name))
        self.candidates: dict[str, Slot] = dict(view.candidates)
        self.others: dict[str, Slot] = dict(view.others)
        self.written: dict[str, dict[str, Any]] = {}     # fields of slots that changed, until they are asked for
        self.spent: list[tuple[str, int, Usage]] = []    # role, calls, usage
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
        self.spending = _with_spent(self.spending, self.spent)
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
        calls, role = calls_of(fact), role_of(fact)
        call = calls[-1]        # its usage holds that of earlier answers too
        self.spent.append((role, len(calls), call.usage))
        self.calls.append(CallLine(at, fact.order or "", role, call.model, call.usage, fault))

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


def _with_spent(spending: Spending, spent: Iterable[tuple[str, int, Usage]]) -> Spending:
    """With these (role, calls, usage) as memory.spending.add_calls adds them, all at once."""
    roles: dict[str, list[tuple[int, Usage]]] = {}
    for role, calls, usage in spent:
        roles.setdefault(role, []).append((calls, usage))
    by_role = dict(spending.by_role)
    for role, used in roles.items():
        by_role[role] = _grown(by_role.get(role, RoleSpending()), used)
    return Spending(total=_grown(spending.total, [each for used in roles.values() for each in used]), by_role=by_role)


def _grown(before: RoleSpending, used: Sequence[tuple[int, Usage]]) -> RoleSpending:
    prices = [usage.cost_usd for _, usage in used]
    known = before.cost_usd is not None and None not in prices
    return RoleSpending(
        calls=before.calls + sum(calls for calls, _ in used),
        attempts=before.attempts + sum(usage.attempts for _, usage in used),
        input_tokens=before.input_tokens + sum(usage.input_tokens for _, usage in used),
        output_tokens=before.output_tokens + sum(usage.output_tokens for _, usage in used),
        cost_usd=(before.cost_usd or 0.0) + sum(price or 0.0 for price in prices) if known else None,
        latency_s=before.latency_s + sum(usage.latency_s for _, usage in used),
    )
