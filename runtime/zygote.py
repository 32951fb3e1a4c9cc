"""The warm process beside a worker: it forks a fresh process for each program and sees to its end.

It holds no secret, no program and no recording: programs read theirs over their own channel. One program
lives at a time. When the worker goes, the control socket closes and everything below this process dies.
Its own session keeps it alive just long enough for that when the worker is killed as a group.
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

from . import sandbox
from .frames import HEADER, receive_exactly, send_frame

START: Final = 33       # with one descriptor, the program's channel; JSON bounds. Answered by STARTED
END: Final = 34         # JSON grace_s. Answered by ENDED
STARTED: Final = 35     # JSON pid
ENDED: Final = 36       # JSON status, cpu_s, flooded, output

TAIL_BYTES: Final = 4096
READ_BYTES: Final = 1 << 16
SWEEP_S: Final = 2.0    # to end descendants that a program left behind
CHANNEL_FD: Final = 3   # where a program finds its channel


class Warden:
    """Forks programs, keeps the tail of what they print, ends them with all their descendants."""

    def __init__(self, control: socket.socket, prepared: sandbox.Prepared) -> None:
        self.control = control
        self.prepared = prepared
        self.pid = 0
        self.output = -1
        self.output_cap = 0
        self.written = 0
        self.flooded = False
        self.tail = b""

    def serve(self) -> None:
        """Answer the worker until it goes."""
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
        """Take one request; False where the worker has gone."""
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
        else:
            raise ValueError(f"unknown request {kind}")
        return True

    def _reply(self, kind: int, message: dict[str, Any]) -> None:
        send_frame(self.control, kind, json.dumps(message).encode())

    def _start(self, channel: int, request: dict[str, Any]) -> None:
        if self.pid:
            raise ValueError("a program is still alive")
        bounds = sandbox.Bounds(**request["bounds"])
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_program(channel, writing, self.prepared, bounds)
        os.close(channel)
        os.close(writing)
        os.set_blocking(reading, False)
        self.pid, self.output, self.output_cap = pid, reading, int(request["output_bytes"])
        self.written, self.flooded, self.tail = 0, False, b""
        self._reply(STARTED, {"pid": pid})

    def _drain(self) -> bool:
        """Read some of the program's output; False where there is no more now."""
        if self.output < 0:
            return False
        try:
            data = os.read(self.output, READ_BYTES)
        except BlockingIOError:
            return False
        self.tail = (self.tail + data[: self.output_cap - self.written])[-TAIL_BYTES:]
        self.written += len(data)
        if self.written > self.output_cap:
            self.flooded = True
            self._kill()
        if not data or self.flooded:
            os.close(self.output)
            self.output = -1
            return False
        return True

    def _kill(self) -> None:
        """SIGKILL to the program and its group. Its id cannot be another's: it is not reaped yet."""
        for send in (os.kill, os.killpg):
            with suppress(ProcessLookupError):
                send(self.pid, signal.SIGKILL)

    def _end(self, *, grace_s: float) -> dict[str, Any]:
        """End the program, waiting `grace_s` for it to exit by itself, and all it left behind."""
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
        output = self.tail.decode(errors="replace")
        self.tail = b""
        return {"status": status, "cpu_s": cpu_s, "flooded": self.flooded, "output": output}

    def _wait(self, grace_s: float) -> tuple[int | None, Any]:
        """Exit code (negative: the signal), None where it had to be killed; and what it used."""
        deadline = time.monotonic() + grace_s
        while not self.flooded and time.monotonic() < deadline:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)  # what it forked; the group keeps the id from reuse
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


def _become_program(channel: int, output: int, prepared: sandbox.Prepared, bounds: sandbox.Bounds) -> NoReturn:
    """In the forked child: leave everything of the warm process behind and run the program."""
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
        code = 0  # the worker has no more to ask
    except Exception:  # noqa: BLE001 - shown to people through the output's tail; the worker sees code 70
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
    sandbox.adopt_orphans()
    from . import program  # numpy, before any fork

    program.preload()
    prepared = sandbox.prepare([*map(Path, sys.path), program.NUMPY_FOLDER])
    sandbox.wipe_environment()
    gc.collect()
    gc.freeze()  # forks share these pages
    send_frame(control, STARTED, b"{}")
    Warden(control, prepared).serve()
