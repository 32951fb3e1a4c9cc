"""A run as series of numbers over candidates and over generations, for trackers of experiments. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ...core.events import CandidateScored, EliteChanged, FinalMeasured, RobustMeasured, RunStarted
from ...core.values import JSON
from ...memory.run_status import RunStatus
from ...memory.store import Entry
from .plain_values import shown_settings

Axis = Literal["candidate", "generation"]
SERIES: Final[Mapping[str, Axis]] = {
    "candidate": "candidate", "cost": "candidate", "elite": "generation", "final": "generation",
}
"""The groups of series, which their names begin with, and what each goes along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """The values of some series at one step.

    `seq` and `at` are those of the fact that it comes from: a run gives each `seq` one point at most, and the same
    point every time. `step` counts the candidates from 1, or is the number of the generation, 0 for p_0.
    """

    seq: int
    at: float
    axis: Axis
    step: int
    values: Mapping[str, float]


class Series:
    """Grows fact by fact. `status` is the run so far."""

    def __init__(self) -> None:
        self.status = RunStatus()
        self.settings: Mapping[str, JSON] = {}      # under flat names, without secrets

    def apply(self, entry: Entry) -> SeriesPoint | None:
        """Add the next fact; the point that it gives, if any."""
        self.status.apply(entry.fact, entry.at)
        values: dict[str, float | None]
        axis: Axis = "generation"
        match entry.fact:
            case RunStarted(settings=settings):
                self.settings = shown_settings(settings)
                return None
            case CandidateScored():
                axis, values = "candidate", {**_candidate(entry.fact), **self._cost()}
            case EliteChanged() as elite:
                values = {
                    "elite/fitness": elite.fitness, "elite/success": elite.success_rate,
                    "elite/return": elite.mean_return, "elite/changed": float(elite.changed),
                    "elite/evaluator_version": float(elite.version),
                }
            case FinalMeasured() as final:
                of = f"final/{final.conditions}" if isinstance(final, RobustMeasured) else "final"
                values = {
                    f"{of}/initial_fitness": final.initial_fitness, f"{of}/initial_success": final.initial_success,
                    f"{of}/initial_return": final.initial_return, f"{of}/elite_fitness": final.elite_fitness,
                    f"{of}/elite_success": final.elite_success, f"{of}/elite_return": final.elite_return,
                }
            case _:
                return None
        known = {name: float(value) for name, value in values.items() if value is not None}
        step = self.status.candidates if axis == "candidate" else self.status.generation
        return SeriesPoint(seq=entry.seq, at=entry.at, axis=axis, step=step, values=known)

    def _cost(self) -> dict[str, float | None]:
        """What the run has spent so far."""
        run, spent = self.status, self.status.spending.total
        return {
            "cost/episodes": run.search_episodes, "cost/calls": spent.calls, "cost/input_tokens": spent.input_tokens,
            "cost/output_tokens": spent.output_tokens, "cost/usd": spent.cost_usd, "cost/active_s": run.active_s,
        }


def _candidate(fact: CandidateScored) -> dict[str, float | None]:
    """Its results; none but its failure where it failed or was pruned."""
    candidate = fact.candidate
    failed = {"candidate/failed": float(candidate.fault is not None)}
    if candidate.fault is not None or candidate.bound is not None:
        return {**failed}
    return {
        **failed, "candidate/fitness": candidate.fitness, "candidate/success": candidate.success_rate,
        "candidate/return": candidate.mean_return,
    }
