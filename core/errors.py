"""What can go wrong with MEMENTO itself, split by who must act. A bad candidate is never raised: it is a Fault.

MementoError            MEMENTO itself is broken; exit 3
├── UsageError          the user must change a flag, a file or a setting; one-sentence message, exit 2
├── StoreError          a run folder cannot be read or written
│   └── RunRefused      it is locked, or made by a newer version; a UsageError as well
├── ModelError          a language model, or the way to it, failed for good
│   ├── BudgetSpent     the user's budget does not allow another model call; the run stops cleanly
│   └── ServiceLost     a service answered nothing for as long as the run waits for it; the run stops cleanly
├── RolloutError        the simulator or a worker failed for good, not the candidate
└── SearchError         the search cannot go on: no valid initial policy, no valid evaluator, no vote
"""

import errno
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T", bound=BaseException)

DISK_FULL = "the disk is full; free some space and resume the run, no fact is lost"


class MementoError(Exception):
    """MEMENTO could not do its work. The message is one sentence that names the problem and the fix."""


class UsageError(MementoError):
    """The user requested something impossible. The message names the problem and the fix."""


class StoreError(MementoError):
    """A run's store is missing, damaged, locked, full or of another version."""


class RecordingLost(StoreError):
    """A recording is on no disk: it was deleted, or the node of a cluster that held it is gone."""


class RunRefused(UsageError, StoreError):
    """A run's store is intact but cannot be used now: a live controller holds it, or a newer version made it."""


class ModelError(MementoError):
    """A language model call failed for good, after its retries.

    `fatal`: every further call of this model would fail too (a refused key, an unknown model, an empty
    account), so the run cannot go on with it. Otherwise only this call failed. `attempts` counts the
    requests that were sent for it. `of_pictures`: a question with a picture was refused, so calls without one
    may still be answered. `down`: the service answers nothing at the moment, so waiting for it may help.
    `room`: the prompt was too long, and one of at most this many characters should do.
    """

    def __init__(
        self, message: str, *, fatal: bool = False, attempts: int = 0, of_pictures: bool = False, down: bool = False,
        room: int | None = None,
    ) -> None:
        super().__init__(message)
        self.fatal = fatal
        self.attempts = attempts
        self.of_pictures = of_pictures
        self.down = down
        self.room = room


class BudgetSpent(ModelError):
    """A budget does not allow the next model call, which was not sent. What the run has so far is kept."""

    def __init__(self, message: str) -> None:
        super().__init__(message, fatal=True)


class ServiceLost(ModelError):
    """A service answered nothing for as long as the run waits for it. The call was not answered and costs no slot."""

    def __init__(self, message: str) -> None:
        super().__init__(message, fatal=True)


class RolloutError(MementoError):
    """A rollout failed twice, and the cause is not the candidate but the simulator, the worker or the machine."""


class SearchError(MementoError):
    """The search cannot continue, for example without a valid evaluator or a valid vote."""


def os_problem(error: OSError) -> str:
    """The problem as the end of a sentence: the system's own message, or the fix if the disk is full."""
    return DISK_FULL if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)


def nearest(given: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names most similar to `given`, nearest first, then those of which it is a word.

    `cutoff` is the minimum similarity, from 0 to 1.

    >>> nearest("pool", ["evaluator_pool", "model"], cutoff=0.7)
    ['evaluator_pool']
    """
    names = sorted(known)
    near = get_close_matches(given, names, n=most, cutoff=cutoff)
    return (near + [name for name in names if name not in near and given in re.split(r"[-_.:]", name)])[:most]


def no_such(what: str, given: str, known: Iterable[str], *, cutoff: float = 0.6) -> UsageError:
    """A UsageError for the name `given`, which is not among `known`: lists the nearest names, else all.

    >>> str(unknown("method", "mementoo", ["memento", "eureka"]))
    "unknown method 'mementoo': did you mean 'memento'?"
    """
    names = sorted(known)
    near = nearest(given, names, cutoff=cutoff)
    if near:
        return UsageError(f"unknown {what} {given!r}: did you mean {' or '.join(map(repr, near))}?")
    return UsageError(f"unknown {what} {given!r}; known: {', '.join(names) or 'none'}")


def first_of(error: BaseException, kind: type[T]) -> T | None:
    """The error itself, or the first of its kind in an exception group; None without one."""
    if isinstance(error, kind):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((found for inner in error.exceptions if (found := first_of(inner, kind)) is not None), None)
    return None
