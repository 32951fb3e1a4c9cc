"""One turn of a conversation: its prompt, the question to the model, and the fact that its reply becomes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from ..core.events import ProposalFailed, ProposalMade, Propose, TurnTaken
from ..core.ports import Form, Reply
from ..core.programs.program_text import MAX_FAULT, digest, summary_of
from ..core.text import excerpt, one_line
from ..core.turns import SUBMIT, Conversation, Passage, ToolRequest
from ..core.values import Call, Program
from .fences import split
from .reply import stop_fault, summary_line
from .stand_in import stand_in
from .tool_requests import read_request
from .turn_prompts import TurnPrompts
from .writing import Proposed, Question, Writer

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
