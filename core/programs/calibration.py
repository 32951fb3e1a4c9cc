"""The constants that a calibration may change, κ of the paper, and which of two results is the better one. Pure."""

from collections.abc import Mapping
from dataclasses import replace

from ..errors import UsageError
from ..metrics import finite
from ..values import JSON, CandidateState, Program
from .constants import Constant, constants_of

PROGRESS = "progress"
"""The metric that ranks trials without a success: how much of the task was done at best, where an evaluator says so."""

Bounds = Mapping[str, tuple[float, float]]
"""The least and the largest value of constants, by name; none: those whose range the program itself names."""


def constants_to_calibrate(program: Program, bounds: Bounds) -> tuple[Constant, ...]:
    """κ: the constants of a program that are calibrated, within these bounds, in the order of its text.

    Raises UsageError for a name that the program does not give to a number, and where there is nothing to calibrate.
    """
    known = constants_of(program)
    if not bounds:
        found = tuple(each for each in known if each.named)
        if not found:
            raise UsageError(
                "there is nothing to calibrate: name the policy's constants with their bounds in the cell's file, "
                "[calibration.bounds], or write `# tune: LOW..HIGH` next to them in the policy"
            )
        return found
    names = {each.name for each in known}
    for name in bounds:
        if name not in names:
            raise UsageError(
                f"the policy has no constant {name!r} to calibrate; it has {', '.join(sorted(names)) or 'none'}"
            )
    return tuple(
        replace(each, low=bounds[each.name][0], high=bounds[each.name][1], geometric=False)
        for each in known if each.name in bounds
    )


def worth(candidate: CandidateState) -> tuple[float, float, float]:
    """What ranks calibrations, larger is better: the fitness (E_R has none), successes, then progress.

    A candidate that failed as a whole ranks below all others.
    """
    if candidate.fault is not None:
        return (-1.0, 0.0, 0.0)
    return (candidate.fitness, candidate.success_rate or 0.0, progress_of(candidate.metrics) or 0.0)


def progress_of(metrics: Mapping[str, JSON]) -> float | None:
    """The mean progress in aggregated metrics; None if no episode has it."""
    entry = metrics.get(PROGRESS)
    return finite(entry.get("mean")) if isinstance(entry, Mapping) else None
