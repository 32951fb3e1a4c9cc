"""The result of a baseline's run, from its log. Imports no simulator."""

from collections.abc import Mapping
from dataclasses import asdict
from math import fsum
from pathlib import Path
from typing import Any, Final

from ...core.errors import StoreError
from ...evidence.baseline_rows import BaselineRow
from .log import BaselineRecord, read_record
from .pace import PAPER_STEPS, SEARCH_STEPS, pace_of
from .settings import METHOD, BaselineSettings, settings_of

DONE: Final = "done"
STOPPED: Final = "stopped"                          # before the last step of the training
UNMEASURED: Final = "trained but not measured"      # stopped during the final measure, or before it


def status_of(record: BaselineRecord) -> str:
    """How far a run is: DONE, UNMEASURED or STOPPED. Only one that is DONE has a measure."""
    if record.result is not None:
        return DONE
    return UNMEASURED if record.checkpoint >= int(record.settings["steps"]) else STOPPED


def result_of(record: BaselineRecord) -> dict[str, Any]:
    """The result as JSON values, for scripts. Raises StoreError for settings of another version."""
    settings, pace = recorded_settings(record), pace_of(record.progress)
    last = record.progress[-1] if record.progress else None
    measured: Mapping[str, Any] = record.result or {}
    return {
        "run": record.name, "method": METHOD, "domain": settings.domain, "task": settings.task,
        "variant": settings.options.get("variant"), "randomisation": settings.options.get("randomisation"),
        "reward": settings.reward, "seed": settings.seed, "environments": settings.environments,
        "status": status_of(record),
        "steps": last.steps if last else 0, "planned_steps": settings.steps,
        "cpu_hours": round(((last.cpu_s if last else 0.0) + fsum(each.cpu_s for each in record.evaluations)) / 3600, 4),
        "hours": round(((last.wall_s if last else 0.0) + fsum(each.wall_s for each in record.evaluations)) / 3600, 4),
        "cost_usd": 0.0,
        "steps_per_s": round(1 / pace.wall_s, 2) if pace and pace.wall_s > 0 else None,
        "cpu_hours_of_more_steps": {
            str(steps): round(pace.hours(steps)[1], 1) for steps in (SEARCH_STEPS, PAPER_STEPS)
        } if pace else None,
        "success_rate": measured.get("success_rate"), "goal_reached_rate": measured.get("reached_rate"),
        "return_mean": measured.get("return_mean"), "fitness": measured.get("fitness"),
        "measure_seed": settings.measure_seed, "salt": settings.salt, "resumed": record.resumed,
        "planned_episodes": settings.episodes, "per_episode": measured.get("episodes", []),
        "evaluate_every": settings.evaluate_every, "evaluations": [asdict(each) for each in record.evaluations],
    }


def recorded_settings(record: BaselineRecord) -> BaselineSettings:
    """The settings of a run. Raises StoreError for those of another version."""
    try:
        return settings_of(record.settings)
    except (TypeError, KeyError, ValueError) as error:
        raise StoreError(f"the run {record.name} has settings of another version of MEMENTO") from error


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
