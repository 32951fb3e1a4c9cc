"""The runs of an experiment, their arguments, and a check that all of them can be run."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..core.errors import UsageError
from ..core.methods import candidates_expected
from ..core.provenance import UNKNOWN, Provenance
from ..core.seeds import UNSALTED, derive_seed, salted_seed
from ..core.values import JSON
from ..domains import load as load_domain
from ..settings import BRANCHES, OPTIONS, Settings, build_settings, fits
from ..settings.effects import MODELS, contacts, effects_of_domain, files_named, passes
from ..settings.presets import preset_named
from .experiment import (
    AS_SEARCHED,
    SHARED,
    Arm,
    Experiment,
    Measure,
    Task,
    check_experiment,
    is_learned,
    leader_of,
    load_experiment,
    parse_seeds,
    parts_of,
)

# Changes of an experiment: by the flags of a command, and by joining two parts of one experiment.


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
            changed, tasks=kept, arms=_only_names(changed.arms, "tasks", names),
            measures=_only_names(changed.measures, "tasks", names) or (Measure(name=AS_SEARCHED),),
        )
    if by_methods:
        arms = [_pick(changed.arms, name, lambda arm: arm.method) or (Arm(name=name, method=name),)
                for name in by_methods]
        chosen = tuple(arm for each in arms for arm in each)
        measures = _only_names(changed.measures, "arms", {arm.name for arm in chosen})
        changed = replace(changed, arms=chosen, measures=measures or (Measure(name=AS_SEARCHED),))
    for task in {task.domain for task in changed.tasks}:
        changed, settings = _with_options_of(changed, task, settings or {})
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


def _with_options_of(
    experiment: Experiment, domain: str, settings: Mapping[str, JSON]
) -> tuple[Experiment, dict[str, JSON]]:
    """The experiment with the options of this domain in its tasks of that domain, and the other settings."""
    own = {key.removeprefix(f"{domain}."): value for key, value in settings.items() if key.startswith(f"{domain}.")}
    tasks = tuple(
        replace(task, options={**task.options, **own}) if task.domain == domain else task for task in experiment.tasks
    )
    rest = {key: value for key, value in settings.items() if not key.startswith(f"{domain}.")}
    return replace(experiment, tasks=tasks), rest


def _pick(items: tuple[Any, ...], name: str, kind: Any) -> tuple[Any, ...]:
    return tuple(item for item in items if item.name == name) or tuple(item for item in items if kind(item) == name)


def _only_names(items: tuple[Any, ...], what: str, names: set[str]) -> tuple[Any, ...]:
    """The items that apply to one of these names, or to all; `what` is the field that lists names."""
    return tuple(
        replace(item, **{what: tuple(name for name in getattr(item, what) if name in names)})
        for item in items if not getattr(item, what) or names & {*getattr(item, what)}
    )


def union_of(old: Experiment, new: Experiment) -> Experiment:
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


GENERATED = ("evolve", "zero-shot")  # evaluators written by a model: a seed's runs must share one
_UNFIT = re.compile(r"[^A-Za-z0-9._]+")
_NAME_LIMIT = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The shared files of one seed's runs: p_0 and, if the evaluator is generated, E*."""

    initial: Path
    evaluator: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run. The leader of `beginning` settles p_0 and E*, the others start from them."""

    name: str
    task: Task
    arm: Arm
    model: str
    seed: int
    beginning: str
    leads: bool


def list_jobs(experiment: Experiment) -> tuple[Job, ...]:
    """All runs, seed by seed, each leader before its followers."""
    return tuple(
        Job(
            name=_name(task.name, arm.name, *_model_word(experiment, model), f"s{seed}"),
            task=task,
            arm=arm,
            model=arm.model or model,
            seed=seed,
            beginning=_name(task.name, *_model_word(experiment, model), *_own_word(arm), f"s{seed}"),
            leads=arm is leader or is_learned(arm) or not _needs_beginning(experiment, arm),
        )
        for seed in experiment.seeds
        for task in experiment.tasks
        for model in experiment.models
        for leader in [leader_of(experiment)]
        for arm in sorted(experiment.arms, key=lambda arm: arm is not leader)
        if (not arm.tasks or task.name in arm.tasks) and (not is_learned(arm) or model == experiment.models[0])
    )


def shared_runs(experiment: Experiment) -> dict[str, int]:
    """How many runs of this experiment also belong to each other part of the same whole, by the part's name."""
    if experiment.part_of is None:
        return {}
    own = {job.name for job in list_jobs(experiment)}
    parts = [replace(part, seeds=experiment.seeds, models=experiment.models) for part in parts_of(experiment.part_of)]
    names = {part.name: {job.name for job in list_jobs(part)} for part in parts}
    return {name: len(own & theirs) for name, theirs in names.items() if own & theirs and own != theirs}


