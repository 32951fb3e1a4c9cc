"""A program in a real terminal: what it draws, and keys for it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENOUGH_S = 100.0


class Terminal:
    """A program in a terminal of 80 columns and 24 lines."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._fd, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        environment = os.environ | {"TERM": "xterm-256color", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=other, stdout=other, stderr=other, start_new_session=True
        )
        os.close(other)
        self.shown = ""

    def read(self, until: str) -> None:
        """Read until some words were drawn."""
        deadline = time.monotonic() + ENOUGH_S
        while until not in self.shown:
            assert time.monotonic() < deadline, self.shown[-3000:]
            if not self._take():
                assert until in self.shown, self.shown[-3000:]

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def wait(self, seconds: float) -> None:
        """Read on for a while, or until the program is over."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < deadline:
            self._take()

    def end(self) -> int:
        """Read on until the program is over; its exit code."""
        deadline = time.monotonic() + ENOUGH_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._take()
        while self._take():
            pass
        return self.process.wait(5)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._fd)

    def _take(self) -> bool:
        if not select.select([self._fd], [], [], 0.2)[0]:
            return self.process.poll() is None
        try:
            data = os.read(self._fd, 65536)
        except OSError:         # the other end is closed
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)


@contextmanager
def terminal(command: list[str], folder: Path) -> Iterator[Terminal]:
    opened = Terminal(command, folder)
    try:
        yield opened
    finally:
        opened.close()
