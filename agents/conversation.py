"""One turn of a conversation: its prompt, the question to the model, and the fact that its reply becomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from ..core.events import ProposalFailed, ProposalMade, Propose, TurnTaken
from ..core.ports import Form, Prompts, Reply
from ..core.programs.program_text import MAX_FAULT, digest, summary_of
from ..core.text import excerpt, fenced_text, one_line, plural, two_digits
from ..core.turns import BUDGET_LEFT, DRAFT, OTHER, PARENT, SUBMIT, Conversation, Draft, Passage, ToolRequest
from ..core.values import Call, CandidateState, Program
from .fences import split
from .reply import stop_fault, summary_line
from .stories import said_of_best
from .tool_requests import MAX_CODE, read_request
from .writing import REPLY, Proposed, Question, Writer

# Which draft is submitted for a model that ends its conversation without a submission. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A draft, its number, and the mean of f_e in its practice episodes; None if a fault ended one of them."""

    number: int
    program: Program
    fitness: float | None


def stand_in(drafts: Sequence[Draft], parents: Sequence[Program]) -> StandIn | None:
    """The best draft in practice, without parents that were rolled out unchanged; None if there is none.

    A program counts with the mean over all its practice episodes. One that a fault ended in practice counts less than
    any other; of equal ones the last counts.
    """
    unchanged = {digest(parent) for parent in parents}
    found = [
        StandIn(number=number, program=draft.program, fitness=_fitness(draft.program, drafts))
        for number, draft in enumerate(drafts, start=1) if digest(draft.program) not in unchanged
    ]
    return max(found, key=lambda each: (-1.0 if each.fitness is None else each.fitness, each.number), default=None)


def _fitness(program: Program, drafts: Sequence[Draft]) -> float | None:
    own = [draft for draft in drafts if draft.program == program]
    if any(draft.episode.fault is not None for draft in own):
        return None
    return sum(draft.fitness for draft in own) / len(own)


# The prompt of one turn: the first question, the tools, the conversation so far, and what is left.


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


MAX_SAID = 60_000  # characters of a reply that later turns show: a draft has to be read to be changed
MAX_PROBLEM = 600

_log = structlog.get_logger("memento.turns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Talker:
    """Asks for the next turn of a conversation."""

    writer: Writer
    prompts: TurnPrompts

    async def write(
        self, order: Propose, asked: Question, parents: Sequence[Program], *, form: Form
    ) -> Proposed:
        """Ask the model once more in the conversation of the order; `asked` is what it was asked at first.

        A conversation that ends without a submission hands its best draft in. Raises ModelError only if it is fatal.
        """
        conversation = order.conversation
        if conversation is None:
            return await self.writer.write(order, asked, parents, form=form)

        def take(reply: Reply, call: Call) -> ProposalMade | TurnTaken | None:
            try:
                return self._take(order, conversation, reply, call, parents, form)
            except Exception as error:  # noqa: BLE001 - no reply may end a run, whatever a reader of it runs into
                _log.exception("turn-not-read", order=order.id)
                problem = one_line(f"the reply cannot be read: {type(error).__name__}: {error}", MAX_FAULT)
                return _turn(order, ToolRequest(problem=problem), reply, call) if conversation.turns_left else None

        question = self.prompts.question(asked, order, conversation, form)
        fact = await self.writer.converse(order, question, parents, form=form, take=take)
        if isinstance(fact, TurnTaken):
            return fact
        if isinstance(fact, ProposalFailed) and fact.call is not None and not conversation.turns_left:
            fact = _best_of(order, conversation, fact.call, parents, earlier=fact.earlier) or fact
        return replace(fact, practised=len(conversation.drafts))

    def _take(
        self, order: Propose, conversation: Conversation, reply: Reply, call: Call, parents: Sequence[Program],
        form: Form,
    ) -> ProposalMade | TurnTaken | None:
        """The fact of a reply; None for a last reply, which is read as one without tools."""
        writer = self.writer
        drafts = [draft.program for draft in conversation.drafts]
        request = read_request(reply, writer.contract, parents, writer.limit, form, drafts)
        if request is not None and request.tool == SUBMIT and not request.problem:
            if 1 <= request.number <= len(drafts):
                return _handed_in(order, request.program or drafts[request.number - 1], reply, call, parents)
            request = replace(request, problem=f"there is no draft {request.number} to submit")
        if not conversation.turns_left:
            asks = request is not None and request.tool != SUBMIT and not stop_fault(reply)
            return _best_of(order, conversation, call, parents) if asks else None
        if request is None:
            fact = writer.read(order, reply, call, parents, form)
            if isinstance(fact, ProposalMade):
                return fact
            request = ToolRequest(tool=SUBMIT, problem=f"it cannot be submitted: {fact.fault.message}")
        return _turn(order, request, reply, call)


def _turn(order: Propose, request: ToolRequest, reply: Reply, call: Call) -> TurnTaken:
    request = replace(request, problem=excerpt(request.problem, MAX_PROBLEM))
    return TurnTaken(order=order.id, request=request, said=Passage(excerpt(reply.text, MAX_SAID)), call=call)


def _handed_in(
    order: Propose, program: Program, reply: Reply, call: Call, parents: Sequence[Program]
) -> ProposalMade:
    said = summary_line(split(reply.text)[1])
    return ProposalMade(
        order=order.id, program=program, summary=summary_of(program, parents, said), call=call, shape=digest(program)
    )


def _best_of(
    order: Propose, conversation: Conversation, call: Call, parents: Sequence[Program], earlier: tuple[Call, ...] = ()
) -> ProposalMade | None:
    """The best draft as the submission of a conversation that made none; None without a draft."""
    found = stand_in(conversation.drafts, parents)
    if found is None:
        return None
    said = f"draft {found.number} of a conversation that ended without a submission"
    return ProposalMade(
        order=order.id, program=found.program, summary=summary_of(found.program, parents, said), call=call,
        shape=digest(found.program), earlier=earlier,
    )
