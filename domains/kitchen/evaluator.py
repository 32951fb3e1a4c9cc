"""The evaluator that the paper selected for the household task (appendix, evaluator evolution results).

Needs numpy only. Where the paper gives no formula, this file defines smooth, bounded forms:

    closeness        1 at 0.5 m from the agent or nearer, 0 at 2.0 m and beyond, linear in between
    p_seen           0 before the object is seen, then 0.6 + 0.4 × the best closeness at which it was visible
    p_picked         1 while the object is held or lies in its goal; an object put elsewhere loses it
    p_open           1 while the receptacle is open or holds its object; so P falls where progress is undone
    Q_int            relevant × (0.5 + 0.5 × successful): the share of the nine useful interactions that were
                     done at least once, and the success rate of all object interactions
    Q_vis            mean over the four objects of 0.7 p_seen + 0.3 min(1, share of steps visible / 0.2)
    Q_eff            mean over all steps that the episode may have of the best P so far, kept after the end
    C_blocked        0.6 × failed moves / moves + 0.4 × longest time without a new best P / allowed steps
    C_carry          for Apple and Bread: longest time held without a break beyond 40 steps, over the allowed
                     steps less 40; the larger of the two
"""

from typing import Any

import numpy as np

Array = Any     # numpy arrays
Metrics = dict[str, Any]

TARGETS = ("apple", "bread", "microwave", "fridge")
WEIGHTS = {
    "apple_seen": 0.06, "bread_seen": 0.06, "apple_picked": 0.08, "bread_picked": 0.08,
    "microwave_seen": 0.10, "fridge_seen": 0.10, "microwave_open": 0.08, "fridge_open": 0.08,
    "apple_in_microwave": 0.16, "bread_in_fridge": 0.16, "microwave_on": 0.04,
}
NEAR_M = 0.5
FAR_M = 2.0
SEEN_SHARE = 0.6
ENOUGH_VISIBLE = 0.2        # of the steps
CARRY_ALLOWED = 40          # steps
MOVES = ("move_ahead", "rotate_left", "rotate_right", "look_up", "look_down")
INTERACTIONS = ("open_object", "close_object", "pickup_object", "put_object", "toggle_on", "toggle_off")
# Useful interactions: an action and its object.
USEFUL = (
    ("pickup_object", "apple"), ("pickup_object", "bread"), ("open_object", "microwave"), ("open_object", "fridge"),
    ("put_object", "microwave"), ("put_object", "fridge"), ("close_object", "microwave"), ("toggle_on", "microwave"),
    ("close_object", "fridge"),
)
# Milestones: the lower bound that each gives to the fitness of the episode.
PICKED, LOCATED, OPENED, PLACED, PLACED_BOTH, SWITCHED_ON, SUCCEEDED = 0.06, 0.10, 0.18, 0.42, 0.72, 0.90, 0.98


class Evaluator:
    """Scores one recorded episode: fitness in [0, 1] and feedback metrics."""

    def evaluate(self, trajectory: dict[str, Array]) -> tuple[float, Metrics]:
        """Returns (f_e, metrics) for the recorded arrays of one episode of T >= 0 steps."""
        episode = Episode(trajectory)
        progress = episode.progress()
        best, final = float(progress.max()), float(progress[-1])
        merged = 0.35 * best + 0.65 * final
        interaction, visibility = interaction_quality(episode), visibility_quality(episode)
        efficiency = efficiency_quality(progress, episode.max_steps)
        blocked, carry = blocked_cost(episode, progress), carry_cost(episode)
        raw = (
            0.74 * merged + 0.14 * interaction + 0.06 * visibility + 0.06 * efficiency
            - 0.07 * blocked - 0.03 * carry
        )
        fitness = float(np.clip(max(raw, lower_bound(episode)), 0.0, 1.0))
        metrics: Metrics = {
            "phase_best": best, "phase_final": final, "interaction_quality": interaction,
            "visibility_quality": visibility, "efficiency": efficiency, "blocked_cost": blocked,
            "carry_cost": carry, "steps": episode.steps,
        }
        metrics.update(terminal(episode))
        metrics.update(milestone_steps(episode))
        metrics.update(sight(episode))
        metrics.update(actions(episode))
        metrics["never_reached"] = never_reached(episode)
        return fitness, rounded(metrics)


