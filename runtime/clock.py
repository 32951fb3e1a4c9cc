"""The machine's clock, for the one place that hands it to the rest."""

import time


class SystemClock:
    """core.ports.Clock on the machine's own time."""

    def now(self) -> float:
        """Seconds since the epoch, for people."""
        return time.time()

    def elapsed(self) -> float:
        """Seconds of a monotonic clock, for deadlines."""
        return time.monotonic()
