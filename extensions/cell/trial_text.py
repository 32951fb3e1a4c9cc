"""The trials in a cell as lines of text and as JSON."""

from dataclasses import asdict
from typing import Final

from ...core.text import one_line, plural
from ...tui.words import isolation
from .trials import CellResult, CellTrial

MOST_REASON: Final = 300       # characters of a reason


def describe_trials(result: CellResult) -> str:
    """One line per trial, and the share that succeeded."""
    lines = [f"{result.policy} in the cell {result.cell}"]
    lines += [f"  {place:>3}  {_line(trial)}" for place, trial in enumerate(result.trials, start=1)]
    succeeded = sum(trial.success for trial in result.trials)
    lines.append(f"{succeeded} of {plural(len(result.trials), 'trial')} succeeded")
    lines.append(f"the same trials again: --seed {result.seed} --salt {result.salt}")
    lines.append(isolation(result.sandbox))
    return "\n".join(lines)


def cell_json(result: CellResult) -> dict[str, object]:
    """Everything, with the metrics of E_R."""
    return {**asdict(result), "success_rate": result.success_rate}


def _line(trial: CellTrial) -> str:
    outcome = "success" if trial.success else "FAILED "
    found = trial.metrics
    seen = f", {found['cubes_seen_on_c']} cubes seen on C" if "cubes_seen_on_c" in found else ""
    why = trial.fault or (f"{trial.stopped}: {trial.because}" if trial.stopped else "")
    steps = f"{outcome}  {trial.steps:>6} steps, ended by {trial.ended_by}"
    return steps + seen + (f"; {one_line(why, MOST_REASON)}" if why else "")
