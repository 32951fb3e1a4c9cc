"""Tries each layer in a forked process: puts it on, then does what it must stop. Run by `probing`."""

import errno
import functools
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

from . import kernel, landlock, seccomp

TRIAL_S: Final = 10.0
SECRET: Final = "/proc/self/environ"


class Missing(Exception):
    """The layer is not there, or does not do its work; the message says why."""


def main() -> None:
    """Print {layer: [is live, words]} as JSON."""
    sys.stdout.write(json.dumps({name: _outcome_of(trial) for name, trial in TRIALS.items()}))


def _outcome_of(trial: Callable[[], str]) -> tuple[bool, str]:
    """The outcome of a trial in a fork."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run(trial, writing)
    os.close(writing)
    answer = b""
    if select.select([reading], [], [], TRIAL_S)[0]:
        answer = os.read(reading, 4096)
    os.close(reading)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if answer[:1] == b"+":
        return True, answer[1:].decode(errors="replace")
    return False, answer[1:].decode(errors="replace") or f"the trial ended with status {status} and no word"


def _run(trial: Callable[[], str], writing: int) -> NoReturn:
    try:
        words = "+" + trial()
    except Exception as error:  # noqa: BLE001 - reported to the process that asks
        words = f"-{error}" if isinstance(error, Missing) else f"-{type(error).__name__}: {error}"
    os.write(writing, words.encode()[:4096])
    os._exit(0)


def _must_fail(action: Callable[[], object], errors: tuple[int, ...], what: str) -> None:
    try:
        action()
    except OSError as error:
        if error.errno in errors:
            return
        raise
    raise Missing(f"it is on, and a program can still {what}")


# ------------------------------------------------------------------------------------------ the trials


def _rlimits() -> str:
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    try:
        bytearray(512 << 20)
    except MemoryError:
        return "an allocation above the limit failed"
    raise Missing("this system does not enforce a limit of memory")


def _environment() -> str:
    if not kernel.LINUX:
        raise Missing("only Linux shows it, and only there it is wiped")
    # This process began with the block that its parent gave it; a layer that only forgets leaves it there.
    block = Path(SECRET).read_bytes()
    kernel.wipe_environment()
    if Path(SECRET).read_bytes().strip(b"\0"):
        raise Missing("the environment can still be read after it was wiped")
    return f"the {len(block)} bytes that /proc showed were wiped"


def _pdeathsig() -> str:
    if not kernel.LINUX:
        raise Missing("only Linux has it; a program may outlive a killed worker until its deadline")
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        if os.fork() == 0:
            kernel.die_with_parent()
            os.write(writing, b"x")
            time.sleep(TRIAL_S)
            os._exit(0)
        os.close(writing)
        os.read(reading, 1)     # only once it is set may the parent go
        os._exit(0)
    os.close(writing)
    os.waitpid(parent, 0)
    # The end of the pipe comes when its last holder is dead.
    if select.select([reading], [], [], TRIAL_S / 2)[0] and os.read(reading, 1) == b"":
        return "a process whose parent ended was killed"
    raise Missing("a process outlived its parent")


def _no_new_privs() -> str:
    if not kernel.LINUX:
        raise Missing("only Linux has it")
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if kernel.prctl(kernel.PR_GET_NO_NEW_PRIVS) != 1:
        raise Missing("the kernel does not keep it")
    return "set, and it stays"


def _capabilities() -> str:
    if not kernel.can_drop_capabilities():
        raise Missing("only known for Linux on x86-64 and ARM64")
    had = kernel.has_capabilities()
    kernel.drop_capabilities()
    if kernel.has_capabilities():
        raise Missing("they could not be dropped")
    return "root's were dropped" if had else "this user has none to drop"


def _landlock() -> str:
    reason = landlock.why_missing()
    if reason:
        raise Missing(reason)
    version = landlock.abi()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(landlock.make_ruleset([Path(os.devnull)]))
    Path(os.devnull).read_bytes()
    _must_fail(lambda: os.open(SECRET, os.O_RDONLY), (errno.EACCES,), "read foreign files")
    _must_fail(lambda: os.open(os.devnull, os.O_WRONLY), (errno.EACCES,), "write")
    if version >= 4:
        with socket.socket() as sock:
            _must_fail(lambda: sock.connect(("127.0.0.1", 9)), (errno.EACCES,), "connect")
    if version >= 6:
        _must_fail(lambda: os.kill(os.getppid(), 0), (errno.EPERM,), "signal others")
    guarded = ["files", *["TCP"] * (version >= 4), *["signals"] * (version >= 6)]
    return f"version {version}: {', '.join(guarded)}"


def _seccomp() -> str:
    reason = seccomp.why_missing()
    if reason:
        raise Missing(reason)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.Filter().restrict()
    refused = (errno.EPERM,)
    _must_fail(os.fork, refused, "fork")
    _must_fail(lambda: os.execv(sys.executable, [sys.executable]), refused, "execute programs")
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
        _must_fail(functools.partial(socket.socket, family, socket.SOCK_DGRAM), refused, "open sockets")
    _must_fail(lambda: os.kill(os.getpid(), 0), refused, "send signals")
    _must_fail(lambda: os.open(os.devnull, os.O_WRONLY), refused, "open files to write")
    return f"x86-64: {len(seccomp.ALLOWED) + len(seccomp.CONDITIONAL)} system calls are left, of some 450"


TRIALS: Final[dict[str, Callable[[], str]]] = {
    "rlimits": _rlimits, "environment": _environment, "pdeathsig": _pdeathsig, "no_new_privs": _no_new_privs,
    "capabilities": _capabilities, "landlock": _landlock, "seccomp": _seccomp,
}
