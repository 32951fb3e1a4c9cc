"""What past runs tell of a new one: the calls, tokens and dollars of the same models, and the time of the same task."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import StoreError, UsageError
from ..core.methods import candidates_expected
from ..memory.runs import DATABASE, list_runs
from ..memory.spending import RoleSpending
from ..memory.tail import read_outline, read_view
from ..models.spec import parse_specs
from ..settings import Settings, recorded_settings
from .budgets import models_of
from .estimated_calls import least_calls

MOST_PAST = 20      # runs that are read, the newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTime:
    """How long a finished run worked, in seconds without pauses, and how many candidates it had at most."""

    active_s: float
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a run uses if its calls are like those of past runs with the same models. `same_task`: all were of its task.

    `cost_usd` is None if the price of a past call is unknown.
    """

    runs: int
    same_task: bool
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """The settings of a past run, what its roles used, and whether it came to its end."""

    settings: Settings
    by_role: Mapping[str, RoleSpending]
    done: bool
    active_s: float = 0.0


def past_runs(past_in: Sequence[Path], settings: Settings) -> list[PastRun]:
    """The newest runs in the folders that asked the same models; if there are some, only those of the same task."""
    found: list[PastRun] = []
    listed = {folder for runs_dir in past_in for folder in list_runs(runs_dir)}
    folders = sorted(listed, key=lambda folder: (folder / DATABASE).stat().st_mtime, reverse=True)
    for folder in folders:
        with suppress(StoreError, UsageError):      # what cannot be read teaches nothing
            past = recorded_settings(read_outline(folder).status.settings)
            if past.replay is not None or not _asks_alike(past, settings):
                continue
            status = read_view(folder).status
            found.append(PastRun(
                settings=past, by_role=status.spending.by_role, done=status.status == "done", active_s=status.active_s
            ))
        if len(found) == MOST_PAST:
            break
    same = [run for run in found if run.settings.domain == settings.domain]
    return same or found


def _asks_alike(past: Settings, settings: Settings) -> bool:
    theirs, ours = models_of(past), models_of(settings)
    return all(theirs.get(role) == names for role, names in ours.items())


def expected_from(past: Sequence[PastRun], settings: Settings) -> Expected | None:
    """The expectation from past runs; None where a role of this run used nothing that is known."""
    calls = tokens_in = tokens_out = 0.0
    usd: float | None = 0.0
    named = models_of(settings)
    for role, slots in least_calls(settings).items():
        if all(spec.free for name in named[role] for spec in parse_specs(name)):
            continue
        used = [run.by_role[role] for run in past if role in run.by_role]
        asked = sum(each.calls for each in used)
        if not asked or not sum(each.tokens for each in used):
            return None
        whole = [run for run in past if run.done and least_calls(run.settings).get(role)]
        made = sum(run.by_role[role].calls for run in whole if role in run.by_role)
        share = made / sum(least_calls(run.settings)[role] for run in whole) if made else 1.0
        calls += slots * share
        tokens_in += slots * share * sum(each.input_tokens for each in used) / asked
        tokens_out += slots * share * sum(each.output_tokens for each in used) / asked
        costs = [each.cost_usd for each in used]
        usd = None if usd is None or None in costs else usd + slots * share * sum(filter(None, costs)) / asked
    if not calls:
        return None
    return Expected(
        runs=len(past), same_task=all(run.settings.domain == settings.domain for run in past), calls=round(calls),
        input_tokens=round(tokens_in), output_tokens=round(tokens_out), cost_usd=usd,
    )


def times_from(past: Sequence[PastRun], settings: Settings) -> tuple[PastTime, ...]:
    """How long the finished runs of the same task worked."""
    return tuple(
        PastTime(active_s=run.active_s, candidates=candidates_expected(run.settings.as_json()))
        for run in past if run.done and run.settings.domain == settings.domain
    )
