"""Archives of one comparison as one: its tasks and seeds may be run in parts, on other machines or at other times."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Final

from ..core.errors import UsageError
from ..core.values import JSON
from .experiment import Arm, Experiment, Measure, Task
from .loading import Evidence
from .plan import list_jobs

_SALT: Final = "salt"
_OWN: Final = ("name", "seeds")             # what two parts may have different
_LISTED: Final = ("tasks", "arms", "measures")      # of which a part may have some; those of one name must be the same
IN_NO_PART: Final = "in none of the parts"


def join(parts: Sequence[tuple[str, Evidence]]) -> Evidence:
    """The evidence of all parts, each given with its name, as that of one comparison with all tasks and seeds.

    The parts must have the same plan but for their seeds, and for the tasks, arms and measures that they leave out; no
    task with a seed may be in two of them. Their salts may differ: methods are compared within a task and a seed. A
    run that the whole would have and no part planned is missing. Raises UsageError.
    """
    (first, evidence), *others = parts
    if not others:
        return evidence
    plans = {name: _plan_of(name, part) for name, part in parts}
    owners: dict[tuple[str, int], str] = {}
    for name, plan in plans.items():
        _check_same(first, plans[first], name, plan)
        for cell in ((task.name, seed) for task in plan.tasks for seed in plan.seeds):
            if cell in owners:
                raise UsageError(
                    f"{cell[0]} with seed {cell[1]} is in both {owners[cell]} and {name}: name parts with different"
                    " seeds or tasks"
                )
            owners[cell] = name
    _require_same_simulators(parts)
    return _together([part for _, part in parts], _whole(tuple(plans.values())))


def _require_same_simulators(parts: Sequence[tuple[str, Evidence]]) -> None:
    """Raise UsageError where two parts measured a task with two versions of what simulates it."""
    known: dict[tuple[str, str], tuple[str, str]] = {}     # the part and the version, by task and package
    for name, part in parts:
        for record in part.records:
            for package, version in record.simulator.items():
                first, other = known.setdefault((record.task, package), (name, version))
                if version != other:
                    raise UsageError(
                        f"{record.task} has two simulators: {package} was {other} in {first} and {version} in {name}; "
                        "repeat one part with the other's version, or report each alone"
                    )


def _plan_of(name: str, evidence: Evidence) -> Experiment:
    if evidence.experiment is None:
        raise UsageError(f"{name} holds single runs: only archives of one comparison can be joined")
    return evidence.experiment


def _check_same(first: str, one: Experiment, second: str, other: Experiment) -> None:
    """Raise UsageError, naming the first difference, unless two plans may be parts of one."""
    for each in fields(Experiment):
        if each.name in _OWN:
            continue
        mine, theirs = getattr(one, each.name), getattr(other, each.name)
        if each.name == "settings":
            mine, theirs = _without_salt(one), _without_salt(other)
        if each.name in _LISTED:
            known = {item.name: _anywhere(item) for item in mine}
            differing = [item.name for item in theirs if known.get(item.name, _anywhere(item)) != _anywhere(item)]
        else:
            differing = [] if mine == theirs else [""]
        if differing:
            raise UsageError(
                f"{first} and {second} are not parts of one comparison: they differ in {each.name}"
                f"{differing[0] and f' ({differing[0]})'}; report each alone"
            )


def _anywhere(item: Task | Arm | Measure) -> Task | Arm | Measure:
    """The item without the names of the tasks and arms that have it."""
    if isinstance(item, Task):
        return item
    return replace(item, tasks=(), arms=()) if isinstance(item, Measure) else replace(item, tasks=())


def _without_salt(experiment: Experiment) -> dict[str, JSON]:
    return {key: value for key, value in experiment.settings.items() if key != _SALT}


def _whole(plans: Sequence[Experiment]) -> Experiment:
    """The plan of which these are parts: their tasks, arms and measures in the order given, all seeds."""
    first = plans[0]
    tasks = tuple({task.name: task for plan in plans for task in plan.tasks}.values())
    return replace(
        first,
        tasks=tasks,
        arms=tuple(
            replace(arm, tasks=_having(plans, arm.name, "arms", "tasks"))
            for arm in {arm.name: arm for plan in plans for arm in plan.arms}.values()
        ),
        measures=tuple(
            replace(one, tasks=_having(plans, one.name, "measures", "tasks"),
                    arms=_having(plans, one.name, "measures", "arms"))
            for one in {one.name: one for plan in plans for one in plan.measures}.values()
        ),
        seeds=tuple(sorted({seed for plan in plans for seed in plan.seeds})),
        settings={key: value for key, value in first.settings.items()
                  if all(plan.settings.get(key) == value for plan in plans)},      # without a salt that some lack
    )


def _having(plans: Sequence[Experiment], name: str, kind: str, what: str) -> tuple[str, ...]:
    """The names of the tasks or arms (`what`) that have an arm or a measure (`kind`) in the whole; () for all."""
    found: list[str] = []
    everywhere = True
    for plan in plans:
        known = [each.name for each in getattr(plan, what)]
        item = next((each for each in getattr(plan, kind) if each.name == name), None)
        limited = () if item is None else getattr(item, what)
        found += () if item is None else limited or known
        everywhere = everywhere and item is not None and not limited
    return () if everywhere else tuple(dict.fromkeys(found))


def _together(parts: Sequence[Evidence], experiment: Experiment) -> Evidence:
    """The runs and measures of all parts, seed by seed and task by task, as a comparison has them."""
    places = {task.name: place for place, task in enumerate(experiment.tasks)}
    records = sorted(
        (record for part in parts for record in part.records),
        key=lambda record: (record.seed, places.get(record.task, len(places))),
    )
    planned = {job.name for part in parts if part.experiment is not None for job in list_jobs(part.experiment)}
    absent = {job.name: IN_NO_PART for job in list_jobs(experiment) if job.name not in planned}
    return Evidence(
        title=parts[0].title,
        records=tuple(records),
        measured={key: found for part in parts for key, found in part.measured.items()},
        missing=absent | {name: why for part in parts for name, why in part.missing.items()},
        experiment=experiment,
        baselines=tuple(row for part in parts for row in part.baselines),
    )