def _needs_beginning(experiment: Experiment, arm: Arm) -> bool:
    return experiment.initial is None or (arm.evaluator == SHARED and experiment.evaluator in GENERATED)


def _model_word(experiment: Experiment, model: str) -> tuple[str, ...]:
    return (model,) if len(experiment.models) > 1 else ()


def _own_word(arm: Arm) -> tuple[str, ...]:
    """A training shares no p_0: if it fails, nothing waits for it in vain."""
    return (arm.name,) if is_learned(arm) else ()


def _name(*words: str) -> str:
    """A folder's name; if words are shortened or changed, a tag keeps names distinct."""
    plain = [_UNFIT.sub("-", word).strip("-.") or "x" for word in words]
    text = "--".join(plain)
    if plain == [*words] and len(text) <= _NAME_LIMIT:
        return text
    tag = f"{derive_seed(0, *words):016x}"[:6]
    return f"{'--'.join(plain[:-1])[: _NAME_LIMIT - 16]}--{tag}--{plain[-1]}"


# ------------------------------------------------------------------------------ the arguments of a run


def arguments_of(experiment: Experiment, job: Job, beginning: Beginning | None) -> tuple[dict[str, str], list[str]]:
    """The flags and the `--set` assignments of a job's `memento run`. `beginning` is None for a leader."""
    evaluator = _evaluator(experiment, job, beginning)
    flags = {
        "domain": job.task.domain,
        "preset": experiment.preset,
        "method": job.arm.method,
        "model": job.model,
        "seed": str(job.seed),
        "evaluator": evaluator,
    }
    initial = experiment.initial or (None if beginning is None else str(beginning.initial))
    if initial is not None:
        flags["initial"] = initial
    applied = {
        key: value for key, value in _common(experiment, job.arm).items() if fits(key, job.arm.method, evaluator)
    }
    options = {**job.task.options, **job.arm.options}
    settings = applied | dict(job.arm.settings) | {f"{OPTIONS}.{key}": value for key, value in options.items()}
    return flags, [f"{key}={text_of(key, value)}" for key, value in settings.items()]


def _evaluator(experiment: Experiment, job: Job, beginning: Beginning | None) -> str:
    if job.arm.evaluator != SHARED:
        return job.arm.evaluator
    if beginning is None or experiment.evaluator not in GENERATED:
        return experiment.evaluator
    return str(beginning.evaluator)


def _common(experiment: Experiment, arm: Arm) -> dict[str, JSON]:
    """The settings for all arms. A method with one kind of proposal gets as many as all branches together."""
    common = {"salt": UNSALTED, "k_tune": 0, **experiment.settings}    # the same candidates for every method
    slots = [common.get(key, preset_named(experiment.preset)[key]) for key in BRANCHES]
    changed = any(key in common for key in BRANCHES)
    if changed and "k" not in common and fits("k", arm.method, arm.evaluator):
        common["k"] = sum(slot for slot in slots if isinstance(slot, int))
    return common


def text_of(key: str, value: JSON) -> str:
    """A value in the syntax of `--set`: TOML, except for the names of models and files."""
    if isinstance(value, str) and "." not in key:
        return value
    return json.dumps(value)


