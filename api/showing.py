"""Where a run that Python code started shows its progress."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..core.errors import unknown
from ..tui.display import Display, PlainLines, open_display

DISPLAYS: Final = ("auto", "rich", "plain", "none")


@contextmanager
def shown(kind: str) -> Iterator[Display]:
    """The display of this kind, closed at the end. "auto" is plain lines below the cell in a notebook; elsewhere it is
    the live screen if stderr is a terminal, and otherwise plain lines on stderr. Raises UsageError."""
    if kind not in DISPLAYS:
        raise unknown("display", kind, DISPLAYS)
    screen = _opened(kind)
    try:
        yield screen
    finally:
        screen.close()


def _opened(kind: str) -> Display:
    if kind in ("auto", "plain") and in_notebook():
        return PlainLines(sys.stdout)       # a notebook shows stderr as an error
    return open_display("rich" if kind == "auto" else kind, sys.stderr, environment=os.environ)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code."""
    return sys.modules.get("ipykernel") is not None
