"""Reads the model calls of a run from its facts, for the tape and for past spending."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.critic_events import Criticised
from ..core.events import AskedAgain, Fact, ProposalFailed, ProposalMade, SpeculationEnded, VoteCast
from ..core.order_ids import parse
from ..core.turn_events import TurnTaken
from ..core.values import Call

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
        self._asked_again: dict[str, tuple[Call, ...]] = {}  # the unusable answers of open orders

    def read(self, fact: Fact) -> Recorded | None:
        """The model calls of the order that this fact answers; None if there are none."""
        if isinstance(fact, AskedAgain) and fact.order is not None:
            self._asked_again[fact.order] = (*self._asked_again.get(fact.order, ()), fact.call)
        if isinstance(fact, SpeculationEnded) and not fact.kept and not fact.answered and fact.order is not None:
            self._withdrawn.add(fact.order)
        if isinstance(fact, TurnTaken) and fact.order is not None:
            return Recorded(order=fact.order, role=parse(fact.order).role, calls=(fact.call,))
        if isinstance(fact, Criticised) and fact.order is not None:
            return _of_look(fact, fact.order)
        if not isinstance(fact, ProposalMade | ProposalFailed | VoteCast) or fact.order is None:
            return None
        calls = (*fact.earlier, *(() if fact.call is None else (fact.call,)))
        failure = None
        if isinstance(fact, VoteCast):
            failure = fact.reason if fact.choice is None else None
        elif isinstance(fact, ProposalFailed) and fact.call is None:
            failure = fact.fault.message
        self._withdrawn.discard(fact.order)  # its answer arrived during the withdrawal
        self._asked_again.pop(fact.order, None)  # they are among `calls`
        return Recorded(
            order=fact.order, role=parse(fact.order).role, calls=calls, failure=failure,
            unanswered=failure is not None and fact.call is None,
        )

    def unfinished(self) -> Iterator[Recorded]:
        """The calls of orders without an answer, according to the facts read so far.

        These are calls that were withdrawn, and unusable answers that a further question followed.
        """
        for order in sorted(self._withdrawn | self._asked_again.keys()):
            calls = self._asked_again.get(order, ())
            yield Recorded(order=order, role=parse(order).role, calls=calls, withdrawn=order in self._withdrawn)

    def asked_again(self) -> frozenset[str]:
        """The orders without an answer of which an unusable answer is known, according to the facts read so far."""
        return frozenset(self._asked_again.keys() - self._withdrawn)


def _of_look(fact: Criticised, order: str) -> Recorded | None:
    """The call of a critic; None if nobody was asked."""
    role = parse(order).role
    if fact.unanswered:
        return Recorded(order=order, role=role, failure=fact.problem, unanswered=True)
    return None if fact.call is None else Recorded(order=order, role=role, calls=(fact.call,))


def recorded_in(facts: Iterable[Fact]) -> Iterator[Recorded]:
    """The model calls of the orders that these facts answer, in commit order, and then those of other orders."""
    reader = CallReader()
    for fact in facts:
        recorded = reader.read(fact)
        if recorded is not None:
            yield recorded
    yield from reader.unfinished()
