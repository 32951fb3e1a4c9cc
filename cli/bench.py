"""Runs the project's own benchmarks, which lie beside the package in a source checkout."""

import json as json_lines
from importlib import import_module
from importlib.util import find_spec

import typer

from ..core.errors import UsageError, unknown
from ..core.values import JSON

BENCHMARKS = ("kitchen", "overhead", "search", "steps")      # modules of benchmarks/ with a function measure() -> dict


def run_benchmark(name: str, *, json: bool) -> None:
    """`memento bench NAME`. Raises UsageError for an unknown name, and without a checkout."""
    if name not in BENCHMARKS:
        raise unknown("benchmark", name, BENCHMARKS)
    package = f"{__package__.rpartition('.')[0]}.benchmarks"
    if find_spec(package) is None:
        raise UsageError("benchmarks are not part of the installed package: run memento bench in a source checkout")
    figures: dict[str, JSON] = import_module(f"{package}.{name}").measure()
    if json:
        typer.echo(json_lines.dumps(figures, allow_nan=False))
        return
    for line in _lines(figures):
        typer.echo(line)


def _lines(figures: dict[str, JSON], indent: str = "") -> list[str]:
    lines: list[str] = []
    for key, value in figures.items():
        if isinstance(value, dict):
            lines += [f"{indent}{key}", *_lines(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{key:<28} {value}")
    return lines
