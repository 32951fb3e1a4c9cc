"""The standard streams of this process, so that no full disk, closed descriptor or narrow encoding ends a command."""

import errno
import io
import os
import stat
import sys
from typing import Any, Final

STDOUT: Final = 1
STDERR: Final = 2


class _Lossy(io.FileIO):
    """A file that drops what cannot be written, such as stderr on a full disk."""

    def write(self, data: Any) -> int:
        """Write; returns the number of bytes written or dropped."""
        try:
            return super().write(data)
        except BlockingIOError:
            raise
        except OSError:
            return memoryview(data).nbytes


def prepare_streams() -> None:
    """Open closed standard descriptors on the null device, and let no stream raise for a character.

    Without this a file that is opened later could become descriptor 2, and receive messages.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)   # takes the lowest free number, this one
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(os.devnull, "w"))
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    encoding = sys.stderr.encoding if sys.stderr is not None else "utf-8"
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Lossy(STDERR, "w", closefd=False)), encoding=encoding, errors="backslashreplace",
        line_buffering=True,
    )


def is_terminal_gone(error: OSError) -> bool:
    """Whether this error of stdout says that its terminal was closed: no error of the command, as for a closed pipe."""
    return error.errno == errno.EIO and stat.S_ISCHR(os.fstat(STDOUT).st_mode)


def flush_stdout() -> OSError | None:
    """Write out what stdout still holds; the error where that fails. Then nothing is left that could fail again."""
    try:
        sys.stdout.flush()
    except OSError as error:
        gone = is_terminal_gone(error)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, STDOUT)
        os.close(null)
        return None if gone else error
    return None
