"""Sends the controller's log lines to stderr, warnings and worse only; the display shows the rest."""

import sys

import structlog


def log_to_stderr() -> None:
    """Configure structlog, which would print to stdout; stdout is for results."""
    # Looked up for every line: a live display replaces sys.stderr while it draws.
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"]),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("warning"),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
