"""The evaluator that the paper selected for the Tower of Hanoi (appendix, evaluator evolution results).

Needs numpy only. Where the paper gives no formula, this file defines smooth, bounded forms:

    hole score h_j(c)    exp(-(d / 3 cm)²) exp(-(e / 4 cm)²); d is how far the centre is outside the gate,
                         in the container's plane, e how far above the highest place in any tower
    stack score          0.70 ** m², m the larger of the horizontal error over 1.15 smaller half-edges and
                         the vertical error over 1 cm, so that 0.70 is the tolerance of the task
    σ(i, j)              stack score times the smaller of h_C(i) and h_C(j): the target stack is on C
    goal pose g(c)       exp(-distance / 0.12 m) to the cube's place in the tower on C
    smoothness Q_int     mean of exp(-(v / 0.5 m/s)²) for the end effector and exp(-(v / 1 m/s)²) for the
                         fastest cube
    illegal score U      the largest stack score of a larger cube on a smaller one, anywhere
    one cube             has no pairs: U is 0, and the arrangement is its goal pose alone
"""

from typing import Any

import numpy as np

Array = Any     # numpy arrays
Metrics = dict[str, Any]

GATE_X = (0.02, 0.09)
GATE_HALF_Y = 0.035
GATE_FALLOFF = 0.03
HEIGHT_FALLOFF = 0.04
GOAL_SCALE = 0.12
EEF_SPEED_SCALE = 0.5
CUBE_SPEED_SCALE = 1.0
STACK_FACTOR = 1.15
STACK_VERTICAL = 0.01
STACK_AT_TOLERANCE = 0.70

REACHED = 0.05              # metres between end effector and cube
LIFTED = 0.25               # of the lift score: 2 cm
RESTING_SPEED = 0.02        # m/s, sum over the axes
LET_GO = 0.03               # metres from the end effector, beyond the half-edge
SETTLED_S = 0.5
MOVED = 0.02
FALLING = 0.10              # m/s downward, relative to the end effector
DROPPED = 0.02              # metres of fall

PHASES = ("approach", "grasp_lift", "transport", "placement", "arrangement")
NAMES = ("xxsmall", "xsmall", "small", "medium", "large", "xlarge")


class Evaluator:
    """Scores one recorded episode: fitness in [0, 1] and feedback metrics."""

    def evaluate(self, trajectory: dict[str, Array]) -> tuple[float, Metrics]:
        """Returns (f_e, metrics) for the recorded arrays of one episode of T >= 0 steps."""
        episode = Episode(trajectory)
        phases = phase_scores(episode)
        composite = composite_score(episode, phases)
        counted = composite[1:] if len(composite) > 1 else composite
        auc, best = float(counted.mean()), float(counted.max())
        arrangement = float(phases["arrangement"][-1])
        fitness = float(np.clip(0.45 * auc + 0.45 * best + 0.10 * arrangement, 0.0, 1.0))
        if episode.success.any():
            fitness = 1.0
        metrics: Metrics = {"composite_mean": auc, "composite_best": best, "steps": episode.steps}
        metrics.update(phase_metrics(phases))
        metrics.update(milestones(episode))
        metrics.update(cube_metrics(episode))
        metrics.update(tower_metrics(episode))
        metrics.update(interaction_metrics(episode))
        return fitness, rounded(metrics)


