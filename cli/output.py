"""What commands print: results and tables go to stdout, everything else to stderr."""

from collections.abc import Mapping, Sequence

import typer


def say(sentence: str) -> None:
    """Print one line for the user to stderr."""
    typer.echo(f"memento: {sentence}", err=True)


def print_json(result: Mapping[str, object]) -> None:
    """Print one JSON object on one line to stdout."""
    import json

    typer.echo(json.dumps(result, allow_nan=False))


def print_table(rows: Sequence[tuple[str, str]]) -> None:
    """Print names with their texts in two columns to stdout; nothing without rows."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, text in rows:
        typer.echo(f"{name:<{width}}  {text}")
