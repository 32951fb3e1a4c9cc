"""Makes the environment that the options ask for. Imported by workers only."""

from collections.abc import Callable
from functools import partial

from ...core.ports import Environment
from . import generated, recorded
from .environment import KitchenEnvironment
from .options import Settings
from .scene import Kitchen


def environment(settings: Settings) -> Environment:
    """The environment of these options."""
    load: Callable[[str], Kitchen] = generated.load
    if settings.backend == "recorded":
        assert settings.recordings is not None
        load = partial(recorded.load, settings.recordings)
    return KitchenEnvironment(
        settings.scenes, load, horizon=settings.horizon, reveal_unseen=settings.reveal_unseen,
    )
