"""The turns of a proposal: what a model may do before it submits a program, and what it was answered."""

from dataclasses import dataclass

from .values import Document, Episode, Program

TRY, LOOK, COMPUTE, SUBMIT = "try_program", "look_closer", "compute", "submit"
TOOLS = (TRY, LOOK, COMPUTE, SUBMIT)
PARENT, OTHER, DRAFT = "parent", "other", "draft"  # whose recording: the first parent's, the second's, a draft's

BUDGET_LEFT = "The run's budget has left: "  # begins a line of a prompt that a replay, which has no budget, lacks
HIDDEN = frozenset({"success"})  # arrays that no tool shows: policy search never uses S (paper, section 3.2)


def without_budget(prompt: str) -> str:
    """The prompt without the line on the run's budgets, to compare it with that of another run."""
    return "".join(line for line in prompt.splitlines(keepends=True) if not line.startswith(BUDGET_LEFT))


@dataclass(frozen=True, slots=True)
class Passage(Document):
    """A text of a conversation. Unlike other documents it is read when a run is resumed, since prompts repeat it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One call of a tool, read from a reply. With a `problem` it cannot be carried out, and the model reads why."""

    tool: str = ""  # one of TOOLS; "" for a reply that names none
    program: Program | None = None  # the draft to try, the code to run, or the changed draft to submit
    whose: str = ""  # PARENT, OTHER or DRAFT: the owner of the recording
    number: int = 0  # of its episode, or of the draft; for TRY of the practice episode
    draft: int = 0  # for TRY without a program: the draft to roll out again
    first: int = 0  # the steps to look at; below 0 from the end
    last: int = 0
    fields: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One finished turn: the model's reply and the answer to it, both bounded."""

    said: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A program that was tried, and its practice episode."""

    program: Program
    episode: Episode
    fitness: float = 0.0  # f_e


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A proposal under way, as its next prompt shows it.

    `turns_left` counts the calls of tools that are left, `practice_left` the practice episodes.
    """

    turns: tuple[Turn, ...] = ()
    drafts: tuple[Draft, ...] = ()
    turns_left: int = 0
    practice_left: int = 0
    practice: int = 0  # practice episodes have the numbers from 0 to below this
    practice_cpu_s: float = 0.0  # CPU time of the tools so far
