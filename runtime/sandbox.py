"""What the operating system takes from a generated program before it runs. Standard library only.

`harden` runs in the forked program process, after everything it needs is loaded and before the program's
text is compiled. It raises OSError where a layer that this machine has cannot be put on, so that no program
runs with less than `layers()` promises.
"""

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_NO_NEW_PRIVS: Final = 38
PR_SET_CHILD_SUBREAPER: Final = 36

LINUX: Final = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Resource limits of one program process."""

    address_bytes: int
    cpu_s: int
    open_files: int


def prctl(option: int, argument: int) -> None:
    """Linux prctl with one argument; nothing elsewhere. Raises OSError."""
    if _libc is not None and _libc.prctl(option, argument, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl({option}): {os.strerror(error)}")


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process the signal when the thread that forked it ends (Linux)."""
    prctl(PR_SET_PDEATHSIG, number)


def adopt_orphans() -> None:
    """Have orphaned descendants become children of this process, so that it can end them (Linux)."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def harden(bounds: Bounds) -> list[str]:
    """Put on every layer that this machine has; returns their names. Raises OSError where one fails."""
    live = ["rlimits"]
    _bound(bounds)
    if LINUX:
        die_with_parent()
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        live += ["pdeathsig", "no_new_privs"]
    return live


def layers() -> Mapping[str, bool]:
    """Which layers `harden` puts on here, by name, without starting a run."""
    return {"rlimits": True, "pdeathsig": LINUX, "no_new_privs": LINUX}


def _bound(bounds: Bounds) -> None:
    """Set the resource limits. The hard CPU limit is a second later, so that SIGXCPU comes first."""
    wanted = {
        resource.RLIMIT_AS: (bounds.address_bytes, bounds.address_bytes),
        resource.RLIMIT_CPU: (bounds.cpu_s, bounds.cpu_s + 1),
        resource.RLIMIT_NOFILE: (bounds.open_files, bounds.open_files),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_NPROC: (0, 0),
    }
    for name, (soft, hard) in wanted.items():
        _, ceiling = resource.getrlimit(name)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(name, (soft, hard))
