"""The options of robosuite's tasks: horizon, physics, goal update, sensor noise."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...core.errors import UsageError, unknown
from ...core.values import JSON
from ..arm.physics.names import OWN_STEP, PHYSICS
from ..hanoi.options import GOAL_UPDATES, one_of, value_range, whole
from .noise import NOISES, QUANTITIES, NoiseRanges
from .tasks import Task

NAME = "robosuite"
MAX_HORIZON = 100_000
_KEYS = ("goal_update", "horizon", "noise", "physics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Checked options in their own types."""

    goal_update: str
    horizon: int
    physics: str
    noise: str              # the name of the preset
    ranges: NoiseRanges     # its ranges, with single quantities replaced


def complete(task: Task, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
    """All options, checked. Raises UsageError that names the unknown key or value."""
    known = (*_KEYS, *QUANTITIES)
    for key in given:
        if key not in known:
            raise unknown(f"option of {NAME}", key, known)
    defaults: dict[str, JSON] = {
        "goal_update": "achieved",
        "horizon": min(task.horizon, 60) if preset == "smoke" else task.horizon,
        "noise": "none",
        "physics": "exact" if task.compiled else OWN_STEP,
    }
    options = {**defaults, **given}
    settings(task, options)
    return options


def settings(task: Task, options: Mapping[str, JSON]) -> Settings:
    """Completed options in their own types. Raises UsageError."""
    if not task.compiled and options["physics"] != OWN_STEP:
        raise UsageError(
            f"{NAME}.physics cannot be {options['physics']!r} here: this task runs on robosuite's own step,"
            f" {OWN_STEP!r}"
        )
    noise = one_of(options, "noise", tuple(NOISES), NAME)
    ranges = {key: value_range(key, options[key], NAME) for key in QUANTITIES if key in options}
    return Settings(
        goal_update=one_of(options, "goal_update", GOAL_UPDATES, NAME),
        horizon=whole(options, "horizon", 1, MAX_HORIZON, NAME),
        physics=one_of(options, "physics", PHYSICS, NAME),
        noise=noise,
        ranges=NoiseRanges(**{**NOISES[noise].ranges(), **ranges}),
    )
