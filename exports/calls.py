"""The model calls of a run with their times: when each began and ended, from the facts that report it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..core.events import AskedAgain, Fact, ProposalFailed
from ..core.order_ids import owner_of
from ..core.values import Call, Fault
from ..memory.spending import calls_of, role_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCall:
    """One finished call; times in seconds since the epoch. `fault`: the problem with its reply, if any.

    `number` counts the calls of its order from 0, so that order and number name a call.
    """

    order: str
    number: int
    role: str
    call: Call
    began: float
    ended: float
    fault: Fault | None = None

    @property
    def owner(self) -> str:
        """The candidate, evaluator or vote that it was made for."""
        return owner_of(self.order)


@dataclass(slots=True)
class CallTimes:
    """Finds each call once: the answer to an order repeats the calls after which the model was asked again."""

    _reported: dict[str, int] = field(default_factory=dict)

    def of(self, fact: Fact, at: float) -> Iterator[TimedCall]:
        """The calls that this fact, committed at this time, reports first; oldest first."""
        order = fact.order or ""
        known = self._reported.get(order, 0)
        calls = (fact.call,) if isinstance(fact, AskedAgain) else calls_of(fact)[known:]
        if not calls:
            return
        if isinstance(fact, AskedAgain):
            self._reported[order] = known + 1
        else:
            self._reported.pop(order, None)     # its answer: no further call comes
        began = at - sum(call.usage.latency_s for call in calls)    # those without a fact follow one another
        for number, call in enumerate(calls):
            ended = began + call.usage.latency_s
            last = number == len(calls) - 1
            yield TimedCall(
                order=order, number=known + number, role=role_of(fact), call=call, began=began,
                ended=at if last else ended, fault=fact.fault if isinstance(fact, ProposalFailed) and last else None,
            )
            began = ended
