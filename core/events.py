"""Orders go down, facts come up. Orders are imperative, have one addressee, and only a keeper issues them.
Facts are in the past tense, and any component may listen to them.

The module `order_ids` defines the ids of orders.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .critique import Critique
from .turns import Conversation
from .values import (
    JSON,
    Call,
    CandidateState,
    Episode,
    EvaluatorCandidate,
    Examination,
    Fault,
    Focus,
    JudgeReason,
    Operator,
    Probe,
    Program,
    PromptText,
    Rejection,
    Score,
)

# --------------------------------------------------------------------------------------------- orders


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A task that is carried out once; `id` identifies it within the run."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Propose(Order):
    """Request one policy program. Answered by ProposalMade or ProposalFailed; in a conversation also by TurnTaken."""

    operator: Operator
    generation: int
    slot: int
    parents: tuple[CandidateState, ...] = ()  # none for INITIAL, two for CROSSOVER (hill-climb's first), otherwise one
    rejections: tuple[Rejection, ...] = ()  # H, oldest first; hill-climb only
    tried: tuple[Rejection, ...] = ()  # edits of the parents and their ancestors that did not stay; full memory only
    focus: Focus | None = None  # of a macro-mutation or crossover; None for none
    elite: str = ""  # the id of C_(g-1), so that a prompt can name the parents
    fitness: str = ""  # what f_e measures under the evaluator in use, in its writer's words; "" where nothing is known
    conversation: Conversation | None = None  # None: the proposal is one answer, without tools
    critiques: tuple[Critique, ...] = ()  # of episodes of the parents
    earlier: tuple[CandidateState, ...] = ()  # of a calibration: what was tested before the parent, oldest first


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeEvaluator(Order):
    """Request one evaluator program. Answered by ProposalMade or ProposalFailed."""

    generation: int
    slot: int
    parent: EvaluatorCandidate | None  # None in generation 0
    episodes: tuple[Episode, ...]  # T_0
    success_rate: float | None  # S_0; None if the task has no success predicate
    probes: tuple[Probe, ...] = ()
    reasons: tuple[JudgeReason, ...] = ()  # of the judges who chose the parent, in the order of their seats


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordProbes(Order):
    """Put the probes of the run on record. Answered by ProbesRecorded."""

    split: str
    seed: int
    episodes: tuple[Episode, ...]  # T_0


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll(Order):
    """Roll one episode out. Answered by EpisodeEnded."""

    program: Program
    split: str  # "search" or "final": which environment of the run
    index: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEpisode(Order):
    """Score one recorded episode. Answered by EpisodeScored."""

    evaluator: Program
    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Examine(Order):
    """Apply an evaluator candidate to T_0 and to the probes, and check it. Answered by EvaluatorExamined."""

    evaluator: Program
    episodes: tuple[Episode, ...]
    probes: tuple[Probe, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge(Order):
    """Request one judge's choice from the pool. Answered by VoteCast."""

    generation: int
    seat: int
    pool: tuple[EvaluatorCandidate, ...]  # valid ones only, in slot order; the judge sees its own order
    success_rate: float | None  # S_0; None if the task has no success predicate
    episodes: tuple[Episode, ...] = ()  # T_0
    probes: tuple[Probe, ...] = ()
    critiques: tuple[Critique, ...] = ()  # of episodes of T_0


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw(Order):
    """Cancel the open order `target` (racing, speculation, stop). Needs no answer."""

    target: str


# ---------------------------------------------------------------------------------------------- facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An event; `order` is the id of the order that caused it, if any."""

    order: str | None = None


# What agents and the controller report:


RULES = 6
"""The version of the keepers' rules in new runs. A recorded run continues by its own version.

2: a first policy that does nothing in any episode is requested again.
3: the last of two or more tunings of a generation begins with crossover.
4: CMA-ES goes on over generations while the program it tunes is the same but for the values of its constants.
5: of equal results of a calibration by a model, the given constants apart, the latest is kept.
6: a long tuning by CMA-ES takes the search's episodes in turn, and compares the best values on further ones.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Fact):
    """The first fact of a run."""

    settings: Mapping[str, JSON]
    versions: Mapping[str, str]
    sandbox: tuple[str, ...] = ()            # the active isolation layers
    initial: Program | None = None           # the text of a given p_0, so that a resumed run needs no file
    evaluator: Program | None = None         # the text of a given E*
    prompts: tuple[PromptText, ...] = ()     # the user's own; a resumed run and a replay use these texts
    rules: int = 1                           # the version of the keepers' rules (RULES); 1 in older logs


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Fact):
    """A controller resumed the run.

    `budgets` holds the changed budgets by their full names, such as "budget_usd" or "budget.judge.calls".
    `sandbox` holds the isolation layers active from then on; None in the logs of older versions.
    """

    budgets: Mapping[str, JSON] = field(default_factory=dict)
    sandbox: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HintGiven(Fact):
    """The person who runs the search gave a hint, on one line; prompts for policies quote it from then on."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDiffered(Fact):
    """In a replay, the prompt of the order `asked` was not the recorded one, and it went on with the recorded reply.

    Later prompts may differ too: the replay goes on by order.
    """

    asked: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused(Fact):
    """The user requested a pause; open orders finish, new ones wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContinued(Fact):
    """A pause ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped(Fact):
    """The controller left the run before its end: "stopped" by the user, or out of "budget"."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalMade(Fact):
    """A program that parses and satisfies the contract; `summary` is its history(p).

    `shape` is a digest that is equal for programs with equivalent code; empty in the logs of older versions. It is
    stored so that replaying a long log does not parse thousands of programs again.
    """

    program: Program
    summary: str
    call: Call
    shape: str = ""
    earlier: tuple[Call, ...] = ()  # earlier, unusable answers
    hints: int = 0  # the hints given by then, which the prompt took into account; a replay needs it
    practised: int = 0  # episodes in which its conversation tried drafts
    note: str = ""  # what its writer left for later proposers of the lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalFailed(Fact):
    """A reply without a usable program; the slot is spent."""

    fault: Fault
    summary: str = ""
    call: Call | None = None  # None if the model did not answer the last question
    earlier: tuple[Call, ...] = ()  # earlier, unusable answers
    hints: int = 0  # as in ProposalMade
    practised: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain(Fact):
    """An answer could not be used, and a further question follows. The order stays open.

    A run that is killed in between continues at the further question. The answer is also one of the `earlier` calls
    of the fact that answers the order.
    """

    call: Call
    reason: str  # why the answer could not be used


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnded(Fact):
    """A rollout ended; its trajectory was written before this fact."""

    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeScored(Fact):
    """An evaluator scored a recorded episode."""

    score: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbesRecorded(Fact):
    """The probes of the run; their trajectories were written before this fact."""

    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorExamined(Fact):
    """The results of an evaluator candidate on T_0 and the probes."""

    examination: Examination


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCast(Fact):
    """One judge's vote; `choice` is a slot of the pool, None an abstention.

    `seen` holds the slots in the order in which the judge saw them, A first; empty in the logs of older versions.
    """

    generation: int
    seat: int
    choice: int | None
    reason: str
    call: Call | None = None
    earlier: tuple[Call, ...] = ()  # earlier, unusable answers
    seen: tuple[int, ...] = ()


# Conclusions of keepers; replaying the facts above produces them again:


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEntered(Fact):
    """The run entered the stage "initial", "baseline" (T_0), "evaluator", "search", "final" or "done"."""

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialChosen(Fact):
    """p_0 is settled."""

    program: Program


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorPoolScored(Fact):
    """D_i is complete: every slot of the evaluator pool, valid or not."""

    generation: int
    pool: tuple[EvaluatorCandidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorChosen(Fact):
    """E_i* by majority of the votes (votes[j] for slot j), or carried over."""

    generation: int
    chosen: EvaluatorCandidate
    votes: Mapping[str, int] = field(default_factory=dict)
    final: bool = False  # this is E*


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

    slot: str
    kept: bool
    answered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationChanged(Fact):
    """The islands after a generation of a method with a population: candidates per island, and the reset islands."""

    generation: int
    islands: tuple[tuple[str, ...], ...]
    reset: tuple[int, ...] = ()


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
    one stays, although the candidate was at least as fit on the search's episodes.
    """

    generation: int
    candidate: str
    elite: str
    episodes: int
    candidate_fitness: float
    elite_fitness: float
    confirmed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EliteChanged(Fact):
    """The elite C_g of generation g; generation 0 is p_0. `origin` is the branch it came from."""

    generation: int
    candidate: str
    origin: Operator
    fitness: float
    success_rate: float | None  # None if the task has no success predicate
    changed: bool = True  # False: the old elite stays
    mean_return: float | None = None  # as in Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEnded(Fact):
    """The search's budget is spent; this is its result."""

    elite: str
    program: Program
    fitness: float
    success_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalMeasured(Fact):
    """p_0 and the elite on held-out seeds, under the reference evaluator.

    The fitnesses are None if the domain has no reference evaluator, the rates of success if it has no success
    predicate, the mean returns if it has no rewards.
    """

    episodes: int
    initial_fitness: float | None
    initial_success: float | None
    elite_fitness: float | None
    elite_success: float | None
    initial_return: float | None = None
    elite_return: float | None = None