class Episode:
    """The recorded arrays, and what several scores share. Rows: T + 1 states; actions have T."""

    def __init__(self, trajectory: dict[str, Array]) -> None:
        def flags(name: str) -> Array:
            return np.asarray(trajectory[name], dtype=bool)

        self.picked = {word: flags(f"{word}_picked") for word in TARGETS[:2]}
        self.open = {word: flags(f"{word}_open") for word in TARGETS[2:]}
        self.placed = {"apple": flags("apple_in_microwave"), "bread": flags("bread_in_fridge")}
        self.on = flags("microwave_on")
        self.success = flags("success")
        self.seen = {word: flags(f"{word}_seen") for word in TARGETS}
        self.visible = {word: flags(f"{word}_visible") for word in TARGETS}
        self.distance = {word: np.asarray(trajectory[f"{word}_distance_m"], dtype=np.float64) for word in TARGETS}
        self.max_steps = max(1, int(trajectory["max_steps"]))
        self.steps = len(self.success) - 1
        names = [str(name) for name in trajectory["action_names"]]
        errors = [str(name) for name in trajectory["error_names"]]
        targets = [str(name) for name in trajectory["target_names"]]
        self.action = [names[int(code)] for code in trajectory["action"]]
        self.error = [errors[int(code)] for code in trajectory["error_category"]]
        self.target = [targets[int(code)] for code in trajectory["action_target"]]
        self.worked = [bool(flag) for flag in trajectory["action_success"]]

    def progress(self) -> Array:
        """P_t for every row."""
        terms = {f"{word}_seen": seen_score(self, word) for word in TARGETS}
        terms["apple_picked"] = self.picked["apple"] | self.placed["apple"]
        terms["bread_picked"] = self.picked["bread"] | self.placed["bread"]
        terms["microwave_open"] = self.open["microwave"] | self.placed["apple"]
        terms["fridge_open"] = self.open["fridge"] | self.placed["bread"]
        terms["apple_in_microwave"], terms["bread_in_fridge"] = self.placed["apple"], self.placed["bread"]
        terms["microwave_on"] = self.on
        total = np.zeros(self.steps + 1)
        for name, weight in WEIGHTS.items():
            total = total + weight * terms[name]
        return total

    def done(self, action: str, target: str) -> bool:
        """Whether an action on one of the task's objects succeeded at least once."""
        return any(
            worked and name == action and what == target
            for worked, name, what in zip(self.worked, self.action, self.target, strict=True)
        )


def closeness(distance: Array) -> Array:
    """1 near, 0 far, for distances in metres."""
    return np.clip((FAR_M - distance) / (FAR_M - NEAR_M), 0.0, 1.0)


def seen_score(episode: Episode, word: str) -> Array:
    """p_seen of one object for every row."""
    near = np.where(episode.visible[word], closeness(episode.distance[word]), 0.0)
    return np.where(episode.seen[word], SEEN_SHARE + (1 - SEEN_SHARE) * np.maximum.accumulate(near), 0.0)


def interaction_quality(episode: Episode) -> float:
    """Q_int."""
    tried = [worked for worked, name in zip(episode.worked, episode.action, strict=True) if name in INTERACTIONS]
    useful = sum(episode.done(action, target) for action, target in USEFUL)
    if not tried:
        return 0.0
    return min(1.0, useful / len(USEFUL)) * (0.5 + 0.5 * sum(tried) / len(tried))


def visibility_quality(episode: Episode) -> float:
    """Q_vis."""
    scores = [
        0.7 * float(seen_score(episode, word)[-1])
        + 0.3 * min(1.0, float(episode.visible[word].mean()) / ENOUGH_VISIBLE)
        for word in TARGETS
    ]
    return sum(scores) / len(scores)


def efficiency_quality(progress: Array, max_steps: int) -> float:
    """Q_eff."""
    best = np.maximum.accumulate(progress)[1:]
    rest = max(0, max_steps - len(best))
    last = float(best[-1]) if len(best) else float(progress[0])
    return min(1.0, (float(best.sum()) + rest * last) / (len(best) + rest))


def longest_wait(progress: Array) -> int:
    """The most steps in a row without a new best P."""
    best, longest, since = -1.0, 0, 0
    for value in progress:
        if value > best + 1e-9:
            best, since = float(value), 0
        else:
            since += 1
        longest = max(longest, since)
    return longest


def failed_move_rate(episode: Episode) -> float:
    """The share of movements that failed."""
    moves = [worked for worked, name in zip(episode.worked, episode.action, strict=True) if name in MOVES]
    return 1.0 - sum(moves) / len(moves) if moves else 0.0


def blocked_cost(episode: Episode, progress: Array) -> float:
    """C_blocked."""
    waited = 0.0 if episode.success.any() else longest_wait(progress) / episode.max_steps
    return 0.6 * failed_move_rate(episode) + 0.4 * min(1.0, waited)


def longest_run(flags: Array) -> int:
    """The most rows in a row that are true."""
    longest = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest


def carry_cost(episode: Episode) -> float:
    """C_carry."""
    excess = max(longest_run(episode.picked[word]) for word in TARGETS[:2]) - CARRY_ALLOWED
    return min(1.0, max(0, excess) / max(1, episode.max_steps - CARRY_ALLOWED))