def effects_of(experiment: Experiment) -> Iterator[str]:
    """What the runs and measures of a comparison would import, start, contact and read, as ends of a sentence."""
    for task in experiment.tasks:
        others = [*(arm.options for arm in experiment.arms), *(measure.options for measure in experiment.measures)]
        for options in ({}, *others):
            yield from effects_of_domain(task.domain, {**task.options, **options})
    settings = [experiment.settings, *(arm.settings for arm in experiment.arms)]
    named = [found for each in settings for key in MODELS if (found := each.get(key)) is not None]
    models = [str(text) for found in named for text in (found if isinstance(found, list) else [found])]
    own = [arm.model for arm in experiment.arms if arm.model is not None]
    yield from contacts([*experiment.models, *own, *models])
    for table in settings:
        yield from passes(table.get("env"))
    given: list[Mapping[str, object]] = [
        {"initial": experiment.initial, "evaluator": experiment.evaluator}, *settings,
        *({"evaluator": arm.evaluator} for arm in experiment.arms if arm.evaluator != SHARED),
    ]
    for each in given:
        yield from files_named(each)


def check(experiment: Experiment, provenance: Provenance = UNKNOWN) -> dict[str, Settings]:
    """The settings of each job that searches, by its name, as in its `memento run`.

    Raises UsageError for everything that `memento run` would refuse, and if the plan is not of trusted provenance and
    would import, start, contact or read something.
    """
    provenance.require(effects_of(experiment))
    found = {}
    unheeded = {*experiment.settings} - {"salt"}
    placeholder = Beginning(initial=Path("initial.py"), evaluator=Path("evaluator.py"))
    for job in _searches(experiment):
        flags, assignments = arguments_of(experiment, job, None if job.leads else placeholder)
        unheeded -= {assignment.partition("=")[0] for assignment in assignments}
        try:
            found[job.name] = build_settings(
                {**flags, "seed": job.seed}, assignments=assignments, environment={}, provenance=provenance
            )
        except UsageError as error:
            raise UsageError(f"{job.name}: {error}") from None
    for key in sorted(unheeded):
        raise UsageError(f"{key!r} has no effect in any arm of this comparison: leave it out")
    _check_measures(experiment, found, provenance)
    return found


def _searches(experiment: Experiment) -> list[Job]:
    return [job for job in list_jobs(experiment) if not is_learned(job.arm)]


def _check_measures(experiment: Experiment, settings: Mapping[str, Settings], provenance: Provenance) -> None:
    for job in _searches(experiment):
        for measure in experiment.measures_of(job.task.name, job.arm.name):
            options = measured_options(settings[job.name].options, measure)
            try:
                load_domain(job.task.domain, provenance).options(options, preset="paper")
            except UsageError as error:
                raise UsageError(f"measure {measure.name!r} of {job.name}: {error}") from None


def candidates_of(settings: Settings) -> int:
    """The budget of a run: candidates that its search evaluates."""
    return candidates_expected(settings.as_json())


# ------------------------------------------------------------------------------ measures


def measured_options(searched: Mapping[str, JSON], measure: Measure) -> dict[str, JSON]:
    """The options of a final measure: those of the search, overridden by the measure's own."""
    return {key: value for key, value in {**searched, **measure.options}.items() if value is not None}


def measure_seed(job: Job, measure: Measure) -> int:
    """The first seed of a measure's episodes; the same for all arms, so that their episodes are the same."""
    return derive_seed(job.seed, "unseen", job.task.name, measure.name) >> 2


def measured_seeds(experiment: Experiment, job: Job, measure: Measure) -> set[int]:
    """The seeds of a measure's episodes as the environment gets them."""
    first, salt = measure_seed(job, measure), salt_of(experiment)
    return {salted_seed(first + index, salt) for index in range(measure.episodes)}


def salt_of(experiment: Experiment) -> str:
    """The salt of all runs and measures."""
    return str(experiment.settings.get("salt", UNSALTED))


