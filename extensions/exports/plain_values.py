"""Values of a run as other tools take them: flat names, plain numbers, no secrets. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from ...core.text import printable
from ...core.values import JSON

HIDDEN: Final = frozenset({"salt"})     # whoever knows it can compute the seeds of all episodes
_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]")


def shown_settings(settings: Mapping[str, JSON]) -> dict[str, JSON]:
    """The settings under dotted names, such as options.horizon, without the salt. Settings never hold keys."""
    return {name: value for key, part in settings.items() if key not in HIDDEN for name, value in _flat(key, part)}


def metric_numbers(metrics: Mapping[str, JSON]) -> dict[str, float]:
    """The numbers of metrics, one candidate's (its means and rates) or one episode's, by a name for a column."""
    found = {}
    for name, value in metrics.items():
        if isinstance(value, dict):
            value = value.get("mean", value.get("rate"))
        if isinstance(value, bool | int | float):
            found[column(name)] = float(value)
    return found


def column(name: str) -> str:
    """A name that every tool takes: letters, digits, dots, dashes and underscores."""
    return _NAME.sub("_", name)


def text(given: str) -> str:
    """A text of a model or a program as valid UTF-8, without control characters."""
    return printable(given)


def without_user(url: str) -> str:
    """A URL for messages, without the user and password that it may hold."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def _flat(name: str, value: JSON) -> list[tuple[str, JSON]]:
    if isinstance(value, dict) and value:
        return [pair for key, part in value.items() for pair in _flat(f"{name}.{key}", part)]
    return [(name, value)]
