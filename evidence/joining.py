"""Archives of one comparison as one: its seeds may be run in parts, on other machines or at other times."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Final

from ..core.errors import UsageError
from ..core.values import JSON
from .experiment import Experiment
from .loading import Evidence

_SALT: Final = "salt"
_OWN: Final = ("name", "seeds")     # what two parts may have different


def join(parts: Sequence[tuple[str, Evidence]]) -> Evidence:
    """The evidence of all parts, each given with its name, as that of one comparison with the seeds of all.

    The parts must have the same plan but for their seeds, and no seed in common. Their salts may differ: methods are
    compared within a seed. Raises UsageError.
    """
    (first, evidence), *others = parts
    if not others:
        return evidence
    whole = _plan_of(first, evidence)
    owners = dict.fromkeys(whole.seeds, first)
    for name, part in others:
        plan = _plan_of(name, part)
        _check_same(first, whole, name, plan)
        for seed in plan.seeds:
            if seed in owners:
                raise UsageError(f"seed {seed} is in both {owners[seed]} and {name}: name parts with different seeds")
            owners[seed] = name
        whole = replace(whole, settings=_common_settings(whole, plan))
    experiment = replace(whole, seeds=tuple(sorted(owners)))
    return _together([part for _, part in parts], experiment)


def _plan_of(name: str, evidence: Evidence) -> Experiment:
    if evidence.experiment is None:
        raise UsageError(f"{name} holds single runs: only archives of one comparison can be joined")
    return evidence.experiment


def _check_same(first: str, one: Experiment, second: str, other: Experiment) -> None:
    """Raise UsageError, naming the first difference, unless two plans differ in their seeds and salts only."""
    for field in fields(Experiment):
        if field.name in _OWN:
            continue
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if field.name == "settings":
            mine, theirs = _unsalted(one), _unsalted(other)
        if mine != theirs:
            raise UsageError(
                f"{first} and {second} are not parts of one comparison: they differ in {field.name}; report each alone"
            )


def _unsalted(experiment: Experiment) -> dict[str, JSON]:
    return {key: value for key, value in experiment.settings.items() if key != _SALT}


def _common_settings(one: Experiment, other: Experiment) -> dict[str, JSON]:
    """The settings, without a salt that is not that of both."""
    return {key: value for key, value in one.settings.items() if other.settings.get(key) == value}


def _together(parts: Sequence[Evidence], experiment: Experiment) -> Evidence:
    """The runs and measures of all parts, seed by seed, as a comparison has them."""
    records = [record for part in parts for record in part.records]
    return Evidence(
        title=parts[0].title,
        records=tuple(sorted(records, key=lambda record: record.seed)),
        measured={key: found for part in parts for key, found in part.measured.items()},
        missing={name: why for part in parts for name, why in part.missing.items()},
        experiment=experiment,
        baselines=tuple(row for part in parts for row in part.baselines),
    )
