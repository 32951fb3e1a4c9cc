"""The command line: `memento`. Results go to stdout, everything else to stderr.

Exit codes: 0 done, 2 usage or settings, 3 fault, 130 interrupted; 1 from `memento doctor` if something essential is
missing. A command's module holds its flags and what it does; `commands` collects them. Nothing heavy is imported
before a command needs it, so that `memento --help` is fast.
"""

import errno
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.errors import MementoError


def main() -> None:
    """The console script `memento`."""
    from .front import page_for
    from .streams import flush_stdout, prepare_streams

    prepare_streams()
    page = page_for(sys.argv[1:])
    code = exit_code(sys.argv[1:]) if page is None else _print_page(page)
    problem = flush_stdout()
    if problem is not None and code == 0:
        code = _unwritable(problem)
    sys.exit(code)


def _print_page(page: str) -> int:
    try:
        sys.stdout.write(page)
    except OSError as error:
        return 0 if error.errno == errno.EPIPE else _unwritable(error)      # a closed pipe has read enough
    return 0


def _unwritable(problem: OSError) -> int:
    _say(f"the output cannot be written: {problem.strerror}; print it to another place")
    return 3


def main_tui() -> None:
    """The console script `memento-tui [DIR]`: a run's folder, a folder of runs, or a run's name."""
    sys.exit(exit_code(["watch", *sys.argv[1:]]))


def exit_code(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code. An error is one sentence on stderr."""
    from ..core.errors import MementoError, UsageError, first_of

    try:
        return _run(arguments)
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except Exception as error:  # noqa: BLE001 - the top level: an unexpected error shows its traceback, and is a fault
        known = first_of(error, MementoError) or _of_system(error) or _of_extra(error)
        if known is None:
            traceback.print_exception(error)
            return 3
        _say(str(known))
        return 2 if isinstance(known, UsageError) else 3


def _run(arguments: Sequence[str]) -> int:
    import typer

    from .command import usage_error
    from .commands import commands
    from .completion import answer_shells

    answer_shells()
    try:
        status = typer.main.get_command(commands).main(
            args=list(arguments), prog_name="memento", standalone_mode=False, obj=tuple(arguments)
        )
    except typer.TyperException as error:
        raise usage_error(error) from None
    except typer.Abort:
        raise KeyboardInterrupt from None
    return status if isinstance(status, int) else 0


def _of_system(error: BaseException) -> "MementoError | None":
    """What the person can change where the system refused: a name, or a disk."""
    from ..core.errors import MementoError, UsageError, os_problem

    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENAMETOOLONG:
        return UsageError(f"the name {str(error.filename)[:20] + '…'!r} is too long: {os_problem(error)}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        return MementoError(f"{error.filename or 'a file'} cannot be written: {os_problem(error)}")
    return None


def _of_extra(error: BaseException) -> "MementoError | None":
    """The command that installs a package which this installation does without."""
    from ..core.errors import first_of
    from ..core.extras import explain

    found = first_of(error, ImportError)
    return None if found is None else explain(found)


def _say(sentence: str) -> None:
    from .output import say

    say(sentence)
