"""What there is: domains, methods."""

import typer

from ..agents.keepers.methods import METHODS
from ..domains import load as load_domain
from ..domains import names as domain_names


def list_domains() -> None:
    """`memento domains`."""
    _table([(name, load_domain(name).title) for name in domain_names()])


def list_methods() -> None:
    """`memento methods`."""
    _table([(name, title) for name, (title, _) in METHODS.items()])


def _table(rows: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        typer.echo(f"{name:<{width}}  {text}")
