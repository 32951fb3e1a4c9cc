"""What commands print: results and tables go to stdout, everything else to stderr.

Names and messages can come from a program, a model service or a foreign run. A terminal obeys control characters, so
everything that is printed goes through this module, which lets none pass.
"""

import errno
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Final

import typer

from ..core.errors import MementoError
from ..core.text import one_line, printable
from .streams import is_terminal_gone

MOST: Final = 4000      # characters of a line for the user
CALLED: Final = "MEMENTO_CALLED"    # the variable in which a checkout's launcher says how it was called

def print_text(text: str, *, newline: bool = True) -> None:
    """Print a result to stdout. Raises MementoError where stdout cannot be written; a closed pipe is no such error."""
    _echo(as_called(text), newline=newline)


def as_called(text: str) -> str:
    """The text with the commands of this program as it was called, such as ./memento in a checkout."""
    called = os.environ.get(CALLED)
    return _command().sub(lambda _: called, text) if called else text


@cache
def _command() -> re.Pattern[str]:
    """The word `memento` before the name of one of its commands."""
    from typer.main import get_command

    from ..core import extensions
    from .commands import commands

    own = getattr(get_command(commands), "commands", {})
    names = "|".join(map(re.escape, (*own, *extensions.names(extensions.COMMANDS))))
    return re.compile(rf"(?<![\w./-])(?<!-m )memento(?= (?:{names})\b)")


def _echo(text: str, *, newline: bool = True) -> None:
    try:
        typer.echo(printable(text), nl=newline)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        if is_terminal_gone(error):
            return
        raise MementoError(f"the output cannot be written: {error.strerror}; print it to another place") from None


def say(sentence: str) -> None:
    """Print one line for the user to stderr. One that cannot be written is dropped: no result depends on it."""
    print_note(f"memento: {one_line(sentence, MOST)}")


def print_note(text: str) -> None:
    """Print to stderr what is no result, with its lines."""
    with suppress(OSError, ValueError):
        typer.echo(printable(as_called(text)), err=True)


def print_json(result: Mapping[str, object]) -> None:
    """Print one JSON object on one line to stdout."""
    print_json_line(json.dumps(result, allow_nan=False))


def print_json_line(line: str) -> None:
    """Print a line of JSON to stdout, its unprintable characters as the escapes of JSON."""
    _echo("".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line))


def print_table(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with their texts in two columns to stdout; nothing without rows."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        print_text(f"{name:<{width}}  {text}")
