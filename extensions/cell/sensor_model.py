"""The errors of a simulated RGB-D camera: what it makes of an ideal image.

Axial noise grows with the square of the distance, as measured for structured-light and stereo cameras. `Errors` are
drawn once per episode: where the camera really stands, and the scale of its depth. Noise per pixel is looked up in a
table of 65,536 quantiles of the normal distribution, which ends at 4.3 stds: three times as fast as drawing normals.
"""

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from .ports import Array

Std = Annotated[float, Field(ge=0.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
Latency = Annotated[float, Field(ge=0.0, le=2.0)]
BLUR = 0.125            # share of each of the four neighbours in a pixel's colour
LEVELS = 1 << 16        # of the table of normal quantiles


class SensorModel(BaseModel):
    """The sizes of all errors; every std may be 0. The defaults are those of the shipped twin."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    axial_m: Std = 0.0012             # std of depth at 0.4 m, and
    axial_per_m: Std = 0.0019         # what it grows by with the square of the distance beyond
    depth_scale: Std = 0.001          # std of the relative error of all depths, per episode
    lateral_px: Std = 0.4             # std of where a depth is read
    edge_step_m: Positive = 0.02      # a step in depth that counts as an edge
    edge_dropout: Share = 0.5         # share of lost depths there
    grazing_cosine: Share = 0.25      # surfaces seen flatter than this
    grazing_dropout: Share = 0.7      # lose this share
    dropout: Share = 0.005            # share of depths lost anywhere
    quantum_m: Std = 0.001            # depths are multiples of it
    shift_m: Std = 0.001              # std of each axis of the camera's place, per episode
    turn_rad: Std = 0.0015            # std of each axis of its direction, per episode
    exposure: Std = 0.05              # std of a frame's brightness, relative
    colour: Std = 4.0                 # std of a colour channel, of 255
    blur: bool = True                 # colours mix with those of the next pixels
    latency_s: Latency = 0.05         # from the exposure to the frame's arrival

    def draw(self, rng: np.random.Generator) -> "Errors":
        """What holds for an episode."""
        return Errors(
            shift_m=rng.normal(0.0, self.shift_m, 3), turn_rad=rng.normal(0.0, self.turn_rad, 3),
            depth_scale=1.0 + float(rng.normal(0.0, self.depth_scale)),
        )


NONE = SensorModel(
    axial_m=0.0, axial_per_m=0.0, depth_scale=0.0, lateral_px=0.0, edge_dropout=0.0, grazing_dropout=0.0, dropout=0.0,
    quantum_m=0.0, shift_m=0.0, turn_rad=0.0, exposure=0.0, colour=0.0, blur=False, latency_s=0.0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The draws of one episode."""

    shift_m: Array      # (3,)
    turn_rad: Array     # (3,) rotation vector
    depth_scale: float


def measured_depth(
    model: SensorModel, errors: Errors, depth: Array, cosine: Array, rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Depths (height, width) as the sensor gives them; 0 is no reading. `cosine` is of the angle of incidence."""
    ideal = depth.astype(np.float32)
    lost = rng.random(depth.shape, dtype=np.float32)
    seen = _shifted(ideal, model.lateral_px, rng) if model.lateral_px > 0.0 else ideal
    std = np.float32(model.axial_m) + np.float32(model.axial_per_m) * (seen - np.float32(0.4)) ** 2
    noisy = np.float32(errors.depth_scale) * seen + std * _normals(depth.shape, rng)
    if model.quantum_m > 0.0:
        noisy = np.rint(noisy / np.float32(model.quantum_m)) * np.float32(model.quantum_m)
    gone = lost < model.dropout
    gone |= (cosine < model.grazing_cosine) & (lost < model.grazing_dropout)
    gone |= _edges(ideal, model.edge_step_m) & (lost < model.edge_dropout)
    noisy[gone | (ideal <= 0.0)] = 0.0
    return noisy


def measured_colour(
    model: SensorModel, colour: NDArray[np.float32], rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """An ideal colour image (height, width, 3) of 0 to 255 as the sensor gives it."""
    seen = colour
    if model.blur:
        seen = colour.copy()
        seen[1:-1, 1:-1] *= 1.0 - 4.0 * BLUR
        for near in (colour[:-2, 1:-1], colour[2:, 1:-1], colour[1:-1, :-2], colour[1:-1, 2:]):
            seen[1:-1, 1:-1] += BLUR * near
    gain = np.float32(1.0 + model.exposure * float(rng.standard_normal()))
    noisy = _normals(colour.shape, rng)
    noisy *= np.float32(model.colour)
    noisy += gain * seen
    return np.clip(noisy, 0.0, 255.0, out=noisy).astype(np.uint8)


@lru_cache(maxsize=1)
def _quantiles() -> NDArray[np.float32]:
    normal = NormalDist()
    return np.array([normal.inv_cdf((rank + 0.5) / LEVELS) for rank in range(LEVELS)], dtype=np.float32)


def _normals(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    """Draws from the standard normal distribution."""
    return _quantiles().take(rng.integers(0, LEVELS, shape, dtype=np.uint16))


def _shifted(depth: NDArray[np.float32], std_px: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Each pixel reads the depth of a pixel near it."""
    shifts = np.rint(std_px * _quantiles()).astype(np.int32)
    most = int(shifts[-1])
    around = np.pad(depth, most, mode="edge")
    width = around.shape[1]
    rows, columns = rng.integers(0, LEVELS, (2, *depth.shape), dtype=np.uint16)
    place = np.arange(around.size, dtype=np.int32).reshape(around.shape)
    place = place[most : most + depth.shape[0], most : most + depth.shape[1]]
    place = place + (width * shifts).take(rows) + shifts.take(columns)
    return np.asarray(around.take(place))


def _edges(depth: NDArray[np.float32], step_m: float) -> NDArray[np.bool_]:
    """Pixels next to a step in depth."""
    found = np.zeros(depth.shape, dtype=np.bool_)
    across = np.abs(np.diff(depth, axis=1)) > step_m
    down = np.abs(np.diff(depth, axis=0)) > step_m
    found[:, 1:] |= across
    found[:, :-1] |= across
    found[1:] |= down
    found[:-1] |= down
    return found
