"""The clock of the machine."""

import time


class SystemClock:
    """core.ports.Clock with the machine's time."""

    def now(self) -> float:
        """Seconds since the epoch, for display."""
        return time.time()

    def elapsed(self) -> float:
        """Seconds of a monotonic clock, for deadlines."""
        return time.monotonic()
