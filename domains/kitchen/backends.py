"""Makes the environment for the options. Only workers import this module."""

from functools import partial

from ...core.ports import Environment
from . import procedural as generated
from . import recorded
from .embedded.simulator import Embedded
from .environment import KitchenEnvironment
from .options import Settings
from .simulator import Simulator


def environment(settings: Settings) -> Environment:
    """The environment for these options."""
    return KitchenEnvironment(
        settings.scenes, _simulator(settings), horizon=settings.horizon, reveal_unseen=settings.reveal_unseen,
        program_seed=settings.program_seed,
    )


def _simulator(settings: Settings) -> Simulator:
    if settings.backend == "recorded":
        assert settings.recordings is not None
        return Embedded(partial(recorded.load, settings.recordings), solid_walls=settings.solid_walls)
    if settings.backend == "unity":
        from .unity.simulator import Unity

        assert settings.unity_build is not None
        return Unity(settings.unity_build, settings.scenes)
    return Embedded(generated.load, solid_walls=settings.solid_walls)
