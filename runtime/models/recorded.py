"""Reads the model calls of a run back from its facts, for the tape and for what was already spent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...core.events import Fact, ProposalFailed, ProposalMade, SpeculationEnded, VoteCast
from ...core.order_ids import parse
from ...core.values import Call

Key = tuple[str, int]
"""The id of the order that asked, and the attempt at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What one order asked of a model: the answers, one per attempt, and the failure that came after them, if any.

    What a `withdrawn` call took nobody knows.
    """

    order: str
    role: str
    calls: tuple[Call, ...] = ()
    failure: str | None = None
    withdrawn: bool = False


class CallReader:
    """Reads the model calls of a run back from its facts, one fact after the other."""

    def __init__(self) -> None:
        self._withdrawn: set[str] = set()

    def read(self, fact: Fact) -> Recorded | None:
        """What the order that this fact answers asked of a model; None where it asked nothing."""
        if isinstance(fact, SpeculationEnded) and not fact.kept and not fact.answered and fact.order is not None:
            self._withdrawn.add(fact.order)
        if not isinstance(fact, ProposalMade | ProposalFailed | VoteCast) or fact.order is None:
            return None
        calls = () if fact.call is None else (fact.call,)
        failure = None
        if isinstance(fact, VoteCast):
            calls = (*fact.earlier, *calls)
            failure = fact.reason if fact.choice is None else None
        elif isinstance(fact, ProposalFailed) and fact.call is None:
            failure = fact.fault.message
        self._withdrawn.discard(fact.order)  # its answer came in the moment of the withdrawal
        return Recorded(order=fact.order, role=parse(fact.order).role, calls=calls, failure=failure)

    def withdrawn(self) -> Iterator[Recorded]:
        """The calls that were withdrawn before their answer, after the facts read so far."""
        for order in sorted(self._withdrawn):
            yield Recorded(order=order, role=parse(order).role, withdrawn=True)


def recorded_in(facts: Iterable[Fact]) -> Iterator[Recorded]:
    """What the orders answered by these facts asked of a model, in the order they were committed."""
    reader = CallReader()
    for fact in facts:
        recorded = reader.read(fact)
        if recorded is not None:
            yield recorded
    yield from reader.withdrawn()
