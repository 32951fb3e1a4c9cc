"""Reads the model calls of a run from its facts, for the tape and for past spending."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.events import Fact
from ..core.order_ids import parse
from ..core.values import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The model calls of one order: the answers, one per attempt, and the failure after them, if any.

    `unanswered`: the last question got no answer, so its usage is unknown. So is that of a `withdrawn` call.
    """

    order: str
    role: str
    calls: tuple[Call, ...] = ()
    failure: str | None = None
    unanswered: bool = False
    withdrawn: bool = False


class CallReader:
    """Reads the model calls of a run from its facts, one by one."""

    def __init__(self) -> None:
        self._withdrawn: set[str] = set()
        self._asked_again: dict[str, tuple[Call, ...]] = {}  # the unusable answers of open orders

    def read(self, fact: Fact) -> Recorded | None:
        """The model calls of the order that this fact answers; None if there are none."""
        order, calls = fact.order, fact.calls
        if order is None:
            return None
        if fact.interim:
            self._asked_again[order] = (*self._asked_again.get(order, ()), *calls)
            return None
        if fact.withdraws_call:
            self._withdrawn.add(order)
        if not calls and fact.call_failure is None:
            return None
        self._withdrawn.discard(order)  # its answer arrived during the withdrawal
        self._asked_again.pop(order, None)  # they are among `calls`
        return Recorded(
            order=order, role=fact.role, calls=calls, failure=fact.call_failure, unanswered=fact.unanswered
        )

    def open_calls(self) -> Iterator[Recorded]:
        """The calls of orders without an answer, according to the facts read so far.

        These are calls that were withdrawn, and unusable answers that a further question followed.
        """
        for order in sorted(self._withdrawn | self._asked_again.keys()):
            calls = self._asked_again.get(order, ())
            yield Recorded(order=order, role=parse(order).role, calls=calls, withdrawn=order in self._withdrawn)

    def asked_again(self) -> frozenset[str]:
        """The orders without an answer of which an unusable answer is known, according to the facts read so far."""
        return frozenset(self._asked_again.keys() - self._withdrawn)


def recorded_in(facts: Iterable[Fact]) -> Iterator[Recorded]:
    """The model calls of the orders that these facts answer, in commit order, and then those of other orders."""
    reader = CallReader()
    for fact in facts:
        recorded = reader.read(fact)
        if recorded is not None:
            yield recorded
    yield from reader.open_calls()
