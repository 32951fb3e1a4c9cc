"""Clocks and entropy inside a program process, derived from the episode's seed, so that an honest program repeats.

A program that looks at the time or draws from the operating system's randomness would otherwise act differently in each
run of the same episode. Here every reading of a clock moves all clocks on by READING_S, and nothing else moves them: a
loop "until 10 ms have passed" ends after the same number of rounds on every machine, loaded or not. The CPU limits stay
real.

This is no isolation: a program can still find the real clock (`os.times`, `os.stat`, `threading`) and its process
number. It only makes the ordinary ways repeatable. Imports the standard library and numpy only.
"""

import datetime
import os
import random
import time
from collections.abc import Callable
from typing import Any, Final, Self

import numpy as np

READING_S: Final = 1e-4     # what one reading moves the clocks on by: 10 ms allow a planner 100 rounds
BEGIN_S: Final = 946_684_800.0      # the time of day at the start of an episode: 2000-01-01, in UTC


class EpisodeClock:
    """The time since the start of the episode, counted in readings."""

    def __init__(self) -> None:
        self._readings = 0

    def elapsed(self) -> float:
        """Seconds since the start; each call moves the clock on."""
        self._readings += 1
        return self._readings * READING_S

    def now(self) -> float:
        """Seconds since the epoch."""
        return BEGIN_S + self.elapsed()


CLOCK: Final = EpisodeClock()      # read only in a program process, which is forked for one episode


class _InPlace(type):
    """The type of a replaced class: instances of the real class count as its own."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__bases__[0])


class _Datetime(datetime.datetime, metaclass=_InPlace):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Self:
        return cls.fromtimestamp(CLOCK.now(), tz)

    @classmethod
    def utcnow(cls) -> Self:
        return cls.fromtimestamp(CLOCK.now(), datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Self:
        return cls.now()


class _Date(datetime.date, metaclass=_InPlace):
    @classmethod
    def today(cls) -> Self:
        return cls.fromtimestamp(CLOCK.now())


def apply(seed: int) -> None:
    """Replace the clocks and the entropy of this process, for good, and seed its global generators."""
    _replace_clocks()
    _replace_entropy(random.Random(seed))
    random.seed(seed)
    np.random.seed([seed & 0xFFFFFFFF, seed >> 32])


def _replace_clocks() -> None:
    module: Any = time
    module.time = CLOCK.now
    module.monotonic = module.perf_counter = module.process_time = module.thread_time = CLOCK.elapsed
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(module, f"{name}_ns", _in_nanoseconds(getattr(module, name)))
    module.clock_gettime = _of_clock(time.clock_gettime)
    module.clock_gettime_ns = _in_nanoseconds(module.clock_gettime)
    for name in ("localtime", "gmtime", "ctime"):
        setattr(module, name, _at_present(getattr(time, name)))
    strftime, asctime = time.strftime, time.asctime
    module.strftime = lambda form, moment=None: strftime(form, module.localtime() if moment is None else moment)
    module.asctime = lambda moment=None: asctime(module.localtime() if moment is None else moment)
    dates: Any = datetime
    for name, replaced in (("datetime", _Datetime), ("date", _Date)):
        replaced.__name__ = replaced.__qualname__ = name
        replaced.__module__ = "datetime"
        setattr(dates, name, replaced)


def _replace_entropy(source: random.Random) -> None:
    system: Any = os
    system.urandom = source.randbytes
    system.getrandom = lambda size, flags=0: source.randbytes(size)
    python: Any = random
    python._urandom = source.randbytes      # what SystemRandom and `secrets` draw from
    entropy: Any = np.random.bit_generator
    if hasattr(entropy, "randbits"):
        entropy.randbits = source.getrandbits


def _of_clock(real: Callable[[int], float]) -> Callable[[int], float]:
    """Readings of numbered clocks; those of other processes have numbers below 0 and go to the real call."""
    readings = {time.CLOCK_REALTIME: CLOCK.now}
    return lambda clock_id: real(clock_id) if clock_id < 0 else readings.get(clock_id, CLOCK.elapsed)()


def _in_nanoseconds(clock: Callable[..., float]) -> Callable[..., int]:
    return lambda *clock_id: round(clock(*clock_id) * 1e9)


def _at_present(convert: Callable[..., Any]) -> Callable[..., Any]:
    """A conversion of seconds since the epoch whose default is the episode's clock."""
    return lambda seconds=None: convert(CLOCK.now() if seconds is None else seconds)
