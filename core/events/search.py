"""The search: what its keepers conclude, the tuning of constants, and the gate before expensive episodes.

Replaying the facts of agents produces the conclusions again.
"""

from dataclasses import dataclass
from typing import ClassVar

from ..faults import Fault
from ..order_ids import episode_id
from ..values import CandidateState, EvaluatorCandidate, Operator, Program, Ranked, Rejection, TunedConstant
from .base import Fact, Order
from .proposals import ProposalFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialChosen(Fact):
    """p_0 is settled."""

    program: Program


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateScored(Fact):
    """A candidate has its F, M and S, or it failed."""

    candidate: CandidateState


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateFound(Fact):
    """A proposal is the same program as an earlier one and reuses its episodes. Its slot is spent nevertheless.

    `episodes` counts the episodes already finished; if some of `of` are still running, the rest follow when they end.
    """

    candidate: str
    of: str
    episodes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeculationEnded(Fact):
    """The verdict that a speculative proposal (requested early, under the id `order`) had to assume is known.

    `kept`: the assumption was right, so this is the proposal for `slot`; otherwise it was withdrawn.
    `answered`: the answer had already arrived. The cost of a call that was withdrawn unanswered is unknown.
    """

    replayed: ClassVar[bool] = True

    slot: str
    kept: bool
    answered: bool

    @property
    def withdraws_call(self) -> bool:
        """Whether the call of the speculative proposal was withdrawn before its answer."""
        return not self.kept and not self.answered


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationChanged(Fact):
    """The islands after a generation of a method with a population: candidates per island, and the reset islands."""

    generation: int
    islands: tuple[tuple[str, ...], ...]
    reset: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IslandsChanged(Fact):
    """The islands of memento after a generation, the first island first: the elite of each, its F, and its slots.

    The best of these elites is the elite of the run, as EliteChanged says.
    """

    generation: int
    elites: tuple[str, ...]
    fitnesses: tuple[float, ...]
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated(Fact):
    """The elite of the island `source` is a parent of the crossovers of the island `target` in this generation.

    Nothing else of its island comes along; islands are numbered from 1.
    """

    generation: int
    candidate: str
    source: int
    target: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateAccepted(Fact):
    """The hill-climb chain continues from this candidate: F(new) >= F(current)."""

    candidate: str
    fitness: float
    fitness_difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRejected(Fact):
    """The hill-climb chain rejected this candidate; its edit joined the rejection memory, unless the service failed."""

    candidate: str
    rejection: Rejection


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchEnded(Fact):
    """All slots of a branch are spent. `winner` is None if every candidate failed."""

    generation: int
    operator: Operator
    winner: str | None
    fitness: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EliteConfirmed(Fact):
    """The best of generation g and the elite before it on fresh episodes with common seeds: one of them is C_g.

    The fitnesses are the mean f_e over these episodes. `confirmed`: the candidate is the new elite; otherwise the old
    one stays, although the candidate was at least as fit on the search's episodes. `chance` is the p-value of the
    paired test that decided (search/meetings/paired.py), 1 where no pair differed; None with fewer than five pairs.
    Where the best did not win, a second such fact of the generation may be of the next one.
    """

    generation: int
    candidate: str
    elite: str
    episodes: int
    candidate_fitness: float
    elite_fitness: float
    confirmed: bool
    chance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EliteChosen(Fact):
    """The best programs of the run met on fresh episodes after the last generation: `candidate` is its result.

    `elite` was the elite before. `ranking` has all that met, the chosen one first.
    """

    generation: int
    candidate: str
    elite: str
    ranking: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationChecked(Fact):
    """An elite with f_e = 1 in every episode of the search was rolled out on fresh starts.

    `joined` are the numbers, in the environment, of the starts on which it is not perfect: they are episodes of the
    search from now on, and `fitness` and `success_rate` are those with them. Without any the search ends: nothing is
    left to gain.
    """

    generation: int
    candidate: str
    episodes: int
    joined: tuple[int, ...]
    fitness: float
    success_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EliteChanged(Fact):
    """The elite C_g of generation g; generation 0 is p_0. `origin` is the branch it came from."""

    replayed: ClassVar[bool] = True

    generation: int
    candidate: str
    origin: Operator
    fitness: float
    success_rate: float | None  # None if the task has no success predicate
    changed: bool = True  # False: the old elite stays
    mean_return: float | None = None  # as in Candidate
    version: int = 1  # of the evaluator that F is by


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveChanged(Fact):
    """The candidates of a search whose evaluator moves that it remembers after a generation: it needs their recordings.

    Recordings of T are drawn from theirs, and another evaluator scores them again without a rollout.
    """

    generation: int
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorMoved(Fact):
    """The successor of the evaluator after generation g was tried on all recordings: with `moved` it takes its place.

    `version` is that of the evaluator in use from now on, `chosen` the successor, `reason` why it was refused, "" if it
    was not. Of the `pairs` of recordings of certain order, `wrong_before` were ranked wrongly by the evaluator in use
    and `wrong_after` by the successor; of the `compared` pairs of candidates of different success `against_before` and
    `against_after` had the less successful one at least as fit. `recordings` were scored again. With `moved`,
    `candidates` have the `fitnesses` under the successor, and `fitness` is that of the elite; F of different versions
    cannot be compared.
    """

    generation: int
    version: int
    moved: bool
    chosen: EvaluatorCandidate
    reason: str = ""
    pairs: int = 0
    wrong_before: int = 0
    wrong_after: int = 0
    compared: int = 0
    against_before: int = 0
    against_after: int = 0
    recordings: int = 0
    elite: str = ""
    fitness: float | None = None
    candidates: tuple[str, ...] = ()
    fitnesses: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEnded(Fact):
    """The search's budget is spent; this is its result."""

    elite: str
    program: Program
    fitness: float
    success_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TryConstants(Order):
    """Roll a program with other constants out over some episodes and score them. Answered by ConstantsTried.

    With a `floor` the rest is left out once the mean of f_e can no longer be above it.
    """

    program: Program  # with these values
    point: tuple[float, ...]  # their positions in their ranges, each in [0, 1]
    evaluator: Program
    split: str
    seeds: tuple[int, ...]
    floor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantsTried(Fact):
    """The result of a program with other constants. Its recordings are dropped: the values follow from `point`."""

    point: tuple[float, ...]
    fitnesses: tuple[float, ...]  # f_e of each episode, in the order of the seeds
    steps: int = 0  # of all these episodes
    faults: int = 0  # episodes that a fault ended
    wall_s: float = 0.0  # for display only

    @property
    def done_with(self) -> tuple[str, ...]:
        """All its rollouts: the values follow from `point`."""
        if self.order is None:
            return ()
        return tuple(episode_id(self.order, index) for index in range(len(self.fitnesses)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningEnded(Fact):
    """The program with the best constants that a tuning tried; it is evaluated as every candidate is.

    `before` and `fitness` are the means of f_e over the same episodes, which are fewer than a candidate's.
    """

    program: Program
    summary: str
    constants: tuple[TunedConstant, ...]
    tried: int  # how many vectors of values
    episodes: int  # of all of them
    before: float
    fitness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOnTwin(Order):
    """Roll one episode out on the cheap twin and score it. Answered by TwinTried."""

    program: Program
    evaluator: Program
    split: str
    index: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinTried(Fact):
    """The result of one episode on the cheap twin. Its recording is dropped."""

    fitness: float | None  # f_e; None if the evaluator failed on it
    steps: int
    ended_by: str
    fault: Fault | None = None  # of the policy: then f_e is 0
    wall_s: float = 0.0  # for display only

    @property
    def done_with(self) -> tuple[str, ...]:
        """Its rollout."""
        return () if self.order is None else (self.order,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalStopped(ProposalFailed):
    """A proposal that the gate stopped: a failed one, but with a program. Only keepers pass it on; no log has it."""

    program: Program
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecided(Fact):
    """Whether a candidate goes on to the expensive episodes.

    `audited`: it is stopped, and rolled out in full nevertheless, to find out how often the gate is wrong. Fitnesses
    are means of f_e over the episodes on the twin, which have common seeds; None without a score.
    """

    candidate: str
    passed: bool
    audited: bool
    fitness: float | None
    parents: tuple[str, ...]
    parent_fitnesses: tuple[float | None, ...]
    reason: str = ""  # why it is stopped

    @property
    def line_begins(self) -> str | None:
        """With the candidate, if the gate stopped it and it is rolled out as a check; a later line covers others."""
        return self.candidate if self.audited and not self.passed else None
