"""Reads the model calls of a run from its facts, for the tape and for past spending."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...core.events import Fact, ProposalFailed, ProposalMade, SpeculationEnded, VoteCast
from ...core.order_ids import parse
from ...core.values import Call

Key = tuple[str, int]
"""The id of the order of a call, and the attempt."""


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

    def read(self, fact: Fact) -> Recorded | None:
        """The model calls of the order that this fact answers; None if there are none."""
        if isinstance(fact, SpeculationEnded) and not fact.kept and not fact.answered and fact.order is not None:
            self._withdrawn.add(fact.order)
        if not isinstance(fact, ProposalMade | ProposalFailed | VoteCast) or fact.order is None:
            return None
        calls = (*fact.earlier, *(() if fact.call is None else (fact.call,)))
        failure = None
        if isinstance(fact, VoteCast):
            failure = fact.reason if fact.choice is None else None
        elif isinstance(fact, ProposalFailed) and fact.call is None:
            failure = fact.fault.message
        self._withdrawn.discard(fact.order)  # its answer arrived during the withdrawal
        return Recorded(
            order=fact.order, role=parse(fact.order).role, calls=calls, failure=failure,
            unanswered=failure is not None and fact.call is None,
        )

    def withdrawn(self) -> Iterator[Recorded]:
        """The calls that were withdrawn without an answer, according to the facts read so far."""
        for order in sorted(self._withdrawn):
            yield Recorded(order=order, role=parse(order).role, withdrawn=True)


def recorded_in(facts: Iterable[Fact]) -> Iterator[Recorded]:
    """The model calls of the orders that these facts answer, in commit order."""
    reader = CallReader()
    for fact in facts:
        recorded = reader.read(fact)
        if recorded is not None:
            yield recorded
    yield from reader.withdrawn()
