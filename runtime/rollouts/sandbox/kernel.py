"""Calls into the kernel that Python has no name for. Linux only; elsewhere `LINUX` is false and nothing is called."""

import ctypes
import errno
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_READ: Final = 23
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
PR_GET_NO_NEW_PRIVS: Final = 39
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4

LINUX: Final = sys.platform == "linux"
_libc = ctypes.CDLL(None, use_errno=True) if LINUX else None


def prctl(option: int, argument: int = 0) -> int:
    """Linux prctl with one argument; 0 elsewhere. Raises OSError."""
    if _libc is None:
        return 0
    return _require_success(_libc.prctl(option, *map(ctypes.c_ulong, (argument, 0, 0, 0))), f"prctl({option})")


def syscall(number: int, *arguments: object) -> int:
    """A raw system call. Arguments are ints, None or ctypes values. Raises OSError."""
    if _libc is None:
        raise OSError(errno.ENOSYS, f"system call {number}: not Linux")
    words = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
    return _require_success(_libc.syscall(ctypes.c_long(number), *words), f"system call {number}")


def _require_success(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process the signal when the thread that forked it ends (Linux)."""
    prctl(PR_SET_PDEATHSIG, number)


def wipe_environment() -> None:
    """Empty the environment, its copy in the memory that /proc/self/environ shows included (Linux)."""
    if _libc is not None:
        block = ctypes.POINTER(ctypes.c_void_p).in_dll(_libc, "environ")
        index = 0
        while block and block[index]:
            address = block[index]
            ctypes.memset(address, 0, len(ctypes.string_at(address)))
            index += 1
    os.environ.clear()


def die_first() -> None:
    """Have the kernel end this process before any other where memory runs out (Linux), if it lets itself be asked."""
    if LINUX:
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")


def drop_capabilities() -> None:
    """Give up every capability of root for good. Raises OSError."""
    try:
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    except OSError as error:
        if error.errno != errno.EINVAL:     # a kernel without ambient capabilities
            raise
    if has_capabilities():
        for capability in range(_MOST_CAPABILITIES):    # a container may lack some in the middle
            if _in_bounding_set(capability):
                prctl(PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    syscall(_CAPSET[os.uname().machine], header, (ctypes.c_uint32 * 6)())


def has_capabilities() -> bool:
    """Whether this process may do anything that an ordinary user may not."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    words = (ctypes.c_uint32 * 6)()
    syscall(_CAPGET[os.uname().machine], header, words)
    return any(words)


def can_drop_capabilities() -> bool:
    """Whether the call's number is known for this machine."""
    return LINUX and os.uname().machine in _CAPSET


_CAPABILITY_VERSION_3: Final = 0x20080522
_MOST_CAPABILITIES: Final = 64     # bits of a set in the kernel; 41 are known today
_CAPGET: Final = {"x86_64": 125, "aarch64": 90}
_CAPSET: Final = {"x86_64": 126, "aarch64": 91}


def _in_bounding_set(capability: int) -> bool:
    try:
        return prctl(PR_CAPBSET_READ, capability) == 1
    except OSError:     # beyond the last one
        return False
