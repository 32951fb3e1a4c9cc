"""The common part of all agents that request programs: the model call, and the parts of their prompts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from ..core.errors import ModelError
from ..core.events import (
    AskedAgain,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeAttack,
    ProposeEvaluator,
    TurnTaken,
)
from ..core.faults import Fault, FaultKind
from ..core.ports import Ask, Form, ImageFile, Model, Prompts, Reply
from ..core.programs.program_text import MAX_FAULT, MAX_PROGRAM, digest
from ..core.text import fenced_text, one_line
from ..core.values import Brief, Call, Contract, Document, Program
from .reply import read_program, within_limit

_log = structlog.get_logger("memento.replies")

SHOWN = "is shown to later edits"      # a program's notes, where feedback is more than metrics
PROPOSER = "proposer"
EVALUATOR_WRITER = "evaluator-writer"
ATTACKER = "attacker"
REPLY: Mapping[Form, str] = {  # the prompt files of the forms
    "whole": "reply-program", "patch": "reply-patch", "either": "reply-either",
}
MAX_SHOWN = 24_000  # characters of an answer that a further question shows; less is of no use for putting it right
_WORTH_SHOWING = (
    FaultKind.NOT_PYTHON, FaultKind.BROKEN_CONTRACT, FaultKind.BAD_PATCH, FaultKind.MANY_PROGRAMS,
    FaultKind.BAD_VALUES,
)


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt, and the lengths of its beginnings that other prompts of the run repeat (`Ask.prefixes`)."""

    text: str
    prefixes: tuple[int, ...]
    images: tuple[ImageFile, ...] = ()  # that go with it


def question(situation: str, rest: str, again: str = "") -> Question:
    """The prompt made of the part that is constant in a run and the `rest`.

    `again` is the rest of a prompt that is probably sent soon as well; "" for none.
    """
    text = f"{situation}\n{rest}"
    constant = len(situation) + 1
    shared = constant + _common(rest, again)
    return Question(text=text, prefixes=(constant, shared) if shared > constant else (constant,))


def _common(first: str, second: str) -> int:
    """The length of the longest common beginning of two texts."""
    same, end = 0, min(len(first), len(second))
    if first[:end] == second[:end]:
        return end
    while end - same > 1:   # equal up to `same`, and not up to `end`
        middle = (same + end) // 2
        if first[same:middle] == second[same:middle]:
            same = middle
        else:
            end = middle
    return same


Keep = Callable[[AskedAgain], None]
"""Commits an unusable answer before the further question, so that it is paid for once even if the run is killed."""


