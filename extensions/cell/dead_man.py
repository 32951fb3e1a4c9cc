"""The dead-man's switch of an arm that moves in the world's time: without an action for too long it is stopped."""

import threading
import time
from collections.abc import Callable


class DeadMan:
    """Calls `stop` from a thread if `limit_s` seconds pass after a call of `watch` without another one, or `rest`."""

    def __init__(
        self, stop: Callable[[], None], *, limit_s: float, clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stop, self._limit_s, self._clock = stop, limit_s, clock
        self._fired = threading.Event()
        self._changed = threading.Condition()
        self._due_s: float | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def fired(self) -> bool:
        """Whether the arm was stopped since the last `rest`."""
        return self._fired.is_set()

    def watch(self) -> None:
        """An action has arrived: the next one is due within the limit."""
        with self._changed:
            self._due_s = self._clock() + self._limit_s
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="dead-man", daemon=True)
                self._thread.start()
            self._changed.notify()

    def rest(self) -> None:
        """Stop watching; forget that it fired."""
        with self._changed:
            self._due_s = None
            self._fired.clear()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed, self._due_s = True, None
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with self._changed:
            while not self._closed:
                left_s = None if self._due_s is None else self._due_s - self._clock()
                if left_s is not None and left_s <= 0.0:
                    self._due_s = None
                    self._fired.set()
                    self._stop()
                    continue
                self._changed.wait(left_s)
