"""Landlock: the files a program may read, and no others; no TCP; no signal to anything outside.

A ruleset is made once, in the warm process, and put on in each fork. https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import errno
import fcntl
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from .kernel import LINUX, syscall

_CREATE_RULESET: Final = 444    # the same on every architecture
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1             # flag of _CREATE_RULESET
_UNLOGGED: Final = 1            # flag of _RESTRICT_SELF
_PATH_BENEATH: Final = 1        # type of a rule

READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
_FILE_RIGHTS: Final = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}    # by the ABI that brought them
_TCP: Final = 0b11              # bind, connect; ABI 4
_SCOPES: Final = 0b11           # abstract unix sockets, signals; ABI 6


class _RulesetAttributes(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("rights", ctypes.c_uint64), ("fd", ctypes.c_int32)]


def abi() -> int:
    """The version of Landlock in this kernel; 0 where it is missing."""
    return 0 if why_missing() else syscall(_CREATE_RULESET, None, 0, _VERSION)


def why_missing() -> str:
    """Why there is no Landlock on this machine; empty where there is."""
    if not LINUX:
        return "only Linux has it"
    try:
        syscall(_CREATE_RULESET, None, 0, _VERSION)
    except OSError as error:
        if error.errno == errno.ENOSYS:
            return "the kernel is older than 5.13, or was built without it"
        if error.errno == errno.EOPNOTSUPP:
            return "it is switched off: landlock is not in the boot parameter lsm="
        return f"the container around this process does not offer it ({os.strerror(error.errno or 0)})"
    return ""


def make_ruleset(readable: Iterable[Path]) -> int:
    """A descriptor of a ruleset that leaves reading and listing some paths and what is below.

    The descriptor is above 3, out of the way of what a fork moves about. Raises OSError.
    """
    version = abi()
    attributes = _RulesetAttributes(files=0, network=0, scopes=0)
    for since, rights in _FILE_RIGHTS.items():
        if version >= since:
            attributes.files |= rights
    size = 8
    if version >= 4:
        attributes.network, size = _TCP, 16
    if version >= 6:
        attributes.scopes, size = _SCOPES, 24
    made = syscall(_CREATE_RULESET, ctypes.byref(attributes), size, 0)
    try:
        for path in readable:
            _allow(made, path, READ_FILE | READ_DIR)
        return fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, 4)
    finally:
        os.close(made)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= ~READ_DIR     # no right of a file: the kernel would refuse the rule
        rule = _PathBeneath(rights=rights, fd=fd)
        syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(fd)


def restrict(ruleset: int) -> None:
    """Put the ruleset on this process for good; no_new_privs must be set. Raises OSError."""
    # A refusal would be a line in the machine's audit log, and a program could make millions of them.
    syscall(_RESTRICT_SELF, ruleset, _UNLOGGED if abi() >= 7 else 0)