def lower_bound(episode: Episode) -> float:
    """The lower bound on fitness from the milestones reached."""
    apple, bread = bool(episode.placed["apple"].any()), bool(episode.placed["bread"].any())
    both = episode.placed["apple"] & episode.placed["bread"]
    reached = [
        (PICKED, episode.picked["apple"].any() or episode.picked["bread"].any()),
        (LOCATED, episode.seen["microwave"].any() or episode.seen["fridge"].any()),
        (OPENED, episode.open["microwave"].any() or episode.open["fridge"].any()),
        (PLACED, apple or bread),
        (PLACED_BOTH, both.any()),
        (SWITCHED_ON, (both & episode.on).any()),
        (SUCCEEDED, episode.success.any()),
    ]
    return max((bound for bound, holds in reached if holds), default=0.0)


def terminal(episode: Episode) -> Metrics:
    """The task's predicates in the last row."""
    return {
        "final_apple_picked": bool(episode.picked["apple"][-1]),
        "final_bread_picked": bool(episode.picked["bread"][-1]),
        "final_microwave_open": bool(episode.open["microwave"][-1]),
        "final_fridge_open": bool(episode.open["fridge"][-1]),
        "final_apple_in_microwave": bool(episode.placed["apple"][-1]),
        "final_bread_in_fridge": bool(episode.placed["bread"][-1]),
        "final_microwave_on": bool(episode.on[-1]),
        "success": bool(episode.success.any()),
    }


def milestone_steps(episode: Episode) -> Metrics:
    """The first step of each milestone, None where it was not reached."""
    rows = {
        "apple_seen": episode.seen["apple"], "bread_seen": episode.seen["bread"],
        "microwave_seen": episode.seen["microwave"], "fridge_seen": episode.seen["fridge"],
        "apple_picked": episode.picked["apple"], "bread_picked": episode.picked["bread"],
        "microwave_open": episode.open["microwave"], "fridge_open": episode.open["fridge"],
        "apple_in_microwave": episode.placed["apple"], "bread_in_fridge": episode.placed["bread"],
        "microwave_on": episode.on,
    }
    return {f"first_{name}": int(np.argmax(flags)) if flags.any() else None for name, flags in rows.items()}


def sight(episode: Episode) -> Metrics:
    """How well each object was found and approached."""
    metrics: Metrics = {f"{word}_found": round(float(seen_score(episode, word)[-1]), 4) for word in TARGETS}
    metrics["visible_share"] = {word: round(float(episode.visible[word].mean()), 4) for word in TARGETS}
    metrics["nearest_m"] = {word: round(float(episode.distance[word].min()), 4) for word in TARGETS}
    return metrics


def rate(flags: list[bool]) -> float | None:
    """The share that is true; None of nothing."""
    return sum(flags) / len(flags) if flags else None


def actions(episode: Episode) -> Metrics:
    """The actions that succeeded, and the reasons for failures."""
    by_name = {name: [w for w, n in zip(episode.worked, episode.action, strict=True) if n == name]
               for name in ("move_ahead", *INTERACTIONS)}
    rows = list(zip(episode.worked, episode.action, episode.target, strict=True))
    relevant = [worked for worked, name, target in rows if name in INTERACTIONS and target in TARGETS]
    metrics: Metrics = {
        "action_success_rate": rate(episode.worked),
        "interaction_success_rate": rate([worked for worked, name, _ in rows if name in INTERACTIONS]),
        "relevant_interaction_success_rate": rate(relevant),
        "relevant_interactions": len(relevant),
        "failed_move_rate": failed_move_rate(episode),
        "longest_carry": {word: longest_run(episode.picked[word]) for word in TARGETS[:2]},
        "put_failures": {
            word: sum(not w for w, n, t in rows if n == "put_object" and t == word) for word in TARGETS[2:]
        },
        "pickup_success_rate": rate(by_name["pickup_object"]),
        "open_success_rate": rate(by_name["open_object"]),
        "most_frequent_error": most_frequent([error for error in episode.error if error != "none"]),
        "ended_by_done": bool(episode.action and episode.action[-1] == "done"),
    }
    return metrics


def most_frequent(words: list[str]) -> str | None:
    """The most frequent word, the first in the alphabet of several."""
    return min(set(words), key=lambda word: (-words.count(word), word)) if words else None


def never_reached(episode: Episode) -> str:
    """The first stage that was never reached on each of the two ways, which may be walked in any order."""
    ways = (
        (
            ("Apple never seen", episode.seen["apple"]), ("Apple never held", episode.picked["apple"]),
            ("Microwave never seen", episode.seen["microwave"]), ("Microwave never open", episode.open["microwave"]),
            ("Apple never in Microwave", episode.placed["apple"]), ("Microwave never on", episode.on),
        ),
        (
            ("Bread never seen", episode.seen["bread"]), ("Bread never held", episode.picked["bread"]),
            ("Fridge never seen", episode.seen["fridge"]), ("Fridge never open", episode.open["fridge"]),
            ("Bread never in Fridge", episode.placed["bread"]),
        ),
    )
    found = [next((name for name, flags in way if not flags.any()), "") for way in ways]
    named = "; ".join(name for name in found if name)
    return named or ("nothing" if episode.success.any() else "only never all at once")


def rounded(metrics: Metrics) -> Metrics:
    """Floats at four decimals."""
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in metrics.items()}
