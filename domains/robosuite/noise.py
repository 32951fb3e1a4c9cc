"""Optional sensor noise of robosuite's tasks: the ranges of the Hanoi task's presets, drawn once an episode."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from ...core.values import JSON
from ..hanoi.randomisation import PRESETS, Range

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
