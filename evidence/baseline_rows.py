"""A learned baseline as a row of a report, from its log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..baselines.log import (
    DONE,
    PAPER_STEPS,
    SEARCH_STEPS,
    EvaluationPoint,
    pace_of,
    read_record,
    recorded_settings,
    result_of,
)
from ..baselines.settings import METHOD
from ..core.values import JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """One training. `success`, `reached`, `mean_return` and `fitness` are means over `episodes` unseen episodes.

    `reached` is hindsight's success, `fitness` the reference evaluator's; None: not measured, or the task has none.
    `environments` were trained in at once; `cpu_hours_of` holds what more steps would take, as (steps, hours).
    `evaluations` are those during the training, `settings` and `versions` those of the log; `status` is one of
    `baselines.log`.
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
    status: str = DONE
    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    evaluations: tuple[EvaluationPoint, ...] = ()


def read_row(folder: Path) -> BaselineRow:
    """What a report says of a learned baseline. Raises StoreError."""
    record = read_record(folder)
    found, pace = result_of(record), pace_of(record.progress)
    settings = recorded_settings(record)
    return BaselineRow(
        name=record.name, task=settings.task, method=METHOD, reward=settings.reward, seed=settings.seed,
        done=record.result is not None, steps=found["steps"], cpu_hours=found["cpu_hours"], usd=found["cost_usd"],
        success=found["success_rate"], reached=found["goal_reached_rate"], mean_return=found["return_mean"],
        fitness=found["fitness"], episodes=len(found["per_episode"]), environments=settings.environments,
        cpu_hours_of=tuple(
            (steps, pace.hours(steps)[1]) for steps in (SEARCH_STEPS, PAPER_STEPS)
        ) if pace is not None else (),
        planned_steps=settings.steps, status=found["status"], settings=dict(record.settings),
        versions=dict(record.versions), evaluations=record.evaluations,
    )
