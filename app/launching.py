"""Starts runs in separate processes, which outlive this one."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import IO, Final, Self

PROGRAM: Final = [sys.executable, "-c", "from memento.cli import main; main()"]
POLL_S: Final = 0.05
LAST_WORDS: Final = 2000        # characters of an output that has no line for the user


class LaunchedRun:
    """A command line of MEMENTO in a separate process, without a terminal. A context manager that closes its files.

    Its output goes to files without a name: a run that outlives this process can still write to them, and none is left.
    """

    def __init__(self, arguments: Sequence[str], *, environment: Mapping[str, str] | None = None) -> None:
        with ExitStack() as files:
            self._out = files.enter_context(tempfile.TemporaryFile())
            self._errors = files.enter_context(tempfile.TemporaryFile())
            self.process = subprocess.Popen(
                [*PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._errors,
                env=environment, start_new_session=True,
            )
            self._files = files.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files; the process goes on."""
        self._files.close()

    def wait_until_begun(self, has_begun: Callable[[], bool], *, within_s: float) -> bool:
        """Wait until `has_begun()`. Returns False if the process ended, or was ended at the deadline, before that."""
        deadline = time.monotonic() + within_s
        while not has_begun():
            if self.process.poll() is not None:
                return has_begun()
            if time.monotonic() > deadline:
                self.process.terminate()
                return False
            time.sleep(POLL_S)
        return True

    def wait(self, seconds: float) -> int | None:
        """The exit code, waiting at most this long; None if the process still runs."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode

    def output(self) -> str:
        """The whole of stdout so far."""
        return _read(self._out)

    def last_words(self) -> str:
        """The last line for the user on stderr, with its "memento: "; without one, the end of stderr."""
        text = _read(self._errors)
        lines = [line for line in text.splitlines() if line.startswith("memento: ")]
        return lines[-1] if lines else text[-LAST_WORDS:]


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
