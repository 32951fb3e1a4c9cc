"""The options of robosuite's tasks: horizon, physics, goal update, sensor noise."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from ...core.errors import UsageError, no_such
from ...core.values import JSON
from ..arm.physics import OWN_STEP, PHYSICS
from ..hanoi.options import GOAL_UPDATES, one_of, value_range, whole
from ..hanoi.randomisation import PRESETS, Range
from .tasks import Task

# Optional sensor noise of robosuite's tasks: the ranges of the Hanoi task's presets, drawn once an episode.


QUANTITIES = (
    "noise_std_m", "bias_m", "object_bias_m", "noise_correlation", "latency_steps", "bias_drift_m_per_sqrt_s",
    "orientation_noise_std_rad",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseRanges:
    """Ranges [low, high] that an episode draws from, uniformly; the quantities of `arm.sensors.NoiseDraw`."""

    noise_std_m: Range
    bias_m: Range
    object_bias_m: Range
    noise_correlation: Range
    latency_steps: Range
    bias_drift_m_per_sqrt_s: Range
    orientation_noise_std_rad: Range

    def ranges(self) -> dict[str, Range]:
        """By name of the quantity."""
        return {name: getattr(self, name) for name in QUANTITIES}

    def draw(self, rng: np.random.Generator, n_objects: int) -> "DrawnNoise":
        """One episode's values. Always takes the same number of draws in the same order."""
        low, high = self.latency_steps
        return DrawnNoise(
            noise_std_m=float(rng.uniform(*self.noise_std_m)),
            bias_m=tuple(rng.uniform(*self.bias_m, size=3).tolist()),
            object_bias_m=tuple(map(tuple, rng.uniform(*self.object_bias_m, size=(n_objects, 3)).tolist())),
            noise_correlation=float(rng.uniform(*self.noise_correlation)),
            latency_steps=int(rng.integers(round(low), round(high), endpoint=True)),
            bias_drift_m_per_sqrt_s=float(rng.uniform(*self.bias_drift_m_per_sqrt_s)),
            orientation_noise_std_rad=float(rng.uniform(*self.orientation_noise_std_rad)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNoise:
    """The sensor noise of one episode."""

    noise_std_m: float
    bias_m: tuple[float, ...]
    object_bias_m: tuple[tuple[float, ...], ...]
    noise_correlation: float
    latency_steps: int
    bias_drift_m_per_sqrt_s: float
    orientation_noise_std_rad: float

    def to_json(self) -> dict[str, JSON]:
        """The same as JSON."""
        values: dict[str, JSON] = asdict(self)
        values["bias_m"] = [*self.bias_m]
        values["object_bias_m"] = [[*row] for row in self.object_bias_m]
        return values


NOISES: Mapping[str, NoiseRanges] = {
    name: NoiseRanges(**{quantity: getattr(preset, quantity) for quantity in QUANTITIES})
    for name, preset in PRESETS.items()
}


NAME = "robosuite"
MAX_HORIZON = 100_000
SETTLED = "settled"         # robosuite's predicate for half a second, with what was placed let go and at rest
INSTANT = "robosuite"       # the predicate at one instant, as in robosuite and in older runs
_KEYS = ("goal_update", "horizon", "noise", "physics", "success")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Checked options in their own types."""

    goal_update: str
    horizon: int
    physics: str
    noise: str              # the name of the preset
    ranges: NoiseRanges     # its ranges, with single quantities replaced
    settled: bool           # whether success must last


def complete(task: Task, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
    """All options, checked. Raises UsageError that names the unknown key or value."""
    known = (*_KEYS, *QUANTITIES)
    for key in given:
        if key not in known:
            raise no_such(f"option of {NAME}", key, known)
    defaults: dict[str, JSON] = {
        "goal_update": "achieved",
        "horizon": min(task.horizon, 60) if preset == "smoke" else task.horizon,
        "noise": "none",
        "physics": "exact" if task.compiled else OWN_STEP,
        "success": SETTLED,
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
        settled=one_of({"success": INSTANT, **options}, "success", (SETTLED, INSTANT), NAME) == SETTLED,
    )
