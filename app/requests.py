"""The requests that people leave for a run: how a hint is given, and how the controller takes what was left."""


from ..core.events import HintGiven
from ..memory.store import Request, RunStore
from ..runtime.bus import EventBus
from .trust import HINT


class Requests:
    """Takes the requests of a run from its store."""

    def __init__(self, store: RunStore, bus: EventBus) -> None:
        self._store = store
        self._bus = bus
        self._waiting: list[str] = []

    def take(self) -> None:
        """Take what was asked since the last time, and commit the hints among it. Raises StoreError."""
        asked = self._store.take_requests()
        hints = [HintGiven(text=_text(request)) for request in asked if request.kind == HINT]
        if hints:
            self._bus.publish(hints)
        self._waiting += [request.kind for request in asked if request.kind != HINT]

    def kinds(self) -> list[str]:
        """The kinds of all other requests since the last call, such as "stop", oldest first. Raises StoreError."""
        self.take()
        kinds, self._waiting = self._waiting, []
        return kinds


def _text(request: Request) -> str:
    return str(request.body.get("text", ""))
