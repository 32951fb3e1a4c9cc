"""The event bus: an order goes to its one addressee, a fact is on disk before everyone who listens receives it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import structlog

from ..core.errors import MementoError
from ..core.events import Fact, Order
from ..core.ports import Store

_log = structlog.get_logger("memento.bus")


class EventBus:
    """Carries orders, each kind of which is a topic with one addressee, and facts, which every listener hears.

    Orders are not stored: they follow from the facts, as the decisions that made them do.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._addressees: dict[type[Order], Callable[[Any], None]] = {}
        self._listeners: list[Callable[[Fact], None]] = []
        self._observers: list[Callable[[str], None]] = []

    def address(self, kinds: Iterable[type[Order]], addressee: Callable[[Any], None]) -> None:
        """Pass every order of these kinds from now on to `addressee` alone, which must not block."""
        self._addressees.update(dict.fromkeys(kinds, addressee))

    def subscribe(self, listener: Callable[[Fact], None]) -> None:
        """Pass every fact from now on to `listener`, which must be fast and must not block."""
        self._listeners.append(listener)

    def observe(self, observer: Callable[[str], None]) -> None:
        """Pass the id of every order that an agent begins from now on to `observer`, which must not block either."""
        self._observers.append(observer)

    def send(self, orders: Iterable[Order]) -> None:
        """Pass each of these orders to its addressee. Raises MementoError for a kind that has none."""
        for order in orders:
            addressee = self._addressees.get(type(order))
            if addressee is None:
                raise MementoError(f"no agent takes orders of the kind {type(order).__name__}")
            addressee(order)

    def announce(self, order: Order) -> None:
        """Tell the observers that an agent begins this order."""
        _tell(self._observers, order.id)

    def publish(self, facts: Sequence[Fact]) -> None:
        """Commit these facts together, then pass them to the listeners, in order. Raises StoreError."""
        self._store.append(facts)
        for fact in facts:
            _tell(self._listeners, fact)


def _tell(hearers: list[Callable[[Any], None]], what: Any) -> None:
    """Tell all of them. None can affect the run: one that fails is logged and removed, and the run continues."""
    for hearer in tuple(hearers):
        try:
            hearer(what)
        except Exception:  # noqa: BLE001 - a broken display must not end a week of work
            hearers.remove(hearer)
            _log.exception("listener-dropped", listener=repr(hearer), what=type(what).__name__)
