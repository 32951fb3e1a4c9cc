"""Something that answers questions: a language model, or what stands in for one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..values import Usage

if TYPE_CHECKING:
    from ..events import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to a model. A language model reads `prompt`; the offline model reads `order`."""

    order: "Order"
    attempt: int  # 0, 1, … for repeated tries at the same order
    role: str  # "proposer", "evaluator-writer" or "judge"
    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's answer as it came. `stop` is "end", "length", "refusal" or "error".

    It is "too-long" in the record of a reply that was longer than what is kept, and so in its replay.
    """

    text: str
    model: str
    stop: str = "end"
    usage: Usage = Usage()


class Model(Protocol):
    """Something that answers.

    **Calls.** All calls come from one event loop, any number at once; the model itself limits how many requests are
    under way. It must not block the loop: what takes longer than a few milliseconds goes elsewhere. Answers may come
    in any order, each for its own question.

    **Cancellation.** A question may be taken back. The call then ends at once, holds no place and no socket any
    more, and the model goes on answering the others.

    **Determinism.** None is asked of a language model: the run records every reply, and a replay answers from the
    record. What does promise it (the offline model) depends on the order and the attempt, never on who asked first.

    **Deadlines.** A call sets its own deadline and ends within it, retries included: nobody else limits it.

    **Errors.** A reply of no use (empty, refused, cut off) is a Reply: the reader of replies judges it. ModelError is
    for calls that failed for good, `fatal` where every further call would fail too; BudgetSpent where nothing was
    sent. The message is one sentence and holds no key. No other exception leaves a model.

    **Closing.** A model that holds sockets has a coroutine `close()`. It may be called twice; the last call is over
    by then.
    """

    name: str  # what reports, votes and prices call it

    async def complete(self, ask: Ask) -> Reply:
        """Answer one question. Raises ModelError where the call failed for good.

        `Reply.model` names who answered; `usage.cost_usd` is None where the price is unknown, which is not 0.
        """
