"""The port of a model: a language model or its substitute."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from ..values import Usage

if TYPE_CHECKING:
    from ..events import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """A picture that goes with a question: the bytes of a file."""

    data: bytes
    media_type: str = "image/jpeg"


Form = Literal["whole", "patch", "either"]
"""What a reply holds: a whole program, a patch, or what its block names: a whole program unless it says patch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One question to a model. A language model reads `prompt`; the offline model reads `order`."""

    order: "Order"
    attempt: int  # 0, 1, … for repeated attempts at the same order
    role: str  # "proposer", "evaluator-writer", "judge", "critic" or "attacker"
    prompt: str
    prefixes: tuple[int, ...] = ()  # lengths of the beginnings of `prompt` that other prompts of the run repeat, rising
    tools: bool = False  # whether `prompt` offers the tools of `core.turns`
    images: tuple[ImageFile, ...] = ()  # after the prompt, in its order; in no record of a call


THOUGHT_ONLY = "thought-only"
UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's unmodified answer. `stop` is "end", "length", "refusal" or "error".

    THOUGHT_ONLY: the service sent reasoning and no answer. UNUSABLE: what it sent, and charges for, is no answer;
    `text` then says why.

    Only calls of tools in a service's own form are rewritten, in the form of the prompt.

    It is "too-long" in the record of a reply that was longer than what is kept, and so in its replay.
    """

    text: str
    model: str
    stop: str = "end"
    usage: Usage = Usage()


class Model(Protocol):
    """Answers questions.

    **Calls.** All calls come from one event loop, any number at once; the model itself limits the number of requests
    in flight. It must not block the loop: work of more than a few milliseconds runs in another thread. Answers may
    arrive in any order, each for its own question.

    **Cancellation.** A call may be cancelled. It then ends at once and releases its place and its socket, and the
    model continues to answer the other calls.

    **Determinism.** Not required of a language model: the run records every reply, and a replay answers from the
    record. A deterministic model (the offline model) depends on the order and the attempt, never on arrival order.

    **Deadlines.** A call sets its own deadline and ends within it, retries included; callers set no deadline.

    **Errors.** An unusable reply (empty, refused, cut off) is a Reply: the code that reads replies judges it.
    ModelError is for calls that failed for good, `fatal` if every further call would fail too; BudgetSpent if
    nothing was sent. The message is one sentence and holds no key. A model raises no other exceptions.

    **Closing.** A model that holds sockets has a coroutine `close()`. It may be called twice, and only after the last
    call has ended.
    """

    name: str  # its name in reports, votes and prices

    async def complete(self, ask: Ask) -> Reply:
        """Answer one question. Raises ModelError if the call failed for good.

        `Reply.model` names the model that answered; `usage.cost_usd` is None, not 0, if the price is unknown.
        """
