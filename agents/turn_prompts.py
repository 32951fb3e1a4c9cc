"""The prompt of one turn: the first question, the tools, the conversation so far, and what is left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.events import Propose
from ..core.ports import Form, Prompts
from ..core.text import fenced_text, plural, two_digits
from ..core.turns import BUDGET_LEFT, DRAFT, OTHER, PARENT, Conversation
from ..core.values import CandidateState, Program
from .stand_in import stand_in
from .stories import said_of_best
from .tool_requests import MAX_CODE
from .writing import REPLY, Question

MAX_ANSWER = 6_000  # characters of an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPrompts:
    """Fills the prompts of turns.

    `cpu` says in words what CPU time a practice episode may use, `budget` what is left of the run's budgets.
    """

    prompts: Prompts
    cpu: str = ""
    budget: Callable[[], str] = lambda: ""

    def question(self, asked: Question, order: Propose, conversation: Conversation, form: Form) -> Question:
        """The first question, the tools, the turns so far, and what is left. All but the end is repeated later."""
        total = conversation.turns_left + len(conversation.turns)
        tools = self.prompts.fill(
            "tools",
            turns=plural(total, "tool call"),
            practice=_practice(conversation, self.cpu),
            recordings=_recordings(len(order.parents)),
            best=_best_episodes(order.parents),
            characters=f"{MAX_ANSWER:,}",
            code=f"{MAX_CODE:,}",
        )
        turns = [
            self.prompts.fill(
                "tool-turn", number=str(number), said=fenced_text(turn.said), answer=fenced_text(turn.answer)
            )
            for number, turn in enumerate(conversation.turns, start=1)
        ]
        heading = ["## The conversation so far\n"] if turns else []
        text = "\n".join([asked.text, tools, *heading, *turns]) + "\n"
        prefixes = (*asked.prefixes, len(text))
        parents = [parent.program for parent in order.parents]
        return Question(text=text + self._end(conversation, parents, form), prefixes=prefixes, images=asked.images)

    def _end(self, conversation: Conversation, parents: Sequence[Program], form: Form) -> str:
        otherwise = _otherwise(conversation, parents)
        if not conversation.turns_left:
            reminder = self.prompts.fill(f"{REPLY[form]}-reminder").strip()
            return self.prompts.fill("tools-used-up", form=reminder, otherwise=otherwise)
        left = f"{plural(conversation.turns_left, 'tool call')}, {_episodes(conversation.practice_left)}."
        if conversation.practice_cpu_s:
            left += f" The tools have used {two_digits(conversation.practice_cpu_s)} s of CPU time so far."
        budget = self.budget()
        more = f"{BUDGET_LEFT}{budget}.\n" if budget else ""
        return self.prompts.fill("tools-left", left=left, otherwise=otherwise, budget=more)


def _otherwise(conversation: Conversation, parents: Sequence[Program]) -> str:
    """What happens if the model submits nothing."""
    found = stand_in(conversation.drafts, parents)
    if found is None:
        return "If you submit nothing, this proposal is lost."
    why = "the last one" if found.fitness is None else f"the best in practice so far, f_e = {found.fitness:.4f}"
    return f"If the calls end and you submit nothing, draft {found.number} is submitted as it is: {why}."


def _best_episodes(parents: Sequence[CandidateState]) -> str:
    """What each parent itself said of its best episode; the prompt before shows the worst one."""
    said = [said_of_best(parent.episodes, parent.scores) for parent in parents]
    names = [""] if len(parents) == 1 else ["Parent A. ", "Parent B. "]
    return "\n\n".join(f"{name}{text}" for name, text in zip(names, said, strict=False) if text)


def _practice(conversation: Conversation, cpu: str) -> str:
    total = conversation.practice_left + len(conversation.drafts)
    if not total or not conversation.practice:
        return "None is allowed this time."
    last = conversation.practice - 1
    numbers = f"they have the numbers 0 to {last}" if last else "there is one, number 0"
    each = f" Each may use {cpu}." if cpu else ""
    again = "and the same number is the same episode again"
    return f"You may roll out {_episodes(total)} in all; {numbers}, {again}.{each}"


def _episodes(count: int) -> str:
    return plural(count, "practice episode")


def _recordings(parents: int) -> str:
    lines = [f"- `{PARENT} 0`: episode 0 of the program above, and so on"]
    if parents > 1:
        lines = [f"- `{name} 0`: episode 0 of parent {label}" for name, label in ((PARENT, "A"), (OTHER, "B"))]
    return "\n".join([*lines, f"- `{DRAFT} 1`: the practice episode of the first draft that you tried, and so on"])


