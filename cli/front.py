"""The pages that need no command: the start page, the help on all commands, the version. They import almost nothing.

`help.txt` is what Typer prints for `memento --help`; a test compares them, and writes the file after a change.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

HELP: Final = Path(__file__).with_name("help.txt")
HELP_WIDTH: Final = 80
START: Final = """\
MEMENTO evolves robot policies that are programs. Some first commands:

  memento tour                                 80 s of CPU time: a search and its film, at no cost
  memento run hanoi                            200 s: the Tower of Hanoi with a Franka arm
  memento show                                 your runs; memento show RUN: the story of one
  memento watch RUN                            follow a run in this terminal
  memento models                               the ways to name a language model
  memento doctor                               what is installed, and what this machine can do

memento --help lists all commands, memento COMMAND --help explains one.
"""


def page_for(arguments: Sequence[str]) -> str | None:
    """The page that these arguments ask for; None if they are a command, or a shell asks for completions."""
    if "_MEMENTO_COMPLETE" in os.environ:
        return None
    if list(arguments) == ["--version"]:
        from ..core.version import __version__

        return f"memento {__version__}\n"
    if not arguments:
        return START
    if list(arguments) in (["--help"], ["-h"]) and _columns() >= HELP_WIDTH:
        return HELP.read_text(encoding="utf-8")
    return None


def _columns() -> int:
    """The width of the terminal; that of the help if there is none."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(1).columns or HELP_WIDTH
    except OSError:
        return HELP_WIDTH
