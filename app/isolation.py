"""The layers that isolate generated programs on this machine, and the messages if some are missing."""

from collections.abc import Iterable

import structlog

from ..core.errors import UsageError
from ..runtime.rollouts import sandbox

ISOLATING = sandbox.ISOLATING

_log = structlog.get_logger("memento.isolation")


def live_layers() -> tuple[str, ...]:
    """The names of the layers that are active for every generated program on this machine."""
    return tuple(name for name, layer in sandbox.layers().items() if layer.live)


def require_sandbox(layers: Iterable[str]) -> None:
    """Raise UsageError if these layers do not isolate programs."""
    live = {*layers}
    missing = [layer for layer in ISOLATING if layer not in live]
    if missing:
        raise UsageError(
            f"--require-sandbox: generated code cannot be isolated here ({', '.join(missing)} missing); "
            "see memento doctor"
        )


def warn_of_lost(before: Iterable[str], now: Iterable[str]) -> None:
    """Warn if a run continues with fewer layers than it started with, for example on another machine."""
    live = {*now}
    lost = [layer for layer in before if layer not in live]
    if lost:
        _log.warning("isolation-lost", missing=", ".join(lost), why="the run started with more: see memento doctor")