def measure_arguments(
    experiment: Experiment, job: Job, measure: Measure, policy: Path, searched: Mapping[str, JSON]
) -> list[str]:
    """The arguments of `memento evaluate` for one elite."""
    options = measured_options(searched, measure)
    return [
        "evaluate", str(policy), "--domain", job.task.domain, "--episodes", str(measure.episodes),
        "--seed", str(measure_seed(job, measure)), "--salt", salt_of(experiment), "--json",
        *(word for key, value in options.items() for word in ("--set", f"{OPTIONS}.{key}={json.dumps(value)}")),
    ]


def run_arguments(experiment: Experiment, job: Job, beginning: Beginning | None, *, runs: Path) -> list[str]:
    """The arguments of `memento run` for a job."""
    flags, assignments = arguments_of(experiment, job, beginning)
    domain = flags.pop("domain")
    return [
        "run", domain, "--runs", str(runs), "--name", job.name, "--display", "none", "--json",
        *_flags(flags), *(word for assignment in assignments for word in ("--set", assignment)),
    ]


def resume_arguments(experiment: Experiment, job: Job, run: Path, *, trust: bool = False) -> list[str]:
    """The arguments of `memento resume` for a job, with the plan's budgets, which may have grown."""
    budgets = {key: value for key, value in experiment.settings.items() if _is_budget(key)}
    plain = {key: str(value) for key, value in budgets.items() if "." not in key}
    evaluator = _evaluator(experiment, job, None)
    own = [f"{key}={text_of(key, value)}" for key, value in budgets.items()
           if "." in key and fits(key, job.arm.method, evaluator if job.leads else "reference")]
    words = (word for assignment in own for word in ("--set", assignment))
    return ["resume", str(run), "--display", "none", "--json", *(["--trust"] if trust else []), *_flags(plain), *words]


def _is_budget(key: str) -> bool:
    """Whether a setting limits what a run spends; the budget of episodes shapes the search itself."""
    return key.startswith(("budget_", "budget.")) and key != "budget_episodes"


def _flags(flags: Mapping[str, str]) -> Iterator[str]:
    for key, value in flags.items():
        yield from (f"--{key.replace('_', '-')}", value)


# ------------------------------------------------------------------------------ a comparison that grows


def merge(old: Experiment, new: Experiment) -> Experiment:
    """The experiment with which an existing comparison continues: `new`, which may have more of everything.

    Parts of one experiment are joined. Raises UsageError if `new` has less, or changes settings of runs of `old`;
    budgets may change.
    """
    if replace(new, name=old.name, title=old.title) == replace(old, title=old.title):
        return old
    if old.part_of is not None and old.part_of == new.part_of:
        new = union_of(old, new)
    for what in ("preset", "evaluator", "initial", "settings"):
        before, after = _without_budget(getattr(old, what)), _without_budget(getattr(new, what))
        if before != after:
            raise UsageError(
                f"the comparison {old.name!r} was begun with {what} = {before!r}, not {after!r}: choose another --name"
            )
    for what in ("tasks", "arms", "models", "seeds", "measures"):
        before, after = getattr(old, what), getattr(new, what)
        missing = [each for each in before if each not in after]
        if missing:
            first = missing[0]
            raise UsageError(
                f"the comparison {old.name!r} already has {what[:-1]} {getattr(first, 'name', first)!r}, which is "
                "now missing or changed: name it as well, as it was, or choose another --name"
            )
    if leader_of(old) != leader_of(new):
        raise UsageError(f"the comparison {old.name!r} has {leader_of(old).name!r} as its leader: put it first")
    if len(old.models) == 1 and len(new.models) > 1:
        raise UsageError(f"the comparison {old.name!r} was begun with one model: choose another --name")
    return replace(new, name=old.name)


def _without_budget(given: object) -> object:
    """Settings without their budgets, which change no result; other values unchanged."""
    return {key: value for key, value in given.items() if not _is_budget(key)} if isinstance(given, Mapping) else given
