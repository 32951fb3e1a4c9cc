"""The trusted side of a program process: start it, exchange frames, check the answers, end it.

No data from a program is trusted: sizes are checked before reading, the caller checks the contents, and every wait
has limits in CPU time (the program's fault) and in wall time (first attributed to the machine).
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

from ...core.faults import Fault, FaultKind
from ...core.values import Program
from . import zygote
from .fault_text import program_fault
from .limits import Limits
from .memory_kills import MemoryKills, memory_kills
from .program_frames import (
    ARRAY,
    CRASH,
    HARDENED,
    HEADER,
    INVALID,
    ONE_PIECE_BYTES,
    PROGRAM,
    REPORT,
    SPEC,
    STAGE_BYTES,
    STAGED,
    MalformedFrame,
    receive_frame,
    send_frame,
)

SLICE_S: Final = 0.25               # interval at which a wait checks the clocks and for an abort
PATIENCE: Final = 10.0              # factor on a wall limit for a program that computes on a loaded machine
CONTROL_S: Final = 15.0             # the warm process answers within this
FAULT_BYTES: Final = 16_384         # a CRASH or INVALID frame

_BOOT: Final = """
import importlib.util, sys
root, home = sys.argv[2], sys.argv[3]
spec = importlib.util.spec_from_file_location("memento", root + "/__init__.py", submodule_search_locations=[root])
package = importlib.util.module_from_spec(spec)
sys.modules["memento"] = package
spec.loader.exec_module(package)
sys.path.append(home)
from memento.runtime.rollouts import program, zygote
sys.path.remove(home)
zygote.main()
"""


class ProgramFailed(Exception):
    """The program failed as described by `fault`. It becomes data, never an error of MEMENTO."""

    answer: ClassVar[str] = "done"      # the kind of answer that a worker gives to its task

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault

    def of_kind(self, kind: FaultKind) -> Self:
        """The same failure as another kind of fault."""
        return type(self)(replace(self.fault, kind=kind))


class ProgramOverdue(ProgramFailed):
    """It failed by sleeping or because of a loaded machine. The second time it counts as the program's fault."""

    answer = "overdue"


class GuardLost(ProgramOverdue):
    """It ended together with its warm process, which somebody else can have killed: the third time it is at fault."""

    answer = "killed"


class MemoryShort(GuardLost):
    """The kernel ended it since the memory of the machine or the container was short: tried again, as GuardLost."""


class Aborted(Exception):
    """The controller withdrew the task."""


class LauncherBroken(Exception):
    """The warm process is gone or does not answer: not the program's fault; a new worker fixes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of a program process. `status` is None if it had to be killed, negative for a signal."""

    status: int | None
    flooded: bool
    output: str


