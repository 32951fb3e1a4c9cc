"""The turns of a conversation: orders to tools, and the facts of what was said and answered."""

from dataclasses import dataclass

from .events import Fact, Order
from .turns import Passage, ToolRequest
from .values import Call, Episode, Program, Score


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute(Order):
    """Run a few lines of Python over a recording. Answered by ToolAnswered."""

    request: ToolRequest
    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTaken(Fact):
    """A reply in a conversation that is not yet a program: the call of a tool, or something that cannot be used."""

    request: ToolRequest
    said: Passage  # the reply, bounded
    call: Call
    hints: int = 0  # as in ProposalMade


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswered(Fact):
    """What a tool answered. A draft that was tried has its practice episode and score.

    `cpu_s` is the CPU time of the draft's or the code's process; 0 in the logs of older versions.
    """

    answer: Passage
    episode: Episode | None = None
    score: Score | None = None
    cpu_s: float = 0.0
