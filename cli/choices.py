"""The choices that help and completion list: values of flags and arguments, by the name of a placeholder.

They come from the registries that define them; each is imported only when its list is needed.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ..core import extensions

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
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
    from ..evidence.experiment import shipped_names

    return shipped_names()


def randomisations() -> Iterable[str]:
    """The randomisation presets of a Hanoi domain."""
    from ..domains.hanoi.randomisation import PRESETS

    return PRESETS


TAPE: Final = "tape"     # a target that is no extension


def targets() -> Iterable[str]:
    """What a run can be exported to."""
    return *extensions.names(extensions.SINKS), TAPE


def shells() -> Iterable[str]:
    """The shells that completion supports."""
    return SHELLS


BY_NAME: Final[Mapping[str, Callable[[], Iterable[str]]]] = {
    choices.__name__: choices
    for choices in (tasks, methods, presets, evaluators, experiments, randomisations, shells, targets)
}
"""The choices for each `{name}` in a help text."""


def with_choices(text: str, between: str = ", ") -> str:
    """A help text with its `{placeholders}` replaced by names."""
    return _PLACEHOLDER.sub(lambda found: between.join(BY_NAME[found[1]]()), text)
