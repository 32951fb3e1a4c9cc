"""A keeper: the pure decision function of a search method. No clock, no I/O, no hidden randomness."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .events import Fact, Order

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Generic[S]):
    """What follows from one fact: the next state, orders to carry out, and facts concluded.

    Concluded facts are committed together with the fact that caused them.
    """

    state: S
    orders: tuple[Order, ...] = ()
    facts: tuple[Fact, ...] = ()


class Keeper(Protocol[S]):
    """Decides the next step. The same facts, in any order of arrival, give the same conclusions."""

    def start(self) -> Decision[S]:
        """The first state and the first orders."""

    def decide(self, state: S, fact: Fact) -> Decision[S]:
        """The decision that follows from `fact`. Facts that answer no open order of this keeper change nothing."""

    def finished(self, state: S) -> bool:
        """Whether there is nothing left to wait for."""


T = TypeVar("T")


def put(items: tuple[T | None, ...], place: int, item: T) -> tuple[T | None, ...]:
    """The same tuple with `item` at `place`: the slots of a generation and the episodes of a trial fill one by one."""
    return (*items[:place], item, *items[place + 1 :])
