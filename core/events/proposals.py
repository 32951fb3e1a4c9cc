"""Proposals: the requests for programs, the conversations that lead to them, and the critic whose words they show."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from ..critique import Critique, Sheet
from ..faults import Fault, FaultKind
from ..order_ids import episode_id
from ..turns import Conversation, Passage, ToolRequest
from ..values import (
    Call,
    CandidateState,
    Episode,
    EvaluatorCandidate,
    Exploit,
    Focus,
    JudgeReason,
    Operator,
    Probe,
    Program,
    Rejection,
    Score,
)
from .base import Fact, Order, without_node


@dataclass(frozen=True, slots=True, kw_only=True)
class Propose(Order):
    """Request one policy program. Answered by ProposalMade or ProposalFailed; in a conversation also by TurnTaken."""

    operator: Operator
    generation: int
    slot: int
    parents: tuple[CandidateState, ...] = ()  # none for INITIAL, two for CROSSOVER (hill-climb's first), otherwise one
    rejections: tuple[Rejection, ...] = ()  # H, oldest first; hill-climb only
    tried: tuple[Rejection, ...] = ()  # edits of the parents and their ancestors that did not stay; full memory only
    others: tuple[CandidateState, ...] = ()  # good programs of other structures, the best first; full memory only
    focus: Focus | None = None  # of a macro-mutation or crossover; None for none
    from_front: bool = False  # the second parent is no result of a branch, but the best program of some episode
    elite: str = ""  # the id of C_(g-1), so that a prompt can name the parents
    fitness: str = ""  # what f_e measures under the evaluator in use, in its writer's words; "" where nothing is known
    conversation: Conversation | None = None  # None: the proposal is one answer, without tools
    critiques: tuple[Critique, ...] = ()  # of episodes of the parents
    earlier: tuple[CandidateState, ...] = ()  # of a calibration: what was tested before the parent, oldest first

    def failed(self, problem: str) -> Fact | None:
        """A failed proposal."""
        return _failed(self, problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeAttack(Order):
    """Request one policy that the evaluator likes, and that does not do the task. Answered as ProposeEvaluator is."""

    evaluator: EvaluatorCandidate
    bar: float  # the f_e that it has to reach
    known: tuple[Exploit, ...] = ()

    def failed(self, problem: str) -> Fact | None:
        """A failed proposal."""
        return _failed(self, problem)


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
    exploits: tuple[Exploit, ...] = ()  # of the parent, which the revision has to close
    later: int = 0  # of the episodes, the last ones, that are of later programs; 0 outside of a move of the evaluator

    def failed(self, problem: str) -> Fact | None:
        """A failed proposal."""
        return _failed(self, problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalMade(Fact):
    """A program that parses and satisfies the contract; `summary` is its history(p).

    `shape` is a digest that is equal for programs with equivalent code; empty in the logs of older versions. It is
    stored so that replaying a long log does not parse thousands of programs again.
    """

    replayed: ClassVar[bool] = True

    program: Program
    summary: str
    call: Call
    shape: str = ""
    earlier: tuple[Call, ...] = ()  # earlier, unusable answers
    hints: int = 0  # the hints given by then, which the prompt took into account; a replay needs it
    practised: int = 0  # episodes in which its conversation tried drafts
    note: str = ""  # what its writer left for later proposers of the lineage
    prompt_limit: int = 0  # the characters within which its prompt was kept; 0: no limit was known; a replay needs it
    left_out: tuple[str, ...] = ()  # the parts of the prompt that had no room
    measures: str = ""  # of an evaluator: what it measures, in its writer's words; "" in the logs of older versions

    @property
    def calls(self) -> tuple[Call, ...]:
        """All answers of the model."""
        return (*self.earlier, self.call)

    @property
    def hints_known(self) -> int:
        """The hints that its prompt took into account."""
        return self.hints


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalFailed(Fact):
    """A reply without a usable program; the slot is spent."""

    replayed: ClassVar[bool] = True

    fault: Fault
    summary: str = ""
    call: Call | None = None  # None if the model did not answer the last question
    earlier: tuple[Call, ...] = ()  # earlier, unusable answers
    hints: int = 0  # as in ProposalMade
    practised: int = 0
    prompt_limit: int = 0  # as in ProposalMade
    left_out: tuple[str, ...] = ()
    prompt_room: int = 0  # the prompt was too long for the model: later ones are kept within this many characters

    @property
    def calls(self) -> tuple[Call, ...]:
        """All answers of the model."""
        return self.earlier if self.call is None else (*self.earlier, self.call)

    @property
    def reply_fault(self) -> Fault | None:
        """Why there is no program."""
        return self.fault

    @property
    def call_failure(self) -> str | None:
        """Why the model did not answer."""
        return self.fault.message if self.call is None else None

    @property
    def unanswered(self) -> bool:
        """Whether the model did not answer the last question."""
        return self.call is None

    @property
    def hints_known(self) -> int:
        """The hints that its prompt took into account."""
        return self.hints


def _failed(order: Order, problem: str) -> ProposalFailed:
    """The kind says that no reply is kept, as after a failed call, so that a replay fails the slot again."""
    return ProposalFailed(order=order.id, fault=Fault(kind=FaultKind.MODEL_FAILED, message=problem))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain(Fact):
    """An answer could not be used, and a further question follows. The order stays open.

    A run that is killed in between continues at the further question. The answer is also one of the `earlier` calls
    of the fact that answers the order.
    """

    replayed: ClassVar[bool] = True
    interim: ClassVar[bool] = True

    call: Call
    reason: str  # why the answer could not be used

    @property
    def calls(self) -> tuple[Call, ...]:
        """The answer."""
        return (self.call,)


@dataclass(frozen=True, slots=True, kw_only=True)
class TryProgram(Order):
    """Roll a draft out in a practice episode, and score it. Answered by ToolAnswered."""

    program: Program
    split: str
    index: int
    seed: int
    evaluator: Program
    draft: int  # its number in the conversation, from 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LookCloser(Order):
    """Show rows of a recording. Answered by ToolAnswered."""

    request: ToolRequest
    episode: Episode

    def failed(self, problem: str) -> Fact | None:
        """The problem as the tool's answer."""
        return ToolAnswered(order=self.id, answer=Passage(problem))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(Order):
    """Run a few lines of Python over a recording. Answered by ToolAnswered."""

    request: ToolRequest
    episode: Episode

    def failed(self, problem: str) -> Fact | None:
        """The problem as the tool's answer."""
        return ToolAnswered(order=self.id, answer=Passage(problem))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken(Fact):
    """A reply in a conversation that is not yet a program: the call of a tool, or something that cannot be used."""

    replayed: ClassVar[bool] = True

    request: ToolRequest
    said: Passage  # the reply, bounded
    call: Call
    hints: int = 0  # as in ProposalMade
    prompt_limit: int = 0  # as in ProposalMade
    left_out: tuple[str, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """The answer."""
        return (self.call,)

    @property
    def hints_known(self) -> int:
        """The hints that its prompt took into account."""
        return self.hints

    @property
    def line_begins(self) -> str | None:
        """With the order."""
        return str(self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswered(Fact):
    """What a tool answered. A draft that was tried has its practice episode and score.

    `cpu_s` is the CPU time of the draft's or the code's process; 0 in the logs of older versions.
    """

    replayed: ClassVar[bool] = True
    practice: ClassVar[bool] = True

    answer: Passage
    episode: Episode | None = None
    score: Score | None = None
    cpu_s: float = 0.0

    @property
    def rollout(self) -> Episode | None:
        """The practice episode of a draft."""
        return self.episode

    def portable(self) -> Self:
        """Without the node of the rollout."""
        return self if self.episode is None else replace(self, episode=without_node(self.episode))

    @property
    def scored(self) -> tuple[str, Score] | None:
        """The practice episode, and its score."""
        return None if self.order is None or self.score is None else (self.order, self.score)

    @property
    def line_begins(self) -> str | None:
        """With the order."""
        return str(self.order)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criticise(Order):
    """Draw a sheet of one recorded episode, and ask the critic what went wrong. Answered by Criticised."""

    candidate: str
    episode: Episode
    score: Score | None = None  # None: no evaluator has scored it yet
    fitness: str = ""  # what f_e measures, as in Propose
    split: str = "search"

    def failed(self, problem: str) -> Fact | None:
        """A look without a sheet."""
        return Criticised(
            order=self.id, candidate=self.candidate, episode=self.episode.index, sheet=None, problem=problem
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Criticised(Fact):
    """What a critic said about an episode. Without words, `problem` says why, unless no critic was asked.

    `sheet` is None if the episode could not be drawn; then nobody was asked. `off`: the critic takes no pictures, so
    it is not asked again in this run.
    """

    replayed: ClassVar[bool] = True

    candidate: str
    episode: int
    sheet: Sheet | None
    words: str = ""
    problem: str = ""
    call: Call | None = None  # None if no critic answered
    off: bool = False

    @property
    def calls(self) -> tuple[Call, ...]:
        """The answer of the critic."""
        return () if self.call is None else (self.call,)

    @property
    def call_failure(self) -> str | None:
        """Why the critic did not answer; None if it was not asked."""
        return self.problem if self.unanswered else None

    @property
    def unanswered(self) -> bool:
        """Whether a critic was asked and its call failed for good."""
        return self.sheet is not None and self.call is None and bool(self.problem)

    @property
    def drawn(self) -> tuple[str, str] | None:
        """The rollout of the look, and the file of its sheet."""
        return None if self.sheet is None else (episode_id(self.candidate, self.episode), self.sheet.file)

    @property
    def line_begins(self) -> str | None:
        """With the candidate."""
        return self.candidate
