"""Random programs against the limits of the robot cell, in its twin: too long for every test run; a release runs it.

    python -m memento.tests.benchmarks.cell_limits [--minutes 5] [--seed 1]

Phases in any order and increments, for some minutes of CPU time: the hand, as it is measured, never leaves the box. The
last line says how many programs were tried and how many held; the exit code is 1 if one did not.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from memento.core.values import JSON
from memento.extensions.cell.domain import DOMAIN
from memento.extensions.cell.environment import CellEnvironment

LIGHT: dict[str, JSON] = {        # a cell whose images cost little
    "segmenter": {"kind": "truth"}, "grounding": {"container_frames": 1},
    "camera": {"width": 160, "height": 120, "focal_px": 200.0, "every_steps": 20},
}
STEPS = 60


def tried(minutes: float, seed: int) -> Iterator[tuple[str, bool]]:
    """Programs, and whether they held: phases and increments, half of the minutes each."""
    for mode in ("phases", "increments"):
        options = DOMAIN.options({"cell": LIGHT, "horizon": 400, "mode": mode}, preset="paper")
        environment = CellEnvironment(options)
        limits, end_s, number = environment.limits, time.process_time() + 30 * minutes, 0
        low, high = np.array(limits.low_m), np.array(limits.high_m)
        while time.process_time() < end_s:
            draw = np.random.default_rng([seed, number])
            environment.reset(index=0, seed=number)
            act = _phases(draw, low, high) if mode == "phases" else _increments(draw)
            for step in range(STEPS):
                if environment.step(act(step)) is not None:
                    break
            hand = np.asarray(environment.recording().states["eef_pos"], dtype=float)
            yield f"{mode} {number}", bool(((hand >= low) & (hand <= high)).all())
            number += 1
        environment.close()


def _phases(draw: np.random.Generator, low: Any, high: Any) -> Callable[[int], Any]:
    """Phases in any order, with targets in the box, at its border and beyond, and values that mean nothing."""
    every, odd = int(draw.choice([1, 2, 5, 20])), [np.nan, np.inf, -1.0, 2.5, 1e300, 99.0]
    action = np.zeros(7)

    def act(step: int) -> Any:
        if step % every == 0:
            place = np.clip(draw.uniform(low - 0.05, high + 0.05), low, high)
            place = place if draw.random() < 0.95 else draw.normal(0, 2, 3)
            turn, speed, grip = draw.uniform(-1.6, 1.6), draw.choice([0.05, 0.5, 1.0]), draw.choice([-1.0, 1.0])
            action[:] = [draw.integers(0, 9), *place, turn, speed, grip]
            if draw.random() < 0.02:
                action[draw.integers(7)] = draw.choice(odd)
        return action.copy()

    return act


def _increments(draw: np.random.Generator) -> Callable[[int], Any]:
    """Held commands that turn round, with some noise."""
    every, scale = int(draw.choice([1, 3, 10, 30, 60])), draw.choice([0.3, 1.0, 1e6])
    held = draw.uniform(-1, 1, 7)

    def act(step: int) -> Any:
        if step % every == 0:
            held[:] = draw.choice([-1.0, 0.0, 1.0], 7) if draw.random() < 0.5 else draw.uniform(-1, 1, 7)
        return scale * held + draw.normal(0, 0.1, 7)

    return act


def main() -> None:
    """Try and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=5.0, help="of CPU time")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    count, gave_way = 0, 0
    for name, held in tried(given.minutes, given.seed):
        count, gave_way = count + 1, gave_way + (not held)
        if not held:
            print(f"{name}: the hand left the box", flush=True)
    print(f"tried {count}, held {count - gave_way}, gave way {gave_way}")
    sys.exit(1 if gave_way else 0)


if __name__ == "__main__":
    main()
