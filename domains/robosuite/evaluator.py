"""robosuite's staged reward over an episode, and metrics that say how far it came and what went wrong.

Progress is robosuite's shaped reward, clipped to [0, 1], except where it misses the task's last stage:

    a door      half of it is the hinge's angle, up to 0.3 rad
    wiping      the share of wiped markers, plus up to 0.1 for nearness to the nearest marker that is left
    peg, hole   what the reward gains over 0.55, since it begins near 0.6

The fitness is 0.02 + 0.9 (0.35 mean + 0.45 best + 0.20 last progress); it is 1 where the task succeeded. Progress is at
most 0.95 without success, since what meets robosuite's predicate again and again for an instant has not done the task.
Needs numpy only.
"""

from typing import Any

import numpy as np

Array = Any     # numpy arrays
Metrics = dict[str, Any]

NEARLY = 0.95
DOOR_OPEN_RAD = 0.3
PEG_START = 0.55
NEAR_M = 0.05
LIFTED_M = 0.02
SETTLED_ROWS = 10
CLOSED_M = 0.002        # fingers nearer to the middle than this hold nothing
OPEN_M = 0.037


class Evaluator:
    """Scores one recorded episode: fitness in [0, 1] and feedback metrics."""

    def evaluate(self, trajectory: dict[str, Array]) -> tuple[float, Metrics]:
        """Returns (f_e, metrics) for the recorded arrays of one episode of T >= 0 steps."""
        success = np.asarray(trajectory["success"], dtype=bool)
        progress = np.where(success, 1.0, np.minimum(progress_of(trajectory), NEARLY))
        counted = progress[1:] if len(progress) > 1 else progress
        mean, best, last = float(counted.mean()), float(counted.max()), float(counted[-1])
        fitness = 0.02 + 0.9 * (0.35 * mean + 0.45 * best + 0.20 * last)
        if success.any():
            fitness = 1.0
        metrics: Metrics = {
            "steps": len(progress) - 1,
            "progress_mean": mean,
            "progress_best": best,
            "progress_last": last,
            "progress_best_step": int(progress.argmax()),
            "progress_by_fifths": [float(part.mean()) for part in np.array_split(counted, 5) if len(part)],
        }
        metrics.update(object_metrics(trajectory))
        metrics.update(action_metrics(trajectory))
        return float(np.clip(fitness, 0.0, 1.0)), rounded(metrics)


def progress_of(trajectory: dict[str, Array]) -> Array:
    """Progress at each state, (T + 1,), in [0, 1]."""
    reward = np.clip(np.nan_to_num(np.asarray(trajectory["reward"], dtype=float)), 0.0, 1.0)
    if "hinge_angle" in trajectory:
        opened = np.clip(np.asarray(trajectory["hinge_angle"], dtype=float)[:, 0] / DOOR_OPEN_RAD, 0.0, 1.0)
        return np.clip(np.minimum(reward, 0.5) + 0.5 * opened, 0.0, 1.0)
    if "marker_wiped" in trajectory:
        wiped = np.asarray(trajectory["marker_wiped"], dtype=float)
        markers = np.asarray(trajectory["marker_pos"], dtype=float).reshape(len(wiped), -1, 3)
        away = norm(markers - np.asarray(trajectory["robot0_eef_pos"], dtype=float)[:, None, :])
        nearest = np.where(wiped > 0.5, np.inf, away).min(axis=1)
        return np.clip(0.9 * wiped.mean(axis=1) + 0.1 * np.exp(-nearest / 0.15), 0.0, 1.0)
    if "peg_pos" in trajectory:
        return np.clip((reward - PEG_START) / (1.0 - PEG_START), 0.0, 1.0)
    return reward


def object_metrics(trajectory: dict[str, Array]) -> Metrics:
    """For each observed object: nearest approach of a hand, height gained, shift, last distances between objects."""
    hands = [np.asarray(trajectory[name], dtype=float) for name in sorted(trajectory) if name.endswith("_eef_pos")]
    names = sorted(
        name for name, rows in trajectory.items()
        if name.endswith("_pos") and not name.startswith("robot") and np.ndim(rows) == 2 and np.shape(rows)[1] == 3
    )
    metrics: Metrics = {}
    places = {name.removesuffix("_pos"): np.asarray(trajectory[name], dtype=float) for name in names}
    nearest: Metrics = {}
    for name, place in places.items():
        for number, hand in enumerate(hands):
            label = name if len(hands) == 1 else f"{name}_robot{number}"
            nearest[label] = float(norm(place - hand).min())
    if places:
        metrics["min_hand_distance_m"] = nearest
        metrics["max_height_gained_m"] = {
            name: float(place[:, 2].max() - place[0, 2]) for name, place in places.items()}
        metrics["first_lift_step"] = {name: first_lift(place[:, 2]) for name, place in places.items()}
        metrics["shift_m"] = {name: float(norm(place[-1] - place[0])) for name, place in places.items()}
    pairs = {
        f"{one}_to_{other}": float(norm(places[one][-1] - places[other][-1]))
        for one in places for other in places if one < other
    }
    if pairs:
        metrics["last_distance_m"] = pairs
    for name in ("hinge_angle", "handle_angle"):
        if name in trajectory:
            metrics["max_" + name] = float(np.abs(trajectory[name]).max())
    if "marker_wiped" in trajectory:
        metrics["share_wiped"] = float(np.asarray(trajectory["marker_wiped"])[-1].mean())
    metrics.update(grip_metrics(trajectory, places, hands))
    return metrics


def first_lift(height: Array) -> int | None:
    """The first row at which an object is above its resting place; the first rows are its drop onto the table."""
    settled = min(SETTLED_ROWS, len(height) - 1)
    row = first(height[settled:] > height[settled] + LIFTED_M)
    return None if row is None else row + settled


def grip_metrics(trajectory: dict[str, Array], places: dict[str, Array], hands: list[Array]) -> Metrics:
    """How long each gripper was closed on something near an object, and closed on nothing."""
    metrics: Metrics = {}
    for number, hand in enumerate(hands):
        fingers = trajectory.get(f"robot{number}_gripper_qpos")
        if fingers is None or not places:
            continue
        opening = np.asarray(fingers, dtype=float)[:, 0]
        near = np.min([norm(place - hand) for place in places.values()], axis=0) < NEAR_M
        still = np.concatenate([[False], np.abs(np.diff(opening)) < 1e-4])
        of = "" if len(hands) == 1 else f"_robot{number}"
        metrics[f"held_steps{of}"] = int((near & still & (opening > CLOSED_M) & (opening < OPEN_M)).sum())
        metrics[f"closed_on_nothing_steps{of}"] = int((opening <= CLOSED_M).sum())
    return metrics


def action_metrics(trajectory: dict[str, Array]) -> Metrics:
    """How large the commands were, and how often they were at their limits."""
    actions = np.asarray(trajectory["actions"], dtype=float)
    if not len(actions):
        return {"mean_action_size": 0.0, "saturated_share": 0.0}
    return {
        "mean_action_size": float(np.abs(actions).mean()),
        "saturated_share": float((np.abs(actions[:, :6]) >= 0.999).mean()),
    }


def norm(vectors: Array) -> Array:
    """Length along the last axis."""
    return np.sqrt((vectors * vectors).sum(axis=-1))


def first(flags: Array) -> int | None:
    """The first row that is true, or None."""
    return int(flags.argmax()) if flags.any() else None


def rounded(value: Any) -> Any:
    """The same in plain Python numbers of six decimals."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if value is None or isinstance(value, int):
        return value
    return round(float(value), 6)