class ProgramLauncher:
    """Owns one warm process and starts one program at a time in forks of it."""

    def __init__(
        self, limits: Limits, interrupted: Callable[[], bool], *, kills: MemoryKills = memory_kills
    ) -> None:
        self.limits = limits
        self.interrupted = interrupted
        self.kills = kills
        self._buffer = bytearray(HEADER.size + FAULT_BYTES)
        ours, theirs = socket.socketpair()
        with theirs:
            self._zygote = subprocess.Popen(
                [*_command(), str(theirs.fileno()), *_roots(), f"for-{os.getppid()}"],
                env={"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL, stdout=2, pass_fds=(theirs.fileno(),), start_new_session=True,
            )
        self._control = ours
        ours.settimeout(CONTROL_S)
        self._ready = False

    def launch(self, role: str, program: Program, *, seed: int, cpu_s: float, **spec: object) -> "ProgramProcess":
        """Fork a process for the program and send the program to it. Raises LauncherBroken."""
        ours, theirs = socket.socketpair()
        request = {
            "bounds": {
                "address_bytes": self.limits.address_bytes, "cpu_s": int(cpu_s) + 2,
                "open_files": self.limits.open_files,
            },
            "output_bytes": self.limits.output_bytes,
        }
        payload = json.dumps(request).encode()
        with theirs:
            if not self._ready:
                self._answer(zygote.STARTED)
                self._ready = True
            try:
                message = HEADER.pack(zygote.START, len(payload)) + payload
                socket.send_fds(self._control, [message], [theirs.fileno()])
            except OSError as error:
                raise LauncherBroken(f"the warm process is gone: {error}") from error
            pid = int(json.loads(self._answer(zygote.STARTED))["pid"])
        process = ProgramProcess(self, ours, pid, self._buffer)
        process.send(SPEC, json.dumps({"role": role, "seed": seed, **spec}).encode())
        process.send(PROGRAM, program.text.encode("utf-8", "surrogatepass"))
        return process

    def end(self, *, grace_s: float) -> Ending:
        """End the running program, after `grace_s` seconds to exit by itself. Raises LauncherBroken."""
        try:
            send_frame(self._control, zygote.END, json.dumps({"grace_s": grace_s}).encode())
        except OSError as error:
            raise LauncherBroken(f"the warm process is gone: {error}") from error
        answer = json.loads(self._answer(zygote.ENDED))
        output = self._answer(zygote.OUTPUT).decode(errors="replace")
        return Ending(status=answer["status"], flooded=answer["flooded"], output=output)

    def close(self) -> None:
        """End the warm process and a running program."""
        self._control.close()
        try:
            self._zygote.wait(timeout=CONTROL_S)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait(timeout=CONTROL_S)

    def _answer(self, wanted: int) -> bytearray:
        try:
            kind, payload = receive_frame(self._control, 1 << 20)
        except (OSError, EOFError, MalformedFrame) as error:
            raise LauncherBroken(f"the warm process does not answer: {error}") from error
        if kind != wanted:
            raise LauncherBroken(f"the warm process answered {kind} where {wanted} was due")
        return payload


class ProgramProcess:
    """One program at the other end of a channel."""

    def __init__(self, launcher: ProgramLauncher, channel: socket.socket, pid: int, buffer: bytearray) -> None:
        self.pid = pid
        self._launcher = launcher
        self._channel = channel
        slice_ = struct.pack("ll", 0, int(SLICE_S * 1e6))
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, slice_)
        channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, slice_)
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._clock = cpu_clock(pid)
        self._queue_clock = queue_clock(pid)
        self._cpu_start = self._cpu_mark = self._cpu_last = self._clock()
        self._queued_start = self._queued_mark = self._queue_clock()
        self._queued_of = 0.0       # the exchange that the mark belongs to, by its beginning
        self._waited_s = 0.0
        self._kills = launcher.kills()
        self.output = ""        # what it printed, after its end
        self._ended = False
        self._hardened = False  # from then on, the program may be the cause of a failure
        # the limits of the current exchange
        self._kind = FaultKind.TIMED_OUT
        self._what = self._total_why = ""
        self._cpu_s = self._total_cpu_s = self._wall_s = self._total_wall_s = 0.0
        self._begun = 0.0
        self.allow(cpu_s=launcher.limits.start_cpu_s, wall_s=CONTROL_S, what="loading it")

    # ------------------------------------------------------------------------------------- limits

    def allow(
        self, *, cpu_s: float, wall_s: float, what: str, total_cpu_s: float = float("inf"),
        total_wall_s: float = float("inf"), kind: FaultKind = FaultKind.TIMED_OUT, total_why: str = "",
    ) -> None:
        """Set the limits of the next exchanges, for each and in total, and the fault for exceeding them.

        `total_why` says in words how the total in CPU time came about.
        """
        self._cpu_s, self._wall_s, self._what, self._kind = cpu_s, wall_s, what, kind
        self._total_cpu_s, self._total_wall_s, self._total_why = total_cpu_s, total_wall_s, total_why

    def begin(self) -> None:
        """Start the clocks of one exchange."""
        self._begun = time.perf_counter()

    def finish(self) -> float:
        """Stop the clocks of one exchange. Returns the program's CPU time in it, in seconds.

        Raises ProgramFailed if it took more than allowed.
        """
        self._waited_s += time.perf_counter() - self._begun
        now = self._clock()
        self._check_cpu(now)
        taken_s = now - self._cpu_mark
        self._cpu_mark = now
        return taken_s

    @property
    def cpu_s(self) -> float:
        """The program's CPU time so far in seconds, as far as it was measured."""
        return self._cpu_last - self._cpu_start

    def _check_cpu(self, now: float) -> None:
        self._cpu_last = now
        if now - self._cpu_mark > self._cpu_s:
            raise self.failure(self._kind, f"{self._what} took more than {self._cpu_s:g} s of CPU time")
        if now - self._cpu_start > self._total_cpu_s:
            most = f"the program took more than {self._total_cpu_s:.5g} s of CPU time in all{self._total_why}"
            raise self.failure(self._kind, most)

    def _check(self) -> None:
        """Check the limits between two slices of a wait. Raises ProgramFailed, ProgramOverdue or Aborted."""
        if self._launcher.interrupted():
            self.end()
            raise Aborted
        now = self._clock()
        self._check_cpu(now)
        wall_s = time.perf_counter() - self._begun
        waited_s = self._waited_s + wall_s
        queued = self._queue_clock()
        if self._queued_of != self._begun:      # the first check of an exchange; an exchange itself reads no file
            self._queued_of, self._queued_mark = self._begun, queued
        if overdue(wall_s, now - self._cpu_mark + queued - self._queued_mark, self._wall_s):
            raise self._late(f"{self._what} did not end within {self._wall_s:g} s")
        if overdue(waited_s, now - self._cpu_start + queued - self._queued_start, self._total_wall_s):
            raise self._late(f"the program was waited for more than {self._total_wall_s:g} s in all")

    def _late(self, message: str) -> ProgramOverdue:
        return ProgramOverdue(self.failure(self._kind, message).fault)

    # ------------------------------------------------------------------------------------- frames

    def send(self, kind: int, payload: bytes | memoryview) -> None:
        """Send one frame under the current limits."""
        header = HEADER.pack(kind, len(payload))
        if len(payload) <= ONE_PIECE_BYTES:
            self.send_raw(header + payload)     # one call, so that the other side wakes up once
        else:
            self.send_raw(header)
            self.send_raw(payload)

    def send_raw(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes under the current limits."""
        view = memoryview(data)
        while len(view):
            try:
                view = view[self._channel.send(view):]
            except BlockingIOError:
                self._check()
            except OSError as error:
                raise self.death() from error

    def receive(self, expected: int, cap: int, *, report_cap: int = 0) -> tuple[int, memoryview]:
        """The next frame: its kind and a view of its payload that is valid until the next call.

        A payload has at most `cap` bytes, a REPORT also `report_cap`. Reads `expected` payload bytes in one call if
        they arrive together. Raises ProgramFailed for a program that crashed, sent an unusable value, ended, took too
        long, or sent no frame.
        """
        filled = self._fill(0, HEADER.size, HEADER.size + expected)
        kind, size = HEADER.unpack_from(self._buffer)
        if kind in (CRASH, INVALID):
            cap = FAULT_BYTES
        elif kind == STAGED:
            cap += STAGE_BYTES
        elif kind == REPORT:
            cap = max(cap, report_cap)
        total = HEADER.size + size
        if size > cap or total < filled:
            raise MalformedFrame(f"it sent a frame of {size} bytes where {cap} are agreed")
        if total > len(self._buffer):
            self._buffer = bytearray(self._buffer[:filled]).ljust(total, b"\0")
            self._view = memoryview(self._buffer)
        if filled < total:
            self._fill(filled, total, total)
        return kind, self._view[HEADER.size : total]

    def _fill(self, filled: int, enough: int, most: int) -> int:
        while filled < enough:
            try:
                count = self._channel.recv_into(self._view[filled:most])
            except BlockingIOError:
                self._check()
                continue
            except ConnectionError as error:
                raise self.death() from error
            if count == 0:
                raise self.death()
            filled += count
        return filled

    def await_hardened(self) -> list[str]:
        """The active isolation layers of the process. Raises LauncherBroken if it could not be hardened."""
        self.begin()
        try:
            kind, payload = self.receive(0, FAULT_BYTES)
        except (MalformedFrame, ProgramFailed) as error:
            raise LauncherBroken(f"a program process could not be prepared: {error}") from error
        if kind != HARDENED:
            raise LauncherBroken(f"a program process sent {kind} before it was hardened")
        live: list[str] = json.loads(bytes(payload))
        self._cpu_start = self._cpu_mark = self._cpu_last = self._clock()
        self._queued_start = self._queue_clock()
        self._waited_s = 0.0
        self._hardened = True
        return live

    def send_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Send a trajectory's arrays in the order of the spec."""
        self.begin()
        for array in arrays.values():
            self.send(ARRAY, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    # ------------------------------------------------------------------------------------- endings

    def failure(self, kind: FaultKind, message: str, trace: str = "") -> ProgramFailed:
        """End the process. Returns the fault to raise, with the tail of its output."""
        ending = self.end()
        # The output of a stopped program depends on timing; the output of a failed program does not.
        output = ending.output if ending and kind is not FaultKind.TIMED_OUT else ""
        return ProgramFailed(program_fault(kind, message, trace, output))

    def death(self) -> ProgramFailed:
        """End the process after its channel closed. Returns the exception to raise."""
        ending = self._end(0.5)
        kind, message = FaultKind.CRASHED, "its process closed the channel without an answer"
        if ending is None:
            raise LauncherBroken("a program process was used after its end")
        if ending.flooded:
            message = f"it printed more than {self._launcher.limits.output_bytes} bytes"
        elif ending.status == -24:  # SIGXCPU
            kind, message = FaultKind.TIMED_OUT, "the program used up its CPU time"
        elif ending.status == -signal.SIGKILL and self._launcher.kills() > self._kills:
            message = "the system ended its process, since memory was short on this machine or in its container"
            raise MemoryShort(Fault(kind=kind, message=message))
        elif ending.status is not None and ending.status < 0:
            message = f"its process died of signal {-ending.status}"
        elif ending.status is not None:
            message = f"its process exited with code {ending.status} without an answer"
        return ProgramFailed(program_fault(kind, message, "", ending.output))

    def end(self) -> Ending | None:
        """End the process now; None if it was ended before."""
        return self._end(0.0)

    def _end(self, grace_s: float) -> Ending | None:
        if self._ended:
            return None
        self._ended = True
        with suppress(OSError):     # it may be gone
            self._cpu_last = self._clock()
        try:
            ending = self._launcher.end(grace_s=grace_s)
            self.output = ending.output
            return ending
        except LauncherBroken as error:
            if not self._hardened:
                raise
            # The cause is unclear: as with a wall-clock limit, the program is blamed if it happens again and again.
            message = "its process ended together with the one that guards it"
            raise GuardLost(Fault(kind=FaultKind.CRASHED, message=message)) from error
        finally:
            self._channel.close()


def overdue(wall_s: float, busy_s: float, limit_s: float) -> bool:
    """Whether a program that was waited for `wall_s` is a sleeper.

    `busy_s` is its CPU time and its time in the queue for a processor. A program that is busy gets `PATIENCE` times
    the limit, so that a loaded machine does not decide on a fault.
    """
    return wall_s - busy_s > limit_s or wall_s > PATIENCE * limit_s


def cpu_clock(pid: int) -> Callable[[], float]:
    """A clock of a process's CPU time in seconds; of wall time if CPU time cannot be read."""
    if sys.platform != "linux":
        return time.monotonic
    clock = (~pid << 3) | 2     # MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of the kernel

    def read() -> float:
        return time.clock_gettime(clock)

    return read


def queue_clock(pid: int) -> Callable[[], float]:
    """A clock of the time that a process was ready to run and had no processor, in seconds.

    It stands still if the kernel does not keep this time. The time of a wait is added when the wait ends.
    """
    path = Path(f"/proc/{pid}/schedstat")

    def read() -> float:
        try:
            return int(path.read_bytes().split()[1]) * 1e-9
        except (OSError, IndexError, ValueError):
            return 0.0

    return read


def _command() -> list[str]:
    # -P -s -S: neither the working directory nor any site directory is importable. Not -I, which would
    # ignore PYTHONHASHSEED.
    return [sys.executable, "-P", "-s", "-S", "-B", "-u", "-X", "utf8", "-c", _BOOT]


def _roots() -> tuple[str, str]:
    """Folders of this package and of numpy's installation, for the warm process."""
    return str(Path(__file__).resolve().parents[2]), str(Path(np.__file__).resolve().parent.parent)
