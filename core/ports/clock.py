"""Time as an explicit dependency."""

from typing import Protocol


class Clock(Protocol):
    """The time of day, and a stopwatch. Both may be read from any thread, cost microseconds and raise nothing.

    No decision of a search depends on a clock: it dates facts, ends calls that take too long, and fills displays.
    """

    def now(self) -> float:
        """Seconds since the epoch, for display. May jump either way when the machine's clock is set."""

    def elapsed(self) -> float:
        """Seconds of a monotonic clock, for deadlines. Only differences are meaningful; they are never negative."""
