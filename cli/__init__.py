"""The command line: `memento`. Data goes to stdout, talk to stderr.

Exit codes: 0 done, 2 usage or settings, 3 fault, 130 interrupted. Nothing heavy is imported before a command
needs it, so that `memento --help` answers at once.
"""

import sys
from collections.abc import Sequence


def main() -> None:
    """The console script."""
    sys.exit(exit_code(sys.argv[1:]))


def exit_code(arguments: Sequence[str]) -> int:
    """Carry out one command line; returns its exit code. Complaints are one sentence on stderr."""
    try:
        return _carried_out(arguments)
    except KeyboardInterrupt:
        _say("interrupted")
        return 130


def _carried_out(arguments: Sequence[str]) -> int:
    import typer

    from ..core.errors import MementoError, UsageError
    from .commands import commands

    try:
        status = typer.main.get_command(commands).main(
            args=list(arguments) or ["--help"], prog_name="memento", standalone_mode=False
        )
    except typer.TyperException as error:
        _say(_one_sentence(error.format_message()))
        return 2
    except typer.Abort:
        _say("interrupted")
        return 130
    except UsageError as error:
        _say(str(error))
        return 2
    except MementoError as error:
        _say(str(error))
        return 3
    except BrokenPipeError:
        sys.stderr.close()      # the reader left, as in `memento show RUN | head`: nothing to complain of
        return 0
    return status if isinstance(status, int) else 0


def _say(sentence: str) -> None:
    print(f"memento: {sentence}", file=sys.stderr)      # noqa: T201


def _one_sentence(message: str) -> str:
    return " ".join(message.split())
