"""MEMENTO evolves executable robot policies: hill-climbing with memory, macro-mutation and crossover.

    import memento

    run = memento.run("hanoi-kinematic", preset="smoke")
    print(run.elite.fitness)

The names below are loaded when they are first used, so that `import memento` is cheap. The tasks as Gymnasium
environments are in `memento.envs`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .core.version import __version__

if TYPE_CHECKING:
    from .app.api import Candidate, EpisodeResult, EvaluateResult, Run, RunResult, evaluate, load, run, runs
    from .core.errors import MementoError, ModelError, RolloutError, SearchError, StoreError, UsageError


__all__ = [
    "Candidate",
    "EpisodeResult",
    "EvaluateResult",
    "MementoError",
    "ModelError",
    "RolloutError",
    "Run",
    "RunResult",
    "SearchError",
    "StoreError",
    "UsageError",
    "__version__",
    "evaluate",
    "load",
    "run",
    "runs",
]


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(".core.errors" if name.endswith("Error") else ".app.api", __name__)
    found = globals()[name] = getattr(home, name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
