"""Changes of an experiment: by the flags of a command, and by joining two parts of one experiment."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..core.values import JSON
from .experiment import (
    AS_SEARCHED,
    Arm,
    Experiment,
    Measure,
    Task,
    check_experiment,
    load_experiment,
    parse_seeds,
)


def with_flags(
    experiment: Experiment | None,
    *,
    domains: Iterable[str] = (),
    methods: Iterable[str] = (),
    models: Iterable[str] = (),
    seeds: str | None = None,
    preset: str | None = None,
    evaluator: str | None = None,
    initial: str | None = None,
    settings: Mapping[str, JSON] | None = None,
    episodes: int | None = None,
) -> Experiment:
    """The experiment with the changes of the flags; without one, an experiment from the flags alone. Raises UsageError.

    `domains` and `methods` select tasks and arms of the experiment, by name or else by domain or method. One that
    matches nothing becomes a new task or arm.
    """
    changed = experiment or Experiment(name="comparison", preset="quick", tasks=(), arms=(), measures=(
        Measure(name=AS_SEARCHED),))
    in_domains, by_methods = tuple(domains), tuple(methods)
    if in_domains:
        tasks = [_pick(changed.tasks, name, lambda task: task.domain) or (Task(name=name, domain=name),)
                 for name in in_domains]
        kept = tuple(task for each in tasks for task in each)
        names = {task.name for task in kept}
        changed = replace(
            changed, tasks=kept, arms=_limited(changed.arms, "tasks", names),
            measures=_limited(changed.measures, "tasks", names) or (Measure(name=AS_SEARCHED),),
        )
    if by_methods:
        arms = [_pick(changed.arms, name, lambda arm: arm.method) or (Arm(name=name, method=name),)
                for name in by_methods]
        chosen = tuple(arm for each in arms for arm in each)
        measures = _limited(changed.measures, "arms", {arm.name for arm in chosen})
        changed = replace(changed, arms=chosen, measures=measures or (Measure(name=AS_SEARCHED),))
    changed = replace(
        changed,
        models=tuple(models) or changed.models,
        seeds=changed.seeds if seeds is None else parse_seeds(seeds, "--seeds"),
        preset=preset or changed.preset,
        evaluator=evaluator or changed.evaluator,
        initial=initial or changed.initial,
        settings={**changed.settings, **(settings or {})},
    )
    if episodes is not None:
        changed = replace(changed, measures=tuple(
            replace(measure, episodes=episodes + measure.skip) for measure in changed.measures))
    check_experiment(changed, "the comparison" if experiment is None else f"the experiment {experiment.name}")
    return changed


def _pick(items: tuple[Any, ...], name: str, kind: Any) -> tuple[Any, ...]:
    return tuple(item for item in items if item.name == name) or tuple(item for item in items if kind(item) == name)


def _limited(items: tuple[Any, ...], what: str, names: set[str]) -> tuple[Any, ...]:
    """The items that apply to one of these names, or to all; `what` is the field that lists names."""
    return tuple(
        replace(item, **{what: tuple(name for name in getattr(item, what) if name in names)})
        for item in items if not getattr(item, what) or names & {*getattr(item, what)}
    )


def joined(old: Experiment, new: Experiment) -> Experiment:
    """Two parts of one experiment as one larger part, in the order of the whole."""
    whole = load_experiment(str(new.part_of))

    def both(what: str) -> tuple[Any, ...]:
        items = {item.name: item for part in (old, new) for item in getattr(part, what)}
        places = [item.name for item in getattr(whole, what)]
        return tuple(sorted(items.values(), key=lambda item: places.index(item.name) if item.name in places else 99))

    seeds = tuple(dict.fromkeys((*old.seeds, *new.seeds)))
    return replace(
        new, title=whole.title, tasks=both("tasks"), arms=both("arms"), measures=both("measures"), seeds=seeds
    )
