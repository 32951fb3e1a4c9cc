"""`memento bench`: the project's own benchmarks, which need a source checkout."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError, no_such
from . import flags
from .output import print_json, print_text

if TYPE_CHECKING:
    from ..core.values import JSON

EXAMPLE: Final = "memento bench steps --json"
BENCHMARKS: Final = ("kitchen", "overhead", "search", "steps")    # modules of benchmarks/ with measure() -> dict

Name = Annotated[
    str, typer.Argument(metavar="NAME", help=f"The benchmark: {', '.join(BENCHMARKS)}.", show_default=False)
]


def bench(name: Name, as_json: flags.AsJson = False) -> None:
    """Run a benchmark of this project on this machine; needs the source checkout."""
    figures = measure(name)
    if as_json:
        print_json(figures)
        return
    for line in _lines(figures):
        print_text(line)


def measure(name: str) -> "Mapping[str, JSON]":
    """The figures of a benchmark. Raises UsageError for an unknown name, and without a checkout."""
    from importlib import import_module
    from importlib.util import find_spec

    if name not in BENCHMARKS:
        raise no_such("benchmark", name, BENCHMARKS)
    package = f"{__package__.rpartition('.')[0]}.benchmarks"
    if find_spec(package) is None:
        raise UsageError("benchmarks are not part of the installed package: run memento bench in a source checkout")
    figures: Mapping[str, JSON] = import_module(f"{package}.{name}").measure()
    return figures


def _lines(figures: "Mapping[str, JSON]", indent: str = "") -> "Iterator[str]":
    for key, value in figures.items():
        if isinstance(value, dict):
            yield f"{indent}{key}"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{indent}{key:<28} {value}"