class Episode:
    """The recorded arrays in float64, and what several scores share. Rows: T + 1 states."""

    def __init__(self, trajectory: dict[str, Array]) -> None:
        def rows(name: str) -> Array:
            return np.asarray(trajectory[name], dtype=np.float64)

        self.eef, self.cubes = rows("eef_pos"), rows("cube_pos")
        self.half = rows("cube_size")
        self.n = len(self.half)
        self.names = ("small", "medium", "large")[:self.n] if self.n <= 3 else NAMES[-self.n:]
        self.table = float(trajectory["table_height_m"])
        self.dt = float(trajectory["control_period_s"])
        self.steps = len(self.eef) - 1
        self.success = np.asarray(trajectory["success"], dtype=bool)
        self.distance = norm(self.cubes - self.eef[:, None, :])
        self.lift = np.clip((self.cubes[..., 2] - (self.table + self.half)) / 0.08, 0.0, 1.0)
        pos, x_axis, y_axis = container_axes(rows("container_pos"), rows("container_quat"))
        self.local_x, self.local_y = (      # (T + 1, n, 3 containers)
            self.cubes @ np.swapaxes(axis, 1, 2) - np.einsum("tji,tji->tj", pos, axis)[:, None, :]
            for axis in (x_axis, y_axis)
        )
        self.in_gate = (
            (self.local_x >= GATE_X[0]) & (self.local_x <= GATE_X[1]) & (np.abs(self.local_y) <= GATE_HALF_Y)
        )
        self.hole = self._hole_scores()
        hole_local = rows("hole_local_m")
        self.target = pos[:, 2] + hole_local[0] * x_axis[:, 2] + hole_local[1] * y_axis[:, 2]
        self.goal_pose = self._goal_pose_scores()
        none = np.zeros((len(self.eef), 0))     # one cube has no pairs
        self.pairs = np.column_stack([none, *(
            stack_score(self, upper + 1, upper) * np.minimum(self.hole[:, upper + 1, 2], self.hole[:, upper, 2])
            for upper in range(self.n - 1)
        )])
        self.illegal = np.column_stack([none, *(
            stack_score(self, small, large) for small in range(self.n) for large in range(small + 1, self.n)
        )]).max(axis=1, initial=0.0)
        moved = np.diff(self.cubes, axis=0)
        self.cube_speed = after_start(norm(moved) / self.dt)
        self.planar_speed = after_start(np.hypot(moved[..., 0], moved[..., 1]) / self.dt)
        self.cube_drift = after_start(np.abs(moved).sum(axis=-1) / self.dt)
        self.eef_speed = after_start(norm(np.diff(self.eef, axis=0)) / self.dt)

    def _hole_scores(self) -> Array:
        """h_j(c, t), shape (T + 1, n, 3 containers)."""
        out_x = np.maximum(GATE_X[0] - self.local_x, self.local_x - GATE_X[1]).clip(min=0.0)
        out_y = (np.abs(self.local_y) - GATE_HALF_Y).clip(min=0.0)
        highest = self.table + 2 * self.half.sum() - self.half
        above = (self.cubes[..., 2] - highest).clip(min=0.0)
        return np.exp(-(out_x ** 2 + out_y ** 2) / GATE_FALLOFF ** 2 - (above / HEIGHT_FALLOFF)[..., None] ** 2)

    def _goal_pose_scores(self) -> Array:
        """g(c, t), shape (T + 1, n)."""
        below = np.array([2 * self.half[cube + 1:].sum() for cube in range(self.n)])
        goal = np.empty_like(self.cubes)
        goal[..., :2] = self.target[:, None, :2]
        goal[..., 2] = self.table + below + self.half
        return np.exp(-norm(self.cubes - goal) / GOAL_SCALE)


def norm(vectors: Array) -> Array:
    """Length along the last axis."""
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))


def after_start(rates: Array) -> Array:
    """Rates of T steps as T + 1 rows, 0 in the first."""
    return np.concatenate([np.zeros((1, *rates.shape[1:])), rates])


def container_axes(pos: Array, quat: Array) -> tuple[Array, Array, Array]:
    """Origins, local x and local y axes, each (T + 1, 3 containers, 3)."""
    w, x, y, z = np.moveaxis(quat, -1, 0)
    x_axis = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)], axis=-1)
    y_axis = np.stack([2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)], axis=-1)
    return pos, x_axis, y_axis


