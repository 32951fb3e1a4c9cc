"""The seccomp filter: which system calls a program may make. All others fail with EPERM; foreign ABIs kill.

The list holds what an interpreter with numpy uses once it runs, and nothing that makes a process, a thread,
a socket, a descriptor to write to, or that reaches another process. Numbers are those of x86-64.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .kernel import LINUX, syscall

MACHINES: Final = ("x86_64",)   # where the filter is written and tested for
_SECCOMP: Final = 317
_SET_MODE_FILTER: Final = 1
_GET_ACTION_AVAILABLE: Final = 2

_AUDIT_ARCH_X86_64: Final = 0xC000003E
_X32_BIT: Final = 0x40000000
_KILL_PROCESS: Final = 0x80000000
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000

ALLOWED: Final[Mapping[str, int]] = {
    # the clock, memory and its channel
    "read": 0, "write": 1, "readv": 19, "writev": 20, "pread64": 17, "close": 3, "poll": 7, "ppoll": 271,
    "select": 23, "pselect6": 270, "futex": 202, "sched_yield": 24, "restart_syscall": 219,
    "gettimeofday": 96, "time": 201, "times": 100,
    "nanosleep": 35, "clock_nanosleep": 230, "alarm": 37, "getitimer": 36, "setitimer": 38,
    "brk": 12, "mmap": 9, "mprotect": 10, "munmap": 11, "mremap": 25, "madvise": 28,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sigaltstack": 131,
    "exit": 60, "exit_group": 231, "getrandom": 318,
    # itself
    "getpid": 39, "gettid": 186, "getppid": 110, "getpgrp": 111, "getuid": 102, "geteuid": 107, "getgid": 104,
    "getegid": 108, "getresuid": 118, "getresgid": 120, "getrusage": 98, "getrlimit": 97, "getcpu": 309,
    "sched_getaffinity": 204, "uname": 63, "sysinfo": 99, "getcwd": 79,
    # files, as far as Landlock lets it: for imports from the standard library and numpy
    "fstat": 5, "stat": 4, "lstat": 6, "newfstatat": 262, "statx": 332, "access": 21, "faccessat": 269,
    "faccessat2": 439, "lseek": 8, "fadvise64": 221, "getdents64": 217, "dup": 32, "dup2": 33, "dup3": 292,
}


@dataclass(frozen=True, slots=True)
class Bits:
    """Argument `index` has no bit outside `allowed`; the upper half of a `wide` one is zero as well."""

    index: int
    allowed: int = 0
    wide: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    """The lower half of argument `index`, an int in the kernel, is one of `values`."""

    index: int
    values: tuple[int, ...]


Condition = Bits | OneOf

_READ_ONLY: Final = (
    os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0) | 0o100000    # O_LARGEFILE, which Python shows as 0 on x86-64
)
_CLOCKS: Final = tuple(range(12))   # CLOCK_REALTIME to CLOCK_TAI; a negative number is another process' CPU clock
CONDITIONAL: Final[Mapping[tuple[str, int], tuple[Condition, ...]]] = {
    ("sendto", 44): (Bits(3), Bits(4, wide=True)),          # no flags, no address: its own channel
    ("recvfrom", 45): (Bits(3), Bits(4, wide=True)),
    ("openat", 257): (Bits(2, _READ_ONLY),),
    ("open", 2): (Bits(1, _READ_ONLY),),
    ("fcntl", 72): (OneOf(1, (0, 1, 2, 3, 1030)),),         # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
    ("clock_gettime", 228): (OneOf(0, _CLOCKS),),
    ("clock_getres", 229): (OneOf(0, _CLOCKS),),
    ("prlimit64", 302): (Bits(0), Bits(2, wide=True)),      # only to read its own
}
REFUSED: Final[Mapping[tuple[str, int], int]] = {
    ("ioctl", 16): errno.ENOTTY,    # what is no terminal answers: nothing of a program's is one
    ("clone3", 435): errno.ENOSYS,  # the C library falls back to clone, which is refused
}


def why_missing() -> str:
    """Why there is no filter on this machine; empty where there is one."""
    if not LINUX:
        return "only Linux has it"
    machine = os.uname().machine
    if machine not in MACHINES:
        return f"the filter is written and tested for x86-64, and this machine is {machine}"
    try:
        syscall(_SECCOMP, _GET_ACTION_AVAILABLE, 0, ctypes.byref(ctypes.c_uint32(_KILL_PROCESS)))
    except OSError as error:
        return f"the kernel, or the container around this process, does not offer it ({os.strerror(error.errno or 0)})"
    return ""


class Filter:
    """A filter ready to be put on; made once, in the warm process."""

    def __init__(self) -> None:
        code = filter_program()
        self._code = ctypes.create_string_buffer(code, len(code))   # the kernel reads it from here
        self._program = _Program(length=len(code) // 8, code=ctypes.addressof(self._code))

    def restrict(self) -> None:
        """Put the filter on this process for good; no_new_privs must be set. Raises OSError."""
        syscall(_SECCOMP, _SET_MODE_FILTER, 0, ctypes.byref(self._program))


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]


# ------------------------------------------------------------------------------- the filter's machine code
# Classic BPF over struct seccomp_data: number at 0, architecture at 4, arguments of 8 bytes from 16 on.

_LOAD: Final = 0x20
_AND: Final = 0x54
_IF_EQUAL: Final = 0x15
_IF_AT_LEAST: Final = 0x35
_RETURN: Final = 0x06


def filter_program() -> bytes:
    """The filter as BPF instructions of 8 bytes."""
    code = [
        *_load(4), _jump(_IF_EQUAL, _AUDIT_ARCH_X86_64, 1, 0), _return(_KILL_PROCESS),
        *_load(0), _jump(_IF_AT_LEAST, _X32_BIT, 0, 1), _return(_KILL_PROCESS),
    ]
    # First what is looked at each time, such as the channel; for the rest the kernel remembers the answer.
    for (_, number), conditions in CONDITIONAL.items():
        checks = [each for condition in conditions for each in _check(condition)]
        code += [_jump(_IF_EQUAL, number, 0, len(checks) + 1), *checks, _return(_ALLOW)]
    for number in ALLOWED.values():
        code += [_jump(_IF_EQUAL, number, 0, 1), _return(_ALLOW)]
    for (_, number), error in REFUSED.items():
        code += [_jump(_IF_EQUAL, number, 0, 1), _return(_ERRNO | error)]
    return b"".join([*code, _return(_ERRNO | errno.EPERM)])


def _check(condition: Condition) -> list[bytes]:
    """Instructions that go on where the condition holds and return EPERM where not."""
    low = 16 + 8 * condition.index
    refuse = _return(_ERRNO | errno.EPERM)
    if isinstance(condition, OneOf):
        count = len(condition.values)
        jumps = [_jump(_IF_EQUAL, value, count - place, 0) for place, value in enumerate(condition.values)]
        return [*_load(low), *jumps, refuse]
    code = [*_load(low), struct.pack("<HBBI", _AND, 0, 0, ~condition.allowed & 0xFFFFFFFF)]
    code += [_jump(_IF_EQUAL, 0, 1, 0), refuse]
    if condition.wide:
        code += [*_load(low + 4), _jump(_IF_EQUAL, 0, 1, 0), refuse]
    return code


def _load(offset: int) -> list[bytes]:
    return [struct.pack("<HBBI", _LOAD, 0, 0, offset)]


def _jump(operation: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("<HBBI", operation, if_true, if_false, value)


def _return(action: int) -> bytes:
    return struct.pack("<HBBI", _RETURN, 0, 0, action)
