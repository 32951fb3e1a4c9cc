"""A learned baseline as a row of a report."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """One training. `success`, `reached`, `mean_return` and `fitness` are means over `episodes` unseen episodes.

    `reached` is hindsight's success, `fitness` the reference evaluator's; None: not measured, or the task has none.
    `environments` were trained in at once; `cpu_hours_of` holds what more steps would take, as (steps, hours).
    """

    name: str
    task: str
    method: str
    reward: str
    seed: int
    done: bool
    steps: int
    cpu_hours: float
    usd: float
    success: float | None
    reached: float | None
    mean_return: float | None
    fitness: float | None
    episodes: int
    environments: int = 1
    cpu_hours_of: tuple[tuple[int, float], ...] = ()