def stack_score(episode: Episode, lower: int, upper: int) -> Array:
    """How well cube `upper` stands on cube `lower`, (T + 1,)."""
    offset = episode.cubes[:, upper] - episode.cubes[:, lower]
    half_lower, half_upper = episode.half[lower], episode.half[upper]
    horizontal = np.hypot(offset[:, 0], offset[:, 1]) / (STACK_FACTOR * min(half_lower, half_upper))
    vertical = np.abs(offset[:, 2] - (half_lower + half_upper)) / STACK_VERTICAL
    return STACK_AT_TOLERANCE ** (np.maximum(horizontal, vertical) ** 2)


def phase_scores(episode: Episode) -> dict[str, Array]:
    """A, G, T, L and R at each state."""
    planar = episode.cubes[..., :2] - episode.target[:, None, :2]
    fill, empty = target_fill(episode), source_emptiness(episode)
    in_place = episode.goal_pose.mean(axis=1)
    stack = episode.pairs.mean(axis=1) if episode.n > 1 else in_place
    return {
        "approach": np.exp(-episode.distance / 0.12).max(axis=1),
        "grasp_lift": episode.lift.max(axis=1),
        "transport": (episode.lift * np.exp(-np.hypot(planar[..., 0], planar[..., 1]) / 0.18)).max(axis=1),
        "placement": np.clip(0.75 * fill + 0.25 * empty, 0.0, 1.0),
        "arrangement": np.clip(0.50 * in_place + 0.50 * stack, 0.0, 1.0),
    }


def target_fill(episode: Episode) -> Array:
    """C_fill at each state."""
    return episode.hole[:, :, 2].mean(axis=1)


def source_emptiness(episode: Episode) -> Array:
    """E_AB at each state."""
    return 0.5 * (2.0 - episode.hole[:, :, 0].mean(axis=1) - episode.hole[:, :, 1].mean(axis=1))


def smoothness(episode: Episode) -> Array:
    """Q_int at each state."""
    arm = np.exp(-(episode.eef_speed / EEF_SPEED_SCALE) ** 2)
    cubes = np.exp(-(episode.cube_speed.max(axis=1) / CUBE_SPEED_SCALE) ** 2)
    return 0.5 * (arm + cubes)


def composite_score(episode: Episode, phases: dict[str, Array]) -> Array:
    """P at each state."""
    weights = {"approach": 0.14, "grasp_lift": 0.18, "transport": 0.20, "placement": 0.20, "arrangement": 0.28}
    raw = sum(weight * phases[name] for name, weight in weights.items())
    return np.clip(0.95 * raw * (1.0 - 0.15 * episode.illegal) + 0.05 * smoothness(episode), 0.0, 1.0)


def phase_metrics(phases: dict[str, Array]) -> Metrics:
    """The largest and the last value of every phase score."""
    metrics: Metrics = {}
    for name in PHASES:
        metrics["max_" + name] = phases[name].max()
        metrics["final_" + name] = phases[name][-1]
    return metrics


def milestones(episode: Episode) -> Metrics:
    """The first step of each milestone; None where it was never reached.

    A cube is in C once it is released there.
    """
    let_go = episode.distance > episode.half + LET_GO
    in_target = (episode.in_gate[:, :, 2] & let_go).sum(axis=1)
    return {
        "first_reach_step": first(episode.distance.min(axis=1) < REACHED),
        "first_lift_step": first(raised(episode).any(axis=1)),
        "first_cube_in_C_step": first(in_target >= 1),
        "two_cubes_in_C_step": first(in_target >= 2),
        "all_cubes_in_C_step": first(in_target >= episode.n),
    }


def raised(episode: Episode) -> Array:
    """Whether a cube is in the hand's reach and above its first place by 2 cm, (T + 1, n)."""
    near = episode.distance < episode.half + LET_GO
    return near & (episode.cubes[..., 2] - episode.cubes[0, :, 2] > 0.08 * LIFTED)


def first(flags: Array) -> int | None:
    """The first row that is true, or None."""
    return int(flags.argmax()) if flags.any() else None