def not_kept(fact: AskedAgain) -> None:
    """For questions outside of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """How models answer. `edits` is the form of the replies to small edits and to revisions of evaluators.

    With "patch", the replies to other revisions of programs may be patches, too.

    A reply that cannot be used gets up to `repairs` more questions in the same slot; `keep` commits the reply before.
    """

    edits: Form = "whole"
    repairs: int = 0
    keep: Keep = not_kept

    @property
    def revisions(self) -> Form:
        """The form of the replies to macro-mutations and crossovers."""
        return "either" if self.edits == "patch" else "whole"


AS_PUBLISHED = Answers()

Asked = Propose | ProposeEvaluator | ProposeAttack
"""An order for one program."""
Proposed = ProposalMade | ProposalFailed | TurnTaken
"""What answers an order for a policy."""
Take = Callable[[Reply, Call], ProposalMade | TurnTaken | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Asks a model for programs that keep a contract and have at most `limit` characters."""

    model: Model
    prompts: Prompts
    role: str
    contract: Contract
    answers: Answers = AS_PUBLISHED
    limit: int = MAX_PROGRAM

    async def write(
        self, order: Asked, asked: Question, parents: Sequence[Program], *, form: Form = "whole"
    ) -> ProposalMade | ProposalFailed:
        """Request a program, and again after a reply that cannot be used; any outcome spends the order's slot.

        A call that failed for good fails the slot. Raises ModelError only if it is fatal, that is, if every
        further call would fail too.
        """
        fact = await self.converse(order, asked, parents, form=form, take=lambda reply, call: None)
        assert not isinstance(fact, TurnTaken)
        return fact

    async def converse(
        self, order: Asked, asked: Question, parents: Sequence[Program], *, form: Form, take: Take
    ) -> Proposed:
        """As `write`, but `take` may make a fact of a reply before it is read as a program."""
        earlier: tuple[Call, ...] = ()
        question = asked
        while True:
            attempt = len(earlier)
            ask = Ask(
                order=order, attempt=attempt, role=self.role, prompt=question.text, prefixes=question.prefixes,
                tools=isinstance(order, Propose) and order.conversation is not None, images=question.images,
            )
            try:
                reply = within_limit(await self.model.complete(ask))
            except ModelError as error:
                if error.fatal:
                    raise
                fault = Fault(kind=FaultKind.MODEL_FAILED, message=one_line(str(error), MAX_FAULT))
                room = error.room or 0
                return ProposalFailed(order=order.id, fault=fault, earlier=earlier, prompt_room=room)
            call = replace(call_of(question.text, reply), attempt=attempt)
            taken = take(reply, call)
            if isinstance(taken, TurnTaken):
                return taken
            fact = replace(taken or self.read(order, reply, call, parents, form), earlier=earlier)
            if isinstance(fact, ProposalMade) or attempt >= self.answers.repairs:
                return fact
            earlier = (*earlier, call)
            self.answers.keep(AskedAgain(order=order.id, call=call, reason=one_line(fact.fault.message, MAX_FAULT)))
            question = replace(asked, text=f"{asked.text}\n{self._once_more(fact.fault, reply, form)}")

    def read(
        self, order: Asked, reply: Reply, call: Call, parents: Sequence[Program], form: Form
    ) -> ProposalMade | ProposalFailed:
        """The fact of a reply that should hold a program. Never raises."""
        try:
            reading = read_program(reply, self.contract, parents, self.limit, form)
            if reading.program is None or reading.fault is not None:
                fault = reading.fault or Fault(kind=FaultKind.NO_PROGRAM, message="the reply holds no program")
                return ProposalFailed(order=order.id, fault=fault, summary=reading.summary, call=call)
            shape = digest(reading.program)
            return ProposalMade(
                order=order.id, program=reading.program, summary=reading.summary, call=call, shape=shape
            )
        except Exception as error:  # noqa: BLE001 - no reply may end a run, whatever a reader of it runs into
            _log.exception("reply-not-read", order=order.id)
            message = one_line(f"the reply cannot be read: {type(error).__name__}: {error}", MAX_FAULT)
            return ProposalFailed(order=order.id, fault=Fault(kind=FaultKind.NOT_PYTHON, message=message), call=call)

    def _once_more(self, fault: Fault, reply: Reply, form: Form) -> str:
        """The end of a further question: why the last answer could not be used, and the answer where that helps."""
        whole = fault.kind in _WORTH_SHOWING or (fault.kind is FaultKind.TRUNCATED and reply.stop == "end")
        shown = whole and len(reply.text) <= MAX_SHOWN
        return self.prompts.fill(
            "once-more",
            reason=fenced_text(fault.message),
            answer=f"The answer:\n\n{fenced_text(reply.text)}" if shown else "",
            form=self.reminder(form),
        )

    def reminder(self, form: Form) -> str:
        """The form of the reply in two lines."""
        return self.prompts.fill(f"{REPLY[form]}-reminder").strip()


def with_form(prompts: Prompts, name: str, summary: str, form: Form, more: str = "", /, **variables: str) -> str:
    """The prompt `name` with the form of its reply, which its last two lines repeat; `more` is added to the form."""
    reply = "\n".join(filter(None, (prompts.fill(REPLY[form], summary=summary), more)))
    return f"{prompts.fill(name, reply=reply, **variables)}\n{prompts.fill(f'{REPLY[form]}-reminder')}"


def call_of(prompt: str, reply: Reply) -> Call:
    """The record of an answered call."""
    return Call(
        model=reply.model,
        prompt=Document(prompt),
        reply=Document(reply.text),
        usage=reply.usage,
        stop=reply.stop,
    )


def rules(prompts: Prompts, name: str, contract: Contract, limit: int = MAX_PROGRAM, **variables: str) -> str:
    """The rules file `name`, filled for a contract and at most `limit` characters; `variables` are its further ones."""
    return prompts.fill(
        name,
        class_name=contract.class_name,
        methods=methods_in_words(contract),
        max_characters=f"{limit:,}",
        **variables,
    )


def methods_in_words(contract: Contract) -> str:
    """The methods of a contract, such as "`reset()` (no argument) and `act(…)` (1 argument)"."""
    words = []
    for name, arguments in contract.methods:
        count = "no argument" if arguments == 0 else f"{arguments} argument{'s' * (arguments > 1)}"
        words.append(f"`{name}` ({count} after `self`)")
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def section(heading: str, text: str) -> str:
    """`text` under a heading, or nothing for an empty text."""
    return f"## {heading}\n\n{text.strip()}" if text.strip() else ""


def situation(brief: Brief) -> dict[str, str]:
    """The variables of every prompt: the task, and the differences between episodes."""
    return {
        "task": brief.task.strip(),
        "uncertainties": section("What differs between episodes", brief.uncertainties),
    }


def evaluator_situation(brief: Brief) -> dict[str, str]:
    """The same for writers and judges of evaluators, which see true states: sensor noise does not concern them."""
    differs = brief.uncertainties if brief.evaluator_uncertainties is None else brief.evaluator_uncertainties
    return {"task": brief.task.strip(), "uncertainties": section("What differs between episodes", differs)}


def program_block(program: Program) -> str:
    """A program as a code block."""
    return fenced_text(program.text, "python")
