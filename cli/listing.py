"""What there is: domains, methods."""

import typer

from ..domains import load as load_domain
from ..domains import names as domain_names
from ..methods import METHODS


def list_domains() -> None:
    """`memento domains`."""
    _table([(name, load_domain(name).title) for name in domain_names()])


def list_methods() -> None:
    """`memento methods`."""
    _table([(method.name, method.title) for method in METHODS.values()])


def _table(rows: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        typer.echo(f"{name:<{width}}  {text}")
