"""The writer's lock on a run folder: the kernel holds it for a living process; a note names the holder.

It is a POSIX record lock rather than flock: forked children do not inherit it, so a worker that outlives
a killed controller does not keep the run locked. The process loses such a lock as soon as it closes *any*
descriptor of the file. Therefore only this module opens the file, and never while this process holds the lock.
"""

import fcntl
import json
import os
import socket
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ..core.errors import RunRefused
from ..core.files import open_regular, read_bounded, replace_file

LOCK = "lock"
HOLDER = "holder.json"
_MOST_BYTES = 4096  # of the note
_PATIENCE_S = 0.5  # longer than another process needs to check whether the run is live

_held: dict[tuple[int, int], "WriterLock"] = {}
_guard = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The process that writes a run. `since` is in seconds since the epoch."""

    pid: int
    host: str
    since: float

    def __str__(self) -> str:
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self.since))
        return f"process {self.pid} on {self.host} since {when}"


class WriterLock:
    """The exclusive right to write a run, until `release` or the death of this process."""

    def __init__(self, folder: Path, descriptor: int, identity: tuple[int, int]) -> None:
        self._folder = folder
        self._descriptor = descriptor
        self._identity = identity

    @classmethod
    def acquire(cls, folder: Path, *, now: float) -> "WriterLock":
        """Take the lock. Raises RunRefused with the holder, and OSError if the folder cannot be written."""
        path = folder / LOCK
        with _guard:
            if _identity(path) in _held:
                raise _lock_error(folder)
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT)
            try:
                _lock_soon(descriptor, folder)
                note = Holder(pid=os.getpid(), host=socket.gethostname(), since=now)
                replace_file(folder / HOLDER, json.dumps(asdict(note)))
            except BaseException:
                os.close(descriptor)
                raise
            status = os.fstat(descriptor)
            lock = cls(folder, descriptor, (status.st_dev, status.st_ino))
            _held[lock._identity] = lock
            return lock

    def release(self) -> None:
        """Release the lock. A second call does nothing."""
        with _guard:
            if _held.pop(self._identity, None) is not None:
                (self._folder / HOLDER).unlink(missing_ok=True)
                os.close(self._descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a living process writes this run."""
    path = folder / LOCK
    with _guard:
        identity = _identity(path)
        if identity is None or identity in _held:
            return identity is not None
        try:
            descriptor = open_regular(path)
        except OSError:     # no process of ours holds this; whoever writes the run hears what it is
            return False
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False


def holder(folder: Path) -> Holder | None:
    """The process that writes this run now; None if there is none, or its note is not written yet."""
    if not is_locked(folder):
        return None
    return _noted(folder)


def _noted(folder: Path) -> Holder | None:
    try:
        return Holder(**json.loads(read_bounded(folder / HOLDER, _MOST_BYTES)))
    except (OSError, ValueError, TypeError, RecursionError):
        return None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _lock_soon(descriptor: int, folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise _lock_error(folder) from None
            time.sleep(0.02)


def _lock_error(folder: Path) -> RunRefused:
    who = _noted(folder) or "another process"
    return RunRefused(
        f"the run {folder.name!r} is live: {who} writes it; stop it first (memento stop {folder.name}), or watch it"
    )
