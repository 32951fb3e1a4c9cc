"""The values of flags and arguments, for the help and for completion, from the registries that define them.

A registry is imported only when its list is needed.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

SHELLS: Final = ("bash", "zsh", "fish")


def domains() -> Iterable[str]:
    """The domains of this package."""
    from ..domains import names

    return names()


def tasks() -> Iterable[str]:
    """The domains of this package, and the forms of names of those that come from others."""
    from ..domains import PREFIXES, names

    return *names(), *(f"{prefix}:NAME" for prefix in PREFIXES)


def methods() -> Iterable[str]:
    """The methods that search in any domain: a calibration has a command, since it needs a robot cell."""
    from ..core.methods import CALIBRATE, METHODS

    return (name for name in METHODS if name != CALIBRATE)


def presets() -> Iterable[str]:
    """The presets of a run's budget."""
    from ..settings.presets import PRESETS

    return PRESETS


def evaluators() -> Iterable[str]:
    """The values of `memento run --evaluator` other than a file."""
    from ..settings.groups import EVALUATORS

    return EVALUATORS


def experiments() -> Iterable[str]:
    """The experiments that are part of this package."""
    from ..evidence.experiment import shipped

    return shipped()


def randomisations() -> Iterable[str]:
    """The randomisation presets of a Hanoi domain."""
    from ..domains.hanoi.randomisation import PRESETS

    return PRESETS


def shells() -> Iterable[str]:
    """The shells that completion supports."""
    return SHELLS


BY_NAME: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    choices.__name__: choices
    for choices in (tasks, methods, presets, evaluators, experiments, randomisations, shells)
}
"""The choices for each `{name}` in a help text."""
