"""Extensions: parts that nothing else imports, found by the entry points of installed packages, MEMENTO's own included.

An entry point names what an extension offers, and is imported only when somebody asks for that: an extension that is
absent or broken harms nobody else. Each group says below what it expects.
"""

from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from .errors import UsageError, no_such
from .text import one_line

COMMANDS: Final = "memento.commands"    # a typer.Typer: commands of the command line
SINKS: Final = "memento.sinks"          # a core.ports.ExportTarget: what `memento export --to` takes
DOMAINS: Final = "memento.domains"      # a core.ports.Domain, whose import string needs no question of trust
POOLS: Final = "memento.pools"          # a core.ports.ClusterService: what `--cluster` connects to
TRAININGS: Final = "memento.trainings"  # an evidence.trainings.Training: an arm that is no search
_WORDS: Final = {
    COMMANDS: "command", DOMAINS: "domain", POOLS: "kind of cluster", SINKS: "target of exports", TRAININGS: "training",
}
_MOST: Final = 300      # characters of a reason


@cache
def _declared(group: str) -> dict[str, EntryPoint]:
    return {each.name: each for each in sorted(entry_points(group=group))}


def names(group: str) -> tuple[str, ...]:
    """The names that extensions declare in a group, sorted. Imports none of them."""
    return (*_declared(group),)


def values(group: str) -> tuple[str, ...]:
    """The import strings, "package.module:ATTRIBUTE", that extensions declare in a group. Imports none of them."""
    return tuple(each.value for each in _declared(group).values())


def load(group: str, name: str) -> Any:
    """What an extension offers under this name. Raises UsageError if there is none, or if it cannot be imported."""
    declared = _declared(group).get(name)
    if declared is None:
        raise no_such(_WORDS[group], name, names(group))
    try:
        return declared.load()
    except Exception as error:
        reason = one_line(f"{type(error).__name__}: {error}", _MOST)
        raise UsageError(
            f"the {_WORDS[group]} {name!r} is an extension that cannot be loaded, from {declared.value}: {reason}"
        ) from error


def every(group: str) -> Iterator[Any]:
    """What the extensions of a group offer, without those that cannot be loaded: `load` says why."""
    for name in names(group):
        try:
            yield load(group, name)
        except UsageError:
            continue
