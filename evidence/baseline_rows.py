"""A learned baseline as a row of a report."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.values import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPoint:
    """What the agent does after `steps` of its training: means over `episodes`, the same ones at every point.

    It does not explore. The task is that of the training. `success` is None if the task has no predicate. `wall_s` and
    `cpu_s` are what the evaluation took; the times of the training do not hold them.
    """

    steps: int
    episodes: int
    mean_return: float
    success: float | None
    reached: float
    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """One training. `success`, `reached`, `mean_return` and `fitness` are means over `episodes` unseen episodes.

    `reached` is hindsight's success, `fitness` the reference evaluator's; None: not measured, or the task has none.
    `environments` were trained in at once; `cpu_hours_of` holds what more steps would take, as (steps, hours).
    `evaluations` are those during the training, `settings` and `versions` those of the log; `status` is "done",
    or what the training still lacks.
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
    planned_steps: int = 0
    status: str = "done"
    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    evaluations: tuple[EvaluationPoint, ...] = ()
