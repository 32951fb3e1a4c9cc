"""The warm process of a worker: it forks a fresh process for each program and ends it.

It holds no secret, no program and no recording: programs read theirs over a separate channel. One program
runs at a time. When the worker ends, the control socket closes and all descendants of this process are killed.
If the worker is killed as a process group, its separate session keeps this process alive long enough for that.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from ...core.process_tree import adopt_orphans
from . import sandbox
from .program_frames import HEADER, receive_exactly, send_frame

START: Final = 33       # with one descriptor, the program's channel; JSON bounds. Answered by STARTED
END: Final = 34         # JSON grace_s. Answered by ENDED
STARTED: Final = 35     # JSON pid
ENDED: Final = 36       # JSON status, cpu_s, flooded; followed by OUTPUT
OUTPUT: Final = 37      # the last bytes that the program printed

TAIL_BYTES: Final = 4096
READ_BYTES: Final = 1 << 16
SWEEP_S: Final = 2.0    # time to end the descendants of a program
CHANNEL_FD: Final = 3   # where a program finds its channel


class Tail:
    """The last bytes of one program's output, in memory that is wiped afterwards.

    Forks inherit this process's heap: later programs could read a copy of the bytes there, even in freed memory
    (for example with `np.empty`).
    """

    def __init__(self) -> None:
        self._kept = memoryview(bytearray(TAIL_BYTES))
        self._read = memoryview(bytearray(READ_BYTES))
        self._size = 0

    def read_from(self, pipe: int, most: int) -> int:
        """Read once from a pipe and keep at most `most` bytes. Returns the number read. Raises BlockingIOError."""
        count = os.readv(pipe, [self._read])
        taken = self._read[: max(0, min(count, most))][-TAIL_BYTES:]
        if len(taken):
            self._kept[: -len(taken)] = self._kept[len(taken):]
            self._kept[-len(taken):] = taken
            self._size = min(TAIL_BYTES, self._size + len(taken))
        self._read[:] = bytes(READ_BYTES)
        return count

    def hand_over(self, control: socket.socket) -> None:
        """Send the kept bytes as a frame, and wipe them."""
        send_frame(control, OUTPUT, self._kept[TAIL_BYTES - self._size :])
        self.wipe()

    def wipe(self) -> None:
        """Overwrite the kept bytes."""
        self._kept[:] = bytes(TAIL_BYTES)
        self._size = 0


class Warden:
    """Forks programs, keeps the tail of their output, ends them with all their descendants."""

    def __init__(self, control: socket.socket, prepared: sandbox.Prepared) -> None:
        self.control = control
        self.prepared = prepared
        self.pid = 0
        self.output = -1
        self.output_cap = 0
        self.written = 0
        self.flooded = False
        self.tail = Tail()

    def serve(self) -> None:
        """Answer the worker until it is gone."""
        try:
            while True:
                watched = [self.control.fileno()] + ([self.output] if self.output >= 0 else [])
                ready, _, _ = select.select(watched, [], [])
                if self.output in ready:
                    self._drain()
                if self.control.fileno() in ready and not self._answer():
                    return
        finally:
            self._end(grace_s=0.0)

    def _answer(self) -> bool:
        """Answer one request. Returns False if the worker is gone."""
        message, fds, _, _ = socket.recv_fds(self.control, HEADER.size, 1)
        if not message:
            return False
        message += bytes(receive_exactly(self.control, HEADER.size - len(message)))
        kind, size = HEADER.unpack(message)
        request: dict[str, Any] = json.loads(receive_exactly(self.control, size) or b"{}")
        if kind == START:
            self._start(fds[0], request)
        elif kind == END:
            self._reply(ENDED, self._end(grace_s=float(request["grace_s"])))
            self.tail.hand_over(self.control)
        else:
            raise ValueError(f"unknown request {kind}")
        return True

    def _reply(self, kind: int, message: dict[str, Any]) -> None:
        send_frame(self.control, kind, json.dumps(message).encode())

    def _start(self, channel: int, request: dict[str, Any]) -> None:
        if self.pid:
            raise ValueError("a program is still alive")
        bounds = sandbox.ResourceLimits(**request["bounds"])
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_program(channel, writing, self.prepared, bounds)
        os.close(channel)
        os.close(writing)
        os.set_blocking(reading, False)
        self.pid, self.output, self.output_cap = pid, reading, int(request["output_bytes"])
        self.written, self.flooded = 0, False
        self._reply(STARTED, {"pid": pid})

    def _drain(self) -> bool:
        """Read some of the program's output. Returns False if no more is available now."""
        if self.output < 0:
            return False
        try:
            count = self.tail.read_from(self.output, self.output_cap - self.written)
        except BlockingIOError:
            return False
        self.written += count
        if self.written > self.output_cap:
            self.flooded = True
            self._kill()
        if not count or self.flooded:
            os.close(self.output)
            self.output = -1
            return False
        return True

    def _kill(self) -> None:
        """Send SIGKILL to the program and its group. Its id is not reused, because it is not reaped yet."""
        for send in (os.kill, os.killpg):
            with suppress(ProcessLookupError):
                send(self.pid, signal.SIGKILL)

    def _end(self, *, grace_s: float) -> dict[str, Any]:
        """End the program, after `grace_s` seconds to exit by itself, and all its descendants."""
        if not self.pid:
            return {}
        status, usage = self._wait(grace_s)
        self.pid, cpu_s = 0, usage.ru_utime + usage.ru_stime
        _sweep()
        while self._drain():
            pass
        if self.output >= 0:
            os.close(self.output)
            self.output = -1
        return {"status": status, "cpu_s": cpu_s, "flooded": self.flooded}

    def _wait(self, grace_s: float) -> tuple[int | None, Any]:
        """The exit code (negative: the signal; None: it had to be killed) and the resource usage."""
        deadline = time.monotonic() + grace_s
        while not self.flooded and time.monotonic() < deadline:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)  # its forks; the group prevents reuse of the id
                return os.waitstatus_to_exitcode(status), usage
            if not self._drain():
                time.sleep(0.002)
        self._kill()
        _, _, usage = os.wait4(self.pid, 0)
        return None, usage


