"""Where a run that Python code started shows its progress."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ...core.errors import no_such
from ...core.ports import Display
from ...tui.display import PlainLines, ProgressBar, open_display

DISPLAYS: Final = ("auto", "bar", "rich", "plain", "none")


@contextmanager
def display_of(kind: str) -> Iterator[Display]:
    """The display of this kind, closed at the end. "auto" is a bar below the cell in a notebook; elsewhere it is the
    live screen if stderr is a terminal, and otherwise plain lines on stderr. Raises UsageError."""
    if kind not in DISPLAYS:
        raise no_such("display", kind, DISPLAYS)
    screen = _display(kind)
    try:
        yield screen
    finally:
        screen.close()


def _display(kind: str) -> Display:
    stream = sys.stdout if in_notebook() else sys.stderr    # a notebook shows stderr as an error
    if kind == "bar" or (kind == "auto" and in_notebook()):
        return ProgressBar(stream)
    if kind == "plain":
        return PlainLines(stream)
    return open_display("rich" if kind == "auto" else kind, sys.stderr, environment=os.environ)


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this code."""
    return sys.modules.get("ipykernel") is not None
