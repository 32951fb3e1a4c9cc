"""The observation of a policy: the flat vector, and the sensor noise added to the true state."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from .randomisation import Drawn
from .task import Array

Layout = tuple[tuple[str, tuple[int, ...]], ...]

_BLOCK = 256    # observations whose noise is drawn at once


def observation_layout(n_cubes: int) -> Layout:
    """Names and shapes of the observation's fields, in order (paper, table of observation fields)."""
    return (
        ("robot0_eef_pos", (3,)),
        ("robot0_eef_quat", (4,)),          # x, y, z, w
        ("robot0_gripper_qpos", (2,)),
        ("robot0_gripper_qvel", (2,)),
        ("robot0_joint_pos", (7,)),
        ("robot0_joint_vel", (7,)),
        ("cube_pos", (3 * n_cubes,)),
        ("cube_quat", (4 * n_cubes,)),      # w, x, y, z
        ("cube_size", (n_cubes,)),
        ("boxes_pos", (9,)),
        ("boxes_quat", (12,)),              # w, x, y, z
    )


def observation_slices(n_cubes: int) -> dict[str, slice]:
    """The slice of each field in the flat vector."""
    slices, start = {}, 0
    for name, shape in observation_layout(n_cubes):
        slices[name] = slice(start, start + shape[0])
        start += shape[0]
    return slices


def observation_size(n_cubes: int) -> int:
    """The length of the flat vector."""
    return sum(shape[0] for _, shape in observation_layout(n_cubes))


class Sensors:
    """Turns the true state vector into observations, exactly one per control step.

    Object positions get: latency, then the shared bias (with its drift), each object's own bias and
    Gaussian noise of the episode's std, independent per observation or AR(1). Orientations get a small
    random rotation if the episode drew one. The robot's own readings and the sizes are exact.

    Noise is drawn in blocks of constant size, so that it depends only on the generator and on the
    number of observations.
    """

    def __init__(
        self, drawn: Drawn, rng: np.random.Generator, *, half_edges: Sequence[float], control_period_s: float,
    ) -> None:
        n_cubes = len(half_edges)
        slices = observation_slices(n_cubes)
        self._drawn = drawn
        self._rng = rng
        self._control_period_s = control_period_s
        self._n_cubes = n_cubes
        self._cube_pos, self._boxes_pos = slices["cube_pos"], slices["boxes_pos"]
        self._cube_quat, self._boxes_quat = slices["cube_quat"], slices["boxes_quat"]
        self._objects = slice(self._cube_pos.start, self._boxes_quat.stop)
        self._history: deque[Array] = deque(maxlen=drawn.latency_steps + 1)
        shared = np.tile(np.array(drawn.bias_m), n_cubes + 3)
        self._bias = shared + np.array(drawn.object_bias_m).reshape(-1)
        self._ar_noise = rng.standard_normal(3 * (n_cubes + 3))     # starts in its stationary state
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
            history.append(truth[self._objects].copy())
            seen[self._objects] = history[0]
        error = self._position_error[row]
        split = 3 * self._n_cubes
        seen[self._cube_pos] += error[:split]
        seen[self._boxes_pos] += error[split:]
        if self._drawn.orientation_noise_std_rad > 0.0:
            self._turn(seen, self._turns[row])
        return seen

    def _turn(self, seen: Array, turns: Array) -> None:
        n_cubes = self._n_cubes
        for where, turn in ((self._cube_quat, turns[:n_cubes]), (self._boxes_quat, turns[n_cubes:])):
            seen[where] = np.matmul(turn, seen[where].reshape(-1, 4, 1)).reshape(-1)

    def _draw_block(self) -> None:
        drawn, rng = self._drawn, self._rng
        n_objects = self._n_cubes + 3
        noise = rng.standard_normal((_BLOCK, 3 * n_objects))
        if drawn.noise_correlation > 0.0:
            noise = self._correlated(noise)
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

    def _correlated(self, noise: Array) -> Array:
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
