"""Learned baselines in a report: what was trained exactly, what it cost, and what it does on unseen episodes. Pure."""

from collections.abc import Sequence

from ..core.text import DASH, number, share
from .baseline_rows import BaselineRow
from .tables import Table


def baseline_table(rows: Sequence[BaselineRow]) -> Table | None:
    """One row per training, in the order given; None without any."""
    if not rows:
        return None
    more = next((row.cpu_hours_of for row in rows if row.cpu_hours_of), ())
    return Table(
        title="Learned baselines",
        columns=("Run", "Task", "Method", "Reward", "Status", "Seed", "Environments", "Simulator steps", "CPU hours",
                 "Dollars", "Success", "Goal reached", "Return", "Reference F", "Episodes",
                 *(f"CPU hours for {steps / 1e6:g} M steps" for steps, _ in more)),
        rows=tuple(_cells(row, [steps for steps, _ in more]) for row in rows),
        texts=5,
        note="Trained for the simulator steps that the row says, of all environments together, and no more; the "
        "columns on the right extrapolate the measured pace. Success is the task's own on unseen episodes; goal "
        "reached is that of hindsight, every part of the goal within the tolerance at the last step. A row without "
        "episodes has no measure: its status says whether the training or only the measure is missing.",
    )


def evaluation_table(rows: Sequence[BaselineRow]) -> Table | None:
    """One row per evaluation during a training; None without any."""
    found = tuple(
        (row.name, row.task, row.reward, f"{point.steps:,}", share(point.success), share(point.reached),
         number(point.mean_return, digits=2), str(point.episodes))
        for row in rows for point in row.evaluations
    )
    if not found:
        return None
    return Table(
        title="Evaluations during the training",
        columns=("Run", "Task", "Reward", "Simulator steps", "Success", "Goal reached", "Return", "Episodes"),
        rows=found,
        texts=3,
        note="The agent without exploration, on the task of its training, in the same episodes at every point; they "
        "are not those of the measure, and nothing was chosen by them. The paper evaluates 5 episodes every 1,000,000 "
        "steps.",
    )


def _cells(row: BaselineRow, more: Sequence[int]) -> tuple[str, ...]:
    hours = dict(row.cpu_hours_of)
    return (
        row.name, row.task, row.method, row.reward, row.status,
        str(row.seed), str(row.environments), _steps(row), number(row.cpu_hours, digits=2),
        f"{row.usd:.2f}", share(row.success), share(row.reached), number(row.mean_return, digits=2),
        number(row.fitness), str(row.episodes) if row.episodes else DASH,
        *(number(hours[steps], digits=0) if steps in hours else DASH for steps in more),
    )


def _steps(row: BaselineRow) -> str:
    """The steps that were done, and of how many if that is not all."""
    return f"{row.steps:,}" if row.steps >= row.planned_steps else f"{row.steps:,} of {row.planned_steps:,}"
