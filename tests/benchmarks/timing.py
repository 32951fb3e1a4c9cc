"""The time of a simulator's step: CPU seconds in the fastest of some chunks, since other work only makes it slower."""

import time
from collections.abc import Callable
from typing import Final

import numpy as np

LIMIT_S: Final = 600.0     # of a process that measures one environment
CHUNKS: Final = 10        # of a measurement; the fastest one counts


def fastest(step: Callable[[], bool], begin: Callable[[], object], seconds: float) -> float:
    """CPU seconds per step in the fastest chunk; the first step and the beginning of an episode do not count."""
    if step():      # what is compiled or loaded at first use does not count either
        begin()
    best, begun = np.inf, time.process_time()
    while best == np.inf or time.process_time() - begun < seconds:
        spent, steps = 0.0, 0
        while spent < seconds / CHUNKS:
            started = time.process_time()
            over = step()
            spent += time.process_time() - started
            steps += 1
            if over:
                begin()
        best = min(best, spent / steps)
    return float(best)
