"""`memento kitchen`: commands for the kitchen domain alone."""

from pathlib import Path
from typing import Annotated, Final

import typer

from .output import print_text, say
from .typer_classes import CONTEXT, Command, CommandGroup

EXAMPLE: Final = "memento kitchen record FloorPlan1-3 --out kitchens"

kitchen = typer.Typer(
    help="Record kitchens of AI2-THOR.", cls=CommandGroup, rich_markup_mode=None,
    context_settings=CONTEXT,
)

Scenes = Annotated[
    list[str],
    typer.Argument(metavar="SCENE", help="Such as FloorPlan1, FloorPlan4-29, training or held-out.",
                   show_default=False),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder of recordings.", show_default=False)]
UnityBuild = Annotated[
    str | None, typer.Option(metavar="PATH", help="A Unity build; by default an installed one.")
]


@kitchen.callback()
def kitchen_group() -> None:
    """Without a callback Typer would make the only command the group itself."""


@kitchen.command(cls=Command, epilog=f"Example: {EXAMPLE}")
def record(scenes: Scenes, out: Out, unity_build: UnityBuild = None) -> None:
    """Record kitchens with a Unity build. Runs with kitchen.backend=recorded then need no build."""
    from ..core.errors import StoreError
    from ..domains import load
    from ..domains.kitchen.options import settings
    from ..domains.kitchen.unity.record import record as record_scenes

    options = settings(load("kitchen").options(
        {"backend": "unity", "unity_build": unity_build, "scenes": [*scenes]}, preset="paper"
    ))
    assert options.unity_build is not None
    try:
        for scene, objects, cells in record_scenes(options.unity_build, options.scenes, out):
            print_text(f"{scene}: {objects} objects, {cells} cells to stand on")
    except OSError as error:
        raise StoreError(f"the recordings cannot be written to {out}: {error}") from error
    say(f"to use them: memento run kitchen --set kitchen.backend=recorded --set kitchen.recordings={out}")