def _sweep() -> None:
    """End descendants that left the program's session: orphans are adopted by this process."""
    deadline = time.monotonic() + SWEEP_S
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError):
            for child in listing.read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            time.sleep(0.001)
    raise TimeoutError("descendants of a program would not die")


def _become_program(channel: int, output: int, prepared: sandbox.Prepared, bounds: sandbox.ResourceLimits) -> NoReturn:
    """In the forked child: drop everything inherited from the warm process and run the program."""
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.dup2(channel, CHANNEL_FD)
        kept = CHANNEL_FD if prepared.ruleset is None else prepared.ruleset
        os.closerange(CHANNEL_FD + 1, kept)
        os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
        os.chdir("/")
        from .program import run  # loaded in `main`, before any fork

        run(socket.socket(fileno=CHANNEL_FD), prepared, bounds)
        code = 0
    except (EOFError, ConnectionError):
        code = 0  # the worker closed the channel
    except Exception:  # noqa: BLE001 - shown to the user through the output's tail; the worker sees code 70
        traceback.print_exc()
    finally:
        os._exit(code)  # never unwind into the warm process's own loop


def main() -> None:
    """Serve the worker at the other end of the control descriptor, the first argument."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)

    def hang_up(*_: object) -> None:
        # No exception: it would cut short the ending of programs, which the closed socket may have begun.
        with suppress(OSError):
            control.shutdown(socket.SHUT_RD)

    signal.signal(signal.SIGTERM, hang_up)
    sandbox.die_with_parent(signal.SIGTERM)
    adopt_orphans()
    from . import program  # numpy, before any fork

    program.preload()
    sandbox.remember_folders(sys.path)
    prepared = sandbox.prepare([*map(Path, sys.path), program.NUMPY_FOLDER])
    sandbox.wipe_environment()
    gc.collect()
    gc.freeze()  # forks share these pages
    send_frame(control, STARTED, b"{}")
    Warden(control, prepared).serve()
