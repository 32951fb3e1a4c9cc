"""Sensor noise of observed objects: latency, bias, drift, Gaussian noise, and small turns."""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from .arrays import Array

_BLOCK = 256    # observations whose noise is drawn at once


class NoiseDraw(Protocol):
    """The sensor noise of one episode."""

    @property
    def noise_std_m(self) -> float:
        """Standard deviation of an observed position on each axis."""

    @property
    def noise_correlation(self) -> float:
        """AR(1) coefficient of this noise per control step."""

    @property
    def bias_m(self) -> Sequence[float]:
        """(3,) the offset that all objects share."""

    @property
    def object_bias_m(self) -> Sequence[Sequence[float]]:
        """(n, 3) each object's own offset."""

    @property
    def bias_drift_m_per_sqrt_s(self) -> float:
        """Random walk of the shared offset, each axis."""

    @property
    def latency_steps(self) -> int:
        """Control steps by which object observations are late."""

    @property
    def orientation_noise_std_rad(self) -> float:
        """Standard deviation of the rotation vector that turns an observed orientation."""


class ObjectSensors:
    """Turns the true state vector into observations, exactly one per control step.

    Object positions get: latency, then the shared bias (with its drift), each object's own bias and
    Gaussian noise of the episode's std, independent per observation or AR(1). Orientations get a small
    random rotation if the episode drew one. Everything else in the vector is exact.

    `positions` holds the entries (x, y, z) of n objects in the vector, `orientations` those of n quaternions in the
    order w, x, y, z; an object without an observed orientation has none, and is last.

    Noise is drawn in blocks of constant size, so that it depends only on the generator and on the
    number of observations.
    """

    def __init__(
        self, drawn: NoiseDraw, rng: np.random.Generator, *, positions: Sequence[int], orientations: Sequence[int],
        control_period_s: float,
    ) -> None:
        self._drawn = drawn
        self._rng = rng
        self._control_period_s = control_period_s
        self._positions = np.asarray(positions, dtype=np.intp)
        self._orientations = np.asarray(orientations, dtype=np.intp)
        self._objects = np.concatenate([self._positions, self._orientations])
        self._n_objects = len(self._positions) // 3
        self._history: deque[Array] = deque(maxlen=drawn.latency_steps + 1)
        shared = np.tile(np.array(drawn.bias_m), self._n_objects)
        self._bias = shared + np.array(drawn.object_bias_m).reshape(-1)
        self._ar_noise = rng.standard_normal(3 * self._n_objects)     # starts in its stationary state
        self._drift = np.zeros(3)
        self._position_error: Array = np.empty(0)
        self._turns: Array = np.empty(0)
        self._next = _BLOCK

    def observe(self, truth: Array) -> Array:
        """The observation (a new vector) of the true state vector `truth`, in the order of the layout."""
        if self._next == _BLOCK:
            self._draw_block()
        row = self._next
        self._next = row + 1
        seen = truth.copy()
        history = self._history
        if history.maxlen != 1:
            history.append(truth[self._objects])
            seen[self._objects] = history[0]
        seen[self._positions] += self._position_error[row]
        if self._drawn.orientation_noise_std_rad > 0.0:
            self._turn(seen, self._turns[row])
        return seen

    def _turn(self, seen: Array, turns: Array) -> None:
        quaternions = seen[self._orientations].reshape(-1, 4, 1)
        seen[self._orientations] = np.matmul(turns[: len(quaternions)], quaternions).reshape(-1)

    def _draw_block(self) -> None:
        drawn, rng = self._drawn, self._rng
        n_objects = self._n_objects
        noise = rng.standard_normal((_BLOCK, 3 * n_objects))
        if drawn.noise_correlation > 0.0:
            noise = self._correlated_noise(noise)
        self._position_error = drawn.noise_std_m * noise + self._bias
        if drawn.bias_drift_m_per_sqrt_s > 0.0:
            step_m = drawn.bias_drift_m_per_sqrt_s * self._control_period_s ** 0.5
            walk = self._drift + step_m * np.cumsum(rng.standard_normal((_BLOCK, 3)), axis=0)
            self._drift = walk[-1].copy()
            self._position_error += np.tile(walk, n_objects)
        if drawn.orientation_noise_std_rad > 0.0:
            turns = drawn.orientation_noise_std_rad * rng.standard_normal((_BLOCK, n_objects, 3))
            self._turns = _left_multiplication(turns)
        self._next = 0

    def _correlated_noise(self, noise: Array) -> Array:
        """AR(1) with unit variance, continued from the last block."""
        keep = self._drawn.noise_correlation
        fresh = (1.0 - keep * keep) ** 0.5
        last = self._ar_noise
        for row in noise:
            row *= fresh
            row += keep * last
            last = row
        self._ar_noise = last.copy()
        return noise


def _left_multiplication(rotation_vectors: Array) -> Array:
    """Matrices (..., 4, 4) that multiply a quaternion (w, x, y, z) from the left by these rotations (..., 3)."""
    half = 0.5 * np.linalg.norm(rotation_vectors, axis=-1)
    w = np.cos(half)
    x, y, z = np.moveaxis(rotation_vectors * (0.5 * np.sinc(half / np.pi))[..., None], -1, 0)
    rows: list[list[Array]] = [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
