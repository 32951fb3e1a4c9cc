"""The pace of a training: steps per second, the time that is left, and what more steps would cost. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...core.text import duration, number, plural, share
from ...evidence.baseline_rows import EvaluationPoint
from .log import TrainingProgress

SEARCH_STEPS: Final = 14_400_000    # of a search at the paper's budget: 120 candidates x 10 episodes x 12,000 steps
PAPER_STEPS: Final = 50_000_000     # of the paper's baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPace:
    """Seconds per step of the training while it learns: of time, and of CPU time in all processes."""

    wall_s: float
    cpu_s: float

    def hours(self, steps: int) -> tuple[float, float]:
        """What this many steps take: hours, and hours of CPU time."""
        return steps * self.wall_s / 3600, steps * self.cpu_s / 3600


def pace_of(progress: Sequence[TrainingProgress]) -> TrainingPace | None:
    """The pace between the first update and the last line; None as long as nothing can be measured.

    Steps before the first update are random actions, and much faster.
    """
    learning = [each for each in progress if each.updates > 0]
    if len(learning) < 2 or learning[-1].steps <= learning[0].steps:
        return None
    first, last = learning[0], learning[-1]
    steps = last.steps - first.steps
    return TrainingPace(
        wall_s=max(0.0, last.wall_s - first.wall_s) / steps, cpu_s=max(0.0, last.cpu_s - first.cpu_s) / steps
    )


def line_of(progress: Sequence[TrainingProgress], *, steps: int) -> str:
    """The progress in one line: steps, steps/s, return, success, reached goals, time left."""
    last, pace = progress[-1], pace_of(progress)
    speed, left = "", ""
    if pace is not None and pace.wall_s > 0:
        speed = f", {1 / pace.wall_s:,.1f} steps/s"
        left = f", {duration(max(0, steps - last.steps) * pace.wall_s)} left"
    return (
        f"{last.steps:,} of {steps:,} steps{speed}, {last.episodes:,} episodes"
        f", return {number(last.mean_return, digits=2)}"
        f", success {share(last.success)}, goal reached {share(last.reached)}{left}"
    )


def point_line(point: EvaluationPoint) -> str:
    """An evaluation in words: the steps, success, reached goals, return."""
    return (
        f"at {point.steps:,} steps: success {share(point.success)}, goal reached {share(point.reached)}"
        f", return {number(point.mean_return, digits=2)} over {plural(point.episodes, 'episode')}"
    )
