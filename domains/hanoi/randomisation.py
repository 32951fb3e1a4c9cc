"""What differs between episodes: ranges by preset, and one draw from them (paper, table of randomisation)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

import numpy as np

from ...core.values import JSON

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomisation:
    """Ranges [low, high] that an episode draws from, uniformly. The defaults are the paper's `table`.

    The second half is not in the paper and off by default. Correlation and latency count control steps.
    """

    sliding_friction_scale: Range = (0.3, 1.8)      # times the model's sliding friction, one per episode
    torsional_friction: Range = (0.001, 0.01)       # MuJoCo's second friction coefficient, one per episode
    rolling_friction: Range = (0.0001, 0.001)       # MuJoCo's third friction coefficient, one per episode
    noise_std_m: Range = (0.002, 0.025)             # std of observed object positions, one per episode
    bias_m: Range = (-0.015, 0.015)                 # each axis of the bias that all objects share
    world_offset_m: Range = (-0.015, 0.015)         # x and y of the shift of all containers
    cube_mass_scale: Range = (0.7, 1.5)             # one per cube
    joint_damping_scale: Range = (0.8, 1.5)         # one per episode
    actuator_gain_scale: Range = (0.85, 1.15)       # one per episode
    initial_cube_xy_m: Range = (-0.003, 0.003)      # x and y of each cube of the initial tower

    noise_correlation: Range = (0.0, 0.0)           # AR(1) coefficient of position noise per control step
    latency_steps: Range = (0.0, 0.0)               # whole control steps that object observations are late
    object_bias_m: Range = (0.0, 0.0)               # each axis of each object's own bias
    orientation_noise_std_rad: Range = (0.0, 0.0)   # std of the rotation vector of observed orientations
    container_yaw_rad: Range = (0.0, 0.0)           # one per container
    bias_drift_m_per_sqrt_s: Range = (0.0, 0.0)     # random walk of the shared bias, each axis
    push_rate_hz: Range = (0.0, 0.0)                # rate of pushes of a random cube
    push_speed_m_s: Range = (0.0, 0.0)              # speed from a push, in a random direction

    def draw(self, rng: np.random.Generator, n_cubes: int) -> "Drawn":
        """One episode's values. Always takes the same number of draws in the same order."""

        def one(bounds: Range) -> float:
            return float(rng.uniform(*bounds))

        def many(bounds: Range, count: int) -> tuple[float, ...]:
            return tuple(rng.uniform(*bounds, size=count).tolist())

        def rows(bounds: Range, count: int, width: int) -> tuple[tuple[float, ...], ...]:
            return tuple(tuple(row) for row in rng.uniform(*bounds, size=(count, width)).tolist())

        low, high = self.latency_steps
        return Drawn(
            sliding_friction_scale=one(self.sliding_friction_scale),
            torsional_friction=one(self.torsional_friction),
            rolling_friction=one(self.rolling_friction),
            noise_std_m=one(self.noise_std_m),
            bias_m=many(self.bias_m, 3),
            world_offset_m=many(self.world_offset_m, 2),
            cube_mass_scale=many(self.cube_mass_scale, n_cubes),
            joint_damping_scale=one(self.joint_damping_scale),
            actuator_gain_scale=one(self.actuator_gain_scale),
            initial_cube_xy_m=rows(self.initial_cube_xy_m, n_cubes, 2),
            noise_correlation=one(self.noise_correlation),
            latency_steps=int(rng.integers(round(low), round(high), endpoint=True)),
            object_bias_m=rows(self.object_bias_m, n_cubes + 3, 3),
            orientation_noise_std_rad=one(self.orientation_noise_std_rad),
            container_yaw_rad=many(self.container_yaw_rad, 3),
            bias_drift_m_per_sqrt_s=one(self.bias_drift_m_per_sqrt_s),
            push_rate_hz=one(self.push_rate_hz),
            push_speed_m_s=one(self.push_speed_m_s),
        )

    def to_json(self) -> dict[str, JSON]:
        """Each quantity as [low, high]."""
        return {name: [low, high] for name, (low, high) in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """The draws of one episode, with the fields of `Randomisation`; objects are cubes, then containers."""

    sliding_friction_scale: float
    torsional_friction: float
    rolling_friction: float
    noise_std_m: float
    bias_m: tuple[float, ...]                           # (3,)
    world_offset_m: tuple[float, ...]                   # (2,)
    cube_mass_scale: tuple[float, ...]                  # (n,)
    joint_damping_scale: float
    actuator_gain_scale: float
    initial_cube_xy_m: tuple[tuple[float, ...], ...]    # (n, 2)
    noise_correlation: float
    latency_steps: int
    object_bias_m: tuple[tuple[float, ...], ...]        # (n + 3, 3)
    orientation_noise_std_rad: float
    container_yaw_rad: tuple[float, ...]                # (3,)
    bias_drift_m_per_sqrt_s: float
    push_rate_hz: float
    push_speed_m_s: float

    def to_json(self) -> dict[str, JSON]:
        """The same as JSON, for the record of the episode."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: object) -> JSON:
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    assert isinstance(value, (int, float))
    return value


TABLE = Randomisation()

LIGHT = Randomisation(
    sliding_friction_scale=(0.7, 1.3),
    torsional_friction=(0.003, 0.008),
    rolling_friction=(0.0002, 0.0008),
    noise_std_m=(0.003, 0.008),
    bias_m=(-0.005, 0.005),
    world_offset_m=(-0.007, 0.007),
    cube_mass_scale=(0.9, 1.15),
    joint_damping_scale=(0.9, 1.15),
    actuator_gain_scale=(0.95, 1.05),
    initial_cube_xy_m=(-0.002, 0.002),
)

NONE = Randomisation(
    sliding_friction_scale=(1.0, 1.0),
    torsional_friction=(0.005, 0.005),      # MuJoCo's defaults
    rolling_friction=(0.0001, 0.0001),
    noise_std_m=(0.0, 0.0),
    bias_m=(0.0, 0.0),
    world_offset_m=(0.0, 0.0),
    cube_mass_scale=(1.0, 1.0),
    joint_damping_scale=(1.0, 1.0),
    actuator_gain_scale=(1.0, 1.0),
    initial_cube_xy_m=(0.0, 0.0),
)

# Averaging, memory and trust in one shared bias each fail here.
HARD = replace(
    TABLE,
    noise_correlation=(0.97, 0.97),
    latency_steps=(1.0, 3.0),
    object_bias_m=(-0.01, 0.01),
    orientation_noise_std_rad=(0.05, 0.05),
    container_yaw_rad=(-0.5, 0.5),
    bias_drift_m_per_sqrt_s=(0.0003, 0.0003),
    push_rate_hz=(0.05, 0.05),
    push_speed_m_s=(0.1, 0.1),
)

PRESETS: Mapping[str, Randomisation] = {"table": TABLE, "light": LIGHT, "none": NONE, "hard": HARD}
CHANGES = "light", "hard"       # the presets for the changed conditions of a robust measure, the mildest first
QUANTITIES: tuple[str, ...] = tuple(field.name for field in fields(Randomisation))


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """At control step `step` (counted from 0) the cube gets this planar velocity in addition to its current one."""

    step: int
    cube: int
    velocity_m_s: tuple[float, float]


def draw_pushes(
    drawn: Drawn, rng: np.random.Generator, *, n_cubes: int, horizon: int, control_period_s: float,
) -> tuple[Push, ...]:
    """All pushes of an episode, in order of time: a Poisson process of rate `push_rate_hz`."""
    if drawn.push_rate_hz <= 0.0:
        return ()
    count = int(rng.poisson(drawn.push_rate_hz * control_period_s * horizon))
    steps = np.sort(rng.integers(0, max(horizon, 1), size=count)).tolist()
    cubes = rng.integers(0, n_cubes, size=count).tolist()
    angles = rng.uniform(0.0, 2 * np.pi, size=count)
    x, y = drawn.push_speed_m_s * np.cos(angles), drawn.push_speed_m_s * np.sin(angles)
    return tuple(
        Push(step=steps[k], cube=cubes[k], velocity_m_s=(float(x[k]), float(y[k]))) for k in range(count)
    )


def episode_generators(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """The two generators of an episode: one for its draws and pushes, one for sensor noise.

    Two, so that the number of draws of the one never shifts the other.
    """
    draws, sensors = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(draws), np.random.default_rng(sensors)
