"""The fitness of an episode in (0, 1), with metrics that say where it comes from.

g grows with the return R everywhere. It is 0.25 at `return_low`, the mean of random actions, and 0.75 at
`return_high`, a good return, which may be a guess: with y = (R - low) / (high - low) and z = 2 y - 1 it is
(1 + z / (1 + |z|)) / 2 up to there, and 1 - 0.25 / y^(1/4) above, so that returns many times as high as the guess still
differ. The fitness is g, or where the recording holds `success`, success first: 1 - 0.05 (t - 1) / H for an episode
that succeeds at step t of at most H, and g / 2 for any other.
"""

from typing import Any

import numpy as np

MOST_ROWS = 8
WITHOUT_SUCCESS = 0.5       # the bound of an episode that did not succeed
LATE = 0.05                 # what a success at the last step loses
TAIL = 0.25                 # above a good return, ten times as much leaves 0.56 of what is missing to 1


class Evaluator:
    """Grades one episode by its return."""

    def evaluate(self, trajectory: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """The fitness of the return, and metrics."""
        rewards = np.asarray(trajectory["reward"], dtype=float)
        total = float(np.sum(rewards))
        low, high = float(trajectory["return_low"][0]), float(trajectory["return_high"][0])
        fitness = self.scaled((total - low) / (high - low))
        metrics: dict[str, Any] = {"return": total, "steps": len(rewards)}
        if "success" in trajectory:
            step = self.success_step(trajectory["success"])
            metrics["succeeded"] = float(step is not None)
            if step is None:
                fitness *= WITHOUT_SUCCESS
            else:
                fitness = 1.0 - LATE * (step - 1) / float(trajectory["horizon"][0])
                metrics["succeeded_at_step"] = step
        if len(rewards):
            metrics["reward_least"], metrics["reward_greatest"] = float(rewards.min()), float(rewards.max())
            metrics["return_by_fifths"] = [float(np.sum(part)) for part in np.array_split(rewards, 5)]
            metrics.update(self.actions(trajectory))
            metrics.update(self.info(trajectory))
        metrics.update(self.goal(trajectory))
        metrics.update(self.fields(trajectory, len(rewards)))
        return float(min(max(fitness, 0.0), 1.0)), metrics

    def scaled(self, share: float) -> float:
        """g of a return, given as its share of the way from `return_low` to `return_high`."""
        if share > 1.0:
            return 1.0 - 0.25 * float(share ** -TAIL)
        z = 2.0 * share - 1.0
        return 0.5 * (1.0 + z / (1.0 + abs(z)))

    def success_step(self, success: Any) -> int | None:
        """The step from which success holds to the end, 1 for the first; None if it does not hold at the end."""
        flags = np.asarray(success, dtype=bool)
        if not flags[-1]:
            return None
        return len(flags) - int(np.argmin(flags[::-1]))     # the first flag is of the start, which is none

    def actions(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        """Size and saturation of real-valued actions; the shares of the choices of a single discrete one."""
        taken, low, high = trajectory["action"], trajectory["action_low"], trajectory["action_high"]
        if taken.dtype.kind in "iu":
            if taken.shape[1] > 1:
                return {}
            chosen, counts = np.unique(taken[:, 0], return_counts=True)
            most = np.argsort(-counts)[:MOST_ROWS]
            return {f"action_share.{chosen[place]}": float(counts[place] / len(taken)) for place in sorted(most)}
        at_bound = (taken <= low) | (taken >= high)
        found: dict[str, Any] = {"action_size": float(np.mean(np.abs(taken)))}
        if 1 < taken.shape[1] <= MOST_ROWS:
            found["action_size_each"] = [float(size) for size in np.mean(np.abs(taken), axis=0)]
        found["action_saturated"] = float(np.mean(at_bound))
        if len(taken) > 1:
            found["action_change"] = float(np.mean(np.abs(np.diff(taken, axis=0))))
        return found

    def info(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        """Sums of the terms of the reward, and the last value of anything else that is reported."""
        found = {}
        for name in sorted(trajectory):
            values = np.asarray(trajectory[name])
            if not name.startswith("info_") or values.ndim != 1:
                continue
            known = values[np.isfinite(values)]
            if len(known):
                term = any(word in name for word in ("reward", "cost", "bonus", "penalty"))
                found[name[5:] + ("_sum" if term else "_end")] = float(np.sum(known) if term else known[-1])
                if not term:
                    found[name[5:] + "_greatest"] = float(known.max())
        return found

    def goal(self, trajectory: dict[str, Any]) -> dict[str, Any]:
        """The distance to the goal at the start, at the end and at its least."""
        gap = []
        for name in sorted(trajectory):
            if name.startswith("desired_goal"):
                reached = trajectory.get("achieved" + name[len("desired"):])
                if reached is not None and reached.shape == trajectory[name].shape:
                    rows = len(reached)
                    gap.append((np.asarray(trajectory[name], dtype=float) - reached).reshape(rows, -1))
        if not gap:
            return {}
        distance = np.linalg.norm(np.concatenate(gap, axis=1), axis=1)
        return {
            "goal_distance_start": float(distance[0]), "goal_distance_end": float(distance[-1]),
            "goal_distance_least": float(distance.min()),
        }

    def fields(self, trajectory: dict[str, Any], steps: int) -> dict[str, Any]:
        """Least, greatest and last value of the numbers of small fields."""
        found = {}
        for name in sorted(trajectory):
            rows = np.asarray(trajectory[name])
            state = rows.ndim >= 2 and len(rows) == steps + 1 and rows.dtype.kind in "biuf" and name != "action"
            if not state or name == "success" or name.startswith(("info_", "desired_goal", "achieved_goal")):
                continue
            flat = rows.reshape(len(rows), -1).astype(float)
            if 0 < flat.shape[1] <= MOST_ROWS and np.isfinite(flat).all():
                found[name + "_least"] = [float(value) for value in flat.min(axis=0)]
                found[name + "_greatest"] = [float(value) for value in flat.max(axis=0)]
                found[name + "_end"] = [float(value) for value in flat[-1]]
        return found