def cube_metrics(episode: Episode) -> Metrics:
    """Per cube: nearest approach, highest lift, speed while carried, last goal-pose score."""
    carried = (episode.lift >= LIFTED) & (episode.distance < episode.half + LET_GO) & (episode.planar_speed > 0.02)
    count = carried.sum(axis=0)
    speed = np.where(carried, episode.planar_speed, 0.0).sum(axis=0) / np.maximum(count, 1)
    return {
        "min_eef_distance_m": by_name(episode, episode.distance.min(axis=0)),
        "max_lift_height_m": by_name(
            episode, (episode.cubes[..., 2].max(axis=0) - (episode.table + episode.half)).clip(min=0.0)),
        "transport_speed_m_s": by_name(episode, speed),
        "goal_pose_score": by_name(episode, episode.goal_pose[-1]),
    }


def by_name(episode: Episode, values: Array) -> Metrics:
    """One number per cube."""
    return dict(zip(episode.names, values, strict=True))


def tower_metrics(episode: Episode) -> Metrics:
    """Holes, fill, emptiness and the pairs of the target stack at the end."""
    fill = target_fill(episode)
    pairs = {
        f"{episode.names[upper]}_on_{episode.names[upper + 1]}": episode.pairs[-1, upper]
        for upper in range(episode.n - 1)
    }
    return {
        "hole_score": dict(zip("ABC", episode.hole[-1].mean(axis=0), strict=True)),
        "target_fill": fill[-1],
        "max_target_fill": fill.max(),
        "source_emptiness": source_emptiness(episode)[-1],
        "stack_score": pairs,
    }


def interaction_metrics(episode: Episode) -> Metrics:
    """Drops, placements, parking next to the containers, illegal stacks, smoothness."""
    placements, off_peg = count_placements(episode)
    return {
        "drop_count": count_drops(episode),
        "placements": placements,
        "off_peg_parkings": off_peg,
        "max_illegal_stack_score": episode.illegal.max(),
        "smoothness": smoothness(episode).mean(),
    }


def count_drops(episode: Episode) -> int:
    """How often a cube fell by 2 cm or more, other than in the hand."""
    down = after_start(-np.diff(episode.cubes[..., 2], axis=0))
    eef_down = after_start(-np.diff(episode.eef[:, 2], axis=0)).clip(min=0.0)
    falling = (down - eef_down[:, None]) / episode.dt > FALLING
    count = 0
    for cube in range(episode.n):
        flags = np.concatenate([[False], falling[:, cube], [False]])
        starts = np.flatnonzero(flags[1:] & ~flags[:-1])
        ends = np.flatnonzero(~flags[1:] & flags[:-1])
        total = np.concatenate([[0.0], np.cumsum(down[:, cube])])
        count += int((total[ends] - total[starts] > DROPPED).sum())
    return count


def count_placements(episode: Episode) -> tuple[int, int]:
    """How often a cube came to rest somewhere else and was let go, and how often outside all gates."""
    resting = (episode.cube_drift <= RESTING_SPEED) & (episode.distance >= episode.half + LET_GO)
    resting[0] = False
    settled_steps = max(1, int(np.ceil(SETTLED_S / episode.dt - 1e-9)))
    placements = off_peg = 0
    rows = np.arange(len(resting))
    for cube in range(episode.n):
        last_restless = np.maximum.accumulate(np.where(resting[:, cube], 0, rows))
        anchor = episode.cubes[0, cube]
        for row in np.flatnonzero(rows - last_restless == settled_steps):
            place = episode.cubes[row, cube]
            if norm(place - anchor) > MOVED:
                anchor = place
                placements += 1
                off_peg += not episode.in_gate[row, cube].any()
    return placements, int(off_peg)


def rounded(value: Any) -> Any:
    """The same in plain Python numbers of six decimals."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if value is None or isinstance(value, int):
        return value
    return round(float(value), 6)
