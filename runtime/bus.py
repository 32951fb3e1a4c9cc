"""The event bus: append, commit, publish. A fact is on disk before any listener receives it."""

from collections.abc import Callable, Sequence

import structlog

from ..core.events import Fact
from ..core.ports import Store

Listener = Callable[[Fact], None]
_log = structlog.get_logger("memento.bus")


class EventBus:
    """Commits facts to the store, then passes them to the listeners, in order."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> None:
        """Pass every fact from now on to `listener`, which must be fast and must not block."""
        self._listeners.append(listener)

    def publish(self, facts: Sequence[Fact]) -> None:
        """Commit these facts together, then pass them to the listeners. Raises StoreError.

        A listener cannot affect the run: one that fails is logged and removed, and the run continues.
        """
        self._store.append(facts)
        for fact in facts:
            for listener in tuple(self._listeners):
                try:
                    listener(fact)
                except Exception:  # noqa: BLE001 - a broken display must not end a week of work
                    self._listeners.remove(listener)
                    _log.exception("listener-dropped", listener=repr(listener), fact=type(fact).__name__)
