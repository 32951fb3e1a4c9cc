"""`memento kitchen`: what the kitchen task has beside running it."""

from pathlib import Path
from typing import Annotated

import typer

kitchen_commands = typer.Typer(
    help="Record kitchens of AI2-THOR.", no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode=None,
)


@kitchen_commands.callback()
def kitchen() -> None:
    """What the kitchen task has beside running it."""


@kitchen_commands.command(epilog="Example: memento kitchen record FloorPlan1-3 --out kitchens")
def record(
    scenes: Annotated[
        list[str], typer.Argument(help="FloorPlan1, FloorPlan4-29, training, held-out.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of recordings.", show_default=False)],
    unity_build: Annotated[
        str | None, typer.Option(metavar="PATH", help="A Unity build; else one that is installed.")
    ] = None,
) -> None:
    """Record kitchens from a Unity build, to be played without it: kitchen.backend=recorded."""
    from ..core.errors import StoreError
    from ..domains import load
    from ..domains.kitchen.options import settings
    from ..domains.kitchen.unity.record import record as record_scenes

    asked = settings(load("kitchen").options(
        {"backend": "unity", "unity_build": unity_build, "scenes": [*scenes]}, preset="paper"
    ))
    assert asked.unity_build is not None
    try:
        for scene, objects, cells in record_scenes(asked.unity_build, asked.scenes, out):
            typer.echo(f"{scene}: {objects} objects, {cells} cells to stand on")
    except OSError as error:
        raise StoreError(f"the recordings cannot be written to {out}: {error}") from error
    typer.echo(
        f"play them: memento run kitchen --set kitchen.backend=recorded --set kitchen.recordings={out}", err=True
    )
