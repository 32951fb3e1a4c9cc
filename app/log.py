"""Sends the controller's log lines to stderr, warnings and worse only; the display shows the rest.

structlog imports rich where it is installed, for tracebacks in colour, which no line of ours has. With what rich
imports itself that is a tenth of all modules at the first line of a run: so structlog is imported here first, without.
"""

import sys
from collections.abc import MutableMapping
from typing import Any

from ..core.imports import hidden
from ..core.text import printable

with hidden("rich"):
    import structlog


def log_to_stderr() -> None:
    """Configure structlog, which would print to stdout; stdout is for results."""
    # Looked up for every line: a live display replaces sys.stderr while it draws.
    structlog.configure(
        processors=[
            structlog.processors.add_log_level, structlog.processors.format_exc_info, _line
        ],
        wrapper_class=structlog.make_filtering_bound_logger("warning"),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


def _line(_: Any, __: str, entry: MutableMapping[str, Any]) -> str:
    """A line among those of the display: "   warning: node lost: node=alpha, why=it does not answer".

    An `environment` and `what`, a sentence, need no names: "   warning: no reading: gym:Sonar-v0: where an …".
    """
    level, event, trace = entry.pop("level"), str(entry.pop("event")), entry.pop("exception", None)
    where, what = entry.pop("environment", None), entry.pop("what", None)
    values = ", ".join(f"{key}={value}" for key, value in entry.items())
    line = ": ".join(str(each) for each in (f"   {level}", event.replace("-", " "), where, values, what) if each)
    return printable(line if trace is None else f"{line}\n{trace}")
