"""The names that a flag or an argument takes, for the help and for completion, from where each list is defined.

Nothing is imported before a list is needed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

SHELLS: Final = ("bash", "zsh", "fish")


def domains() -> Iterable[str]:
    """The domains of this package."""
    from ..domains import names

    return names()


def methods() -> Iterable[str]:
    """The search methods."""
    from ..core.methods import METHODS

    return METHODS


def presets() -> Iterable[str]:
    """The presets of a run's budget."""
    from ..settings.presets import PRESETS

    return PRESETS


def evaluators() -> Iterable[str]:
    """The words that `memento run --evaluator` takes, apart from a file."""
    from ..settings.model import EVALUATORS

    return EVALUATORS


def experiments() -> Iterable[str]:
    """The experiments that are part of this package."""
    from ..evidence.experiment import shipped

    return shipped()


def randomisations() -> Iterable[str]:
    """How the episodes of a Hanoi domain differ."""
    from ..domains.hanoi.randomisation import PRESETS

    return PRESETS


def shells() -> Iterable[str]:
    """The shells that completion knows."""
    return SHELLS


BY_NAME: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    choices.__name__: choices
    for choices in (domains, methods, presets, evaluators, experiments, randomisations, shells)
}
"""What `{name}` in a help text stands for."""
