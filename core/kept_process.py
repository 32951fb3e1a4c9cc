"""Runs a program, and ends with it whatever it started (Linux): a keeper between the controller and the program.

    python -m memento.core.kept_process PROGRAM [ARGUMENT ...]

What a program starts in the background, in a session of its own or by a double fork, becomes the keeper's child when
its parents end, since the keeper is a subreaper. The streams, the environment and the folder are the caller's, and the
keeper ends as the program ended. It ends all of them when its caller ends; where the keeper itself is killed, its
caller ends what is below it.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import Final

from .process_tree import adopt_orphans, die_with_parent, end_descendants

NOT_STARTED: Final = 126
NOT_STARTED_WORDS: Final = "cannot be run: "


def main() -> None:
    """Run the program of the arguments, end what it left, and end as it did."""
    adopt_orphans()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _end_all)
    die_with_parent(signal.SIGTERM)
    try:
        pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, setsigdef=[signal.SIGPIPE])
    except OSError as error:
        sys.stderr.write(f"{NOT_STARTED_WORDS}{error.strerror}\n")
        sys.exit(NOT_STARTED)
    for stream in (0, 1):   # the program's alone: the caller sees their end when it closes them
        with suppress(OSError):
            os.close(stream)
    status = _wait_for(pid)
    end_descendants(os.getpid())
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        os._exit(code)
    signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
    os.kill(os.getpid(), -code)


def _wait_for(pid: int) -> int:
    """The status of the program; others that end meanwhile are reaped."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == pid:
            return status


def _end_all(number: int, frame: object) -> None:
    end_descendants(os.getpid())
    os._exit(128 + number)


if __name__ == "__main__":
    main()
