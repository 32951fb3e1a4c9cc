"""The rows of a what-if's result: draws, states, arms and their differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..core.intervals import Interval
from ..core.values import JSON

MEASURES: Final = ("improvement", "gain", "better", "failed", "known", "tokens")
"""What arms are compared by: means over draws; `better`, `failed` and `known` are shares of draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawRow:
    """One draw, or the recorded proposal. `fitness` and `gain` are None for a failure, or where racing ended it.

    The interval is the t interval of the mean difference of f_e to the parent, paired by episodes. `same_as` names the
    parent, an earlier candidate or an earlier draw with the same code; `rejected`: the climb had rejected that one.
    """

    name: str
    summary: str
    fitness: float | None
    gain: float | None
    gain_interval: Interval | None
    success_rate: float | None
    mean_return: float | None
    failure: str | None
    same_as: str | None
    rejected: bool
    calls: int
    tokens: int
    per_episode: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmRow:
    """The draws of one state under one arm. `recorded_difference` is the mean of f_e over the draws minus that of the
    recorded proposal, paired by episodes; None where one of them has no F. `same_prompt`: it is the recorded one."""

    arm: str
    model: str
    changed: Mapping[str, JSON]
    status: str                         # "done", "budget" or "stopped"
    draws: int
    failures: int
    known: int                          # draws with the code of the parent, or of an earlier candidate or draw
    rejected: int                       # of these, draws with the code of a rejected candidate
    better: int                         # draws with a gain above 0
    fitness: float | None               # mean over the draws that have one
    gain: float | None
    gain_interval: Interval | None
    best_gain: float | None
    improvement: float | None
    improvement_interval: Interval | None
    recorded_difference: float | None
    recorded_interval: Interval | None
    same_prompt: bool | None
    calls: int
    tokens: int
    cost_usd: float | None
    rows: tuple[DrawRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRow:
    """A recorded state: the fittest parent, what was recorded, and the arms."""

    run: str                            # the run's folder
    candidate: str
    operator: str
    parent: str
    parent_fitness: float
    episodes: int
    recorded: DrawRow
    arms: tuple[ArmRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmDifference:
    """An arm minus the first arm in one measure, with a 95 % interval.

    Over two or more states it is the mean of the differences of their means, with its t interval and the p-value of the
    sign-flip test; on one state the difference of the means of the draws, with Welch's interval.
    """

    arm: str
    against: str
    measure: str                        # of MEASURES
    states: int
    difference: float
    interval: Interval | None
    p_value: float | None
