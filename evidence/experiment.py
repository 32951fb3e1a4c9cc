"""An experiment: tasks × models × arms × seeds and the final measures, from a TOML file or from flags."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..core.errors import UsageError, no_such
from ..core.methods import CALIBRATE
from ..core.values import JSON
from ..domains import DOMAINS, PREFIXES
from .trainings import is_training

SHARED = "shared"  # an arm's evaluator: that of its seed's leader
AS_SEARCHED = "as searched"
DEFAULT_EPISODES = 10
_SHIPPED = files(__package__) / "experiments"
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")
MOST_SEEDS = 1000
PART_OF, LISTS = "part_of", ("tasks", "arms", "measures")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A domain with its options; `options` override the preset's."""

    name: str
    domain: str
    options: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """A method with its settings and options. `evaluator` is "shared" or a value of `memento run --evaluator`.

    `tasks` names the tasks that have it, empty for all. Those of a learned baseline are its flags. With a `model` the
    arms are models, which start from the same p_0 under the same evaluator; else every model of the experiment has it.
    """

    name: str
    method: str
    evaluator: str = SHARED
    tasks: tuple[str, ...] = ()
    settings: Mapping[str, JSON] = field(default_factory=dict)
    options: Mapping[str, JSON] = field(default_factory=dict)
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A final measure of every elite on held-out seeds. `options` override the run's options.

    `tasks` and `arms` name those that have it, empty for all. The first `skip` episodes are rolled out but not
    counted: in a kitchen they have the initial states of the search's own first episodes.
    """

    name: str
    episodes: int = DEFAULT_EPISODES
    skip: int = 0
    tasks: tuple[str, ...] = ()
    arms: tuple[str, ...] = ()
    options: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The definition of a comparison. `evaluator` is the evaluator of each seed's leader: evolve, zero-shot, …

    `part_of` names the experiment whose runs this one takes some of; parts of one experiment share a comparison.
    """

    name: str
    title: str = ""
    preset: str = "paper"
    evaluator: str = "evolve"
    initial: str | None = None
    tasks: tuple[Task, ...]
    arms: tuple[Arm, ...]
    models: tuple[str, ...] = ("offline",)
    seeds: tuple[int, ...] = (1, 2, 3)
    settings: Mapping[str, JSON] = field(default_factory=dict)
    measures: tuple[Measure, ...] = (Measure(name=AS_SEARCHED),)
    part_of: str | None = None

    def measures_of(self, task: str, arm: str) -> tuple[Measure, ...]:
        """The final measures of the elites of this task and arm."""
        return tuple(
            measure for measure in self.measures
            if (not measure.tasks or task in measure.tasks) and (not measure.arms or arm in measure.arms)
        )


def shipped_names() -> tuple[str, ...]:
    """The names of the experiments that come with MEMENTO."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _SHIPPED.iterdir() if path.name.endswith(".toml")))


def load_experiment(given: str) -> Experiment:
    """The experiment with the name `given`, or in the TOML file at this path. Raises UsageError."""
    path = Path(given)
    if path.suffix != ".toml":
        if given not in shipped_names() and given.partition(":")[0] in {*DOMAINS, *PREFIXES}:
            raise UsageError(f"{given!r} is a task, not an experiment: memento compare --domain {given}")
        if given not in shipped_names():
            raise no_such("experiment", given, shipped_names())
        return parse_experiment((_SHIPPED / f"{given}.toml").read_text(encoding="utf-8"), name=given, origin=given)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the experiment file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the experiment file {path} is not UTF-8 text") from None
    experiment = parse_experiment(text, name=path.stem, origin=str(path))
    return replace(
        experiment, initial=_file_next_to(path, experiment.initial), evaluator=_file(path, experiment.evaluator),
        arms=tuple(replace(arm, evaluator=_file(path, arm.evaluator)) for arm in experiment.arms),
    )


def _file_next_to(experiment: Path, given: str | None) -> str | None:
    return None if given is None else str((experiment.parent / given).absolute())


def _file(experiment: Path, evaluator: str) -> str:
    """The arm with its evaluator file relative to the experiment's file."""
    return str(_file_next_to(experiment, evaluator)) if evaluator.endswith(".py") else evaluator


def parse_experiment(text: str, *, name: str, origin: str) -> Experiment:
    """The experiment in this TOML text. Raises UsageError with the key and its place."""
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:      # also a number of too many digits, and tables nested too deep
        raise UsageError(f"the experiment {origin} is not TOML: {error}") from None
    if PART_OF in table:
        return _part(table, f"the experiment {origin}")
    return build_experiment(table, name=name, origin=origin)


def _part(table: Mapping[str, Any], where: str) -> Experiment:
    """Some tasks, arms and measures of another experiment, named by `part_of`. Raises UsageError."""
    read = _Reader(table, where)
    whole = load_experiment(read.word(PART_OF))
    tasks, arms, measures = (_with_names(getattr(whole, what), read.words(what), f"{where}, {what}") for what in LISTS)
    part = replace(
        whole, title=read.word("title", whole.title), part_of=whole.name, tasks=tasks, arms=arms, measures=measures
    )
    read.finish()
    if leader_of(part) != leader_of(whole):
        raise UsageError(
            f"{where} lacks the arm {leader_of(whole).name!r}, which settles p_0 and the evaluator of {whole.name}"
        )
    return part


def _with_names(items: tuple[Any, ...], names: Sequence[str], where: str) -> tuple[Any, ...]:
    """The items with these names, in the order of the whole; all without names."""
    for name in names:
        if name not in [item.name for item in items]:
            raise UsageError(f"{where}: {no_such('name', name, [item.name for item in items])}")
    return tuple(item for item in items if not names or item.name in names)


def leader_of(experiment: Experiment) -> Arm:
    """The arm whose run settles p_0 and E* of its seed: the first one with the shared evaluator."""
    searching = [arm for arm in experiment.arms if not is_learned(arm)]
    return next((arm for arm in searching if arm.evaluator == SHARED), searching[0])


def compares_models(experiment: Experiment) -> bool:
    """Whether its arms are models, so that runs of different models are compared with one another."""
    return any(arm.model is not None for arm in experiment.arms)


def is_learned(arm: Arm) -> bool:
    """Whether the arm is a learned baseline, which `memento baseline` trains, and no search."""
    return is_training(arm.method)


def parts_of(whole: str) -> tuple[Experiment, ...]:
    """The shipped experiments that are parts of the experiment named `whole`."""
    texts = {name: (_SHIPPED / f"{name}.toml").read_text(encoding="utf-8") for name in shipped_names()}
    parts = {name: parse_experiment(text, name=name, origin=name) for name, text in texts.items() if PART_OF in text}
    return tuple(replace(part, name=name) for name, part in parts.items() if part.part_of == whole)


def build_experiment(table: Mapping[str, Any], *, name: str, origin: str) -> Experiment:
    """The experiment in a TOML table. Raises UsageError."""
    read = _Reader(table, f"the experiment {origin}")
    tasks = [_task(each, read.where) for each in read.tables("tasks")]
    tasks += [Task(name=domain, domain=domain) for domain in read.words("domains")]
    arms = [_arm(each, read.where) for each in read.tables("arms")]
    arms += [Arm(name=method, method=method) for method in read.words("methods")]
    measures = [_measure(each, read.where) for each in read.tables("measures")]
    experiment = Experiment(
        name=name,
        title=read.word("title", ""),
        preset=read.word("preset", "paper"),
        evaluator=read.word("evaluator", "evolve"),
        initial=read.word("initial", "") or None,
        tasks=tuple(tasks),
        arms=tuple(arms),
        models=tuple(read.words("models")) or ("offline",),
        seeds=parse_seeds(read.take("seeds", "1-3"), read.where),
        settings=flatten(read.table("set")),
        measures=tuple(measures) or (Measure(name=AS_SEARCHED),),
    )
    read.finish()
    check_experiment(experiment, read.where)
    return experiment


def check_experiment(experiment: Experiment, where: str) -> None:
    """Raise UsageError for an experiment that compares nothing, or has one name twice."""
    if not experiment.tasks:
        raise UsageError(f"{where} names no domain: give domains = [\"hanoi\"], or --domain hanoi")
    if not experiment.arms:
        raise UsageError(f"{where} names no method: give methods = [\"memento\", \"random\"], or --method twice")
    if all(is_learned(arm) for arm in experiment.arms):
        method = experiment.arms[0].method
        raise UsageError(f"{where} compares no search: add a method, or train with memento baseline {method}")
    if any(arm.method == CALIBRATE for arm in experiment.arms):
        raise UsageError(f"{where} compares {CALIBRATE}, which is no search: use memento cell {CALIBRATE}")
    named: Sequence[tuple[str, Sequence[object]]] = (
        ("task", [task.name for task in experiment.tasks]),
        ("arm", [arm.name for arm in experiment.arms]),
        ("model", experiment.models),
        ("seed", experiment.seeds),
        ("measure", [measure.name for measure in experiment.measures]),
    )
    for what, names in named:
        for each in names:
            if names.count(each) > 1:
                raise UsageError(f"{where} has the {what} {each!r} twice: keep only one, or name it differently")
    _check_names(experiment, where)
    _check_models(experiment, where)
    _refuse_moves(experiment, where)
    for measure in experiment.measures:
        if measure.episodes < 1 or not 0 <= measure.skip < measure.episodes:
            raise UsageError(f"{where}, measure {measure.name!r}: skip must be less than episodes")


def _check_models(experiment: Experiment, where: str) -> None:
    """Raise UsageError where some arms name a model and others, or the experiment, name theirs in another way."""
    if not compares_models(experiment):
        return
    if experiment.models != Experiment.__dataclass_fields__["models"].default:
        raise UsageError(f"{where} names models, and its arms do so, too: leave models and --model out")
    for arm in experiment.arms:
        if (arm.model is None) != is_learned(arm):
            what = "names no model, as other arms do: give it one" if arm.model is None else "is trained without one"
            raise UsageError(f"{where}: the arm {arm.name!r} {what}")


def _refuse_moves(experiment: Experiment, where: str) -> None:
    """Raise UsageError for an evaluator that would move in an arm that shares the evaluator of its seed."""
    for arm in experiment.arms:
        every = {**experiment.settings, **arm.settings}.get("evaluator_every")
        if every and (arm.evaluator == SHARED or "evaluator_every" in experiment.settings):
            raise UsageError(
                f"{where}, arm {arm.name!r}: evaluator_every would move the evaluator that all arms of a seed share; "
                "set it in arms with evaluator = \"evolve\" alone"
            )


def _check_names(experiment: Experiment, where: str) -> None:
    """Raise UsageError for an arm or a measure that names a task or an arm which does not exist.

    A part of an experiment keeps the names of the whole.
    """
    whole = experiment if experiment.part_of is None else load_experiment(experiment.part_of)
    known = {"task": {task.name for task in whole.tasks}, "arm": {arm.name for arm in whole.arms}}
    known["task"] |= {task.name for task in experiment.tasks}
    known["arm"] |= {arm.name for arm in experiment.arms}
    named = [(f"arm {arm.name!r}", "task", arm.tasks) for arm in experiment.arms]
    named += [(f"measure {measure.name!r}", "task", measure.tasks) for measure in experiment.measures]
    named += [(f"measure {measure.name!r}", "arm", measure.arms) for measure in experiment.measures]
    for owner, what, names in named:
        for name in names:
            if name not in known[what]:
                raise UsageError(f"{where}, {owner}: {no_such(what, name, known[what])}")


def parse_seeds(given: object, where: str) -> tuple[int, ...]:
    """Seeds from "1-10,12" or from a list of numbers. Raises UsageError."""
    if isinstance(given, int) and not isinstance(given, bool):
        given = [given]
    if isinstance(given, list) and given and all(isinstance(each, int) and each >= 0 for each in given):
        return tuple(int(each) for each in given)
    found: list[int] = []
    for part in given.split(",") if isinstance(given, str) else ():
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            break
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low or high - low >= MOST_SEEDS:
            break
        found += range(low, high + 1)
    else:
        if found:
            return tuple(found)
    raise UsageError(f"{where}: seeds cannot be {given!r}: write them as in 1-10 or 3,5,8")


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, JSON]:
    """Dotted names of the values in nested tables, as in `--set`."""
    found: dict[str, JSON] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            found |= flatten(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _task(table: Mapping[str, Any], where: str) -> Task:
    read = _Reader(table, f"{where}, tasks")
    domain = read.word("domain")
    task = Task(name=read.word("name", domain), domain=domain, options=read.table("options"))
    read.finish()
    return task


def _arm(table: Mapping[str, Any], where: str) -> Arm:
    read = _Reader(table, f"{where}, arms")
    method = read.word("method")
    arm = Arm(
        name=read.word("name", method),
        method=method,
        evaluator=read.word("evaluator", SHARED),
        tasks=tuple(read.words("tasks")),
        settings=flatten(read.table("set")),
        options=read.table("options"),
        model=read.word("model", "") or None,
    )
    read.finish()
    return arm


def _measure(table: Mapping[str, Any], where: str) -> Measure:
    read = _Reader(table, f"{where}, measures")
    measure = Measure(
        name=read.word("name"),
        episodes=read.number("episodes", DEFAULT_EPISODES),
        skip=read.number("skip", 0),
        tasks=tuple(read.words("tasks")),
        arms=tuple(read.words("arms")),
        options=read.table("options"),
    )
    read.finish()
    return measure


class _Reader:
    """Takes the keys of one table. Raises UsageError for values of a wrong type and, in `finish`, for unknown keys."""

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self._left = dict(table)
        self._known: set[str] = set()
        self.where = where

    def take(self, key: str, default: object = None) -> Any:
        self._known.add(key)
        return self._left.pop(key, default)

    def word(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default)
        if value is None:
            raise UsageError(f"{self.where}: {key} is missing")
        return str(self._of(key, value, str))

    def number(self, key: str, default: int) -> int:
        return int(self._of(key, self.take(key, default), int))

    def words(self, key: str) -> list[str]:
        value = self._of(key, self.take(key, []), list)
        return [str(self._of(key, each, str)) for each in value]

    def table(self, key: str) -> dict[str, Any]:
        return dict(self._of(key, self.take(key, {}), dict))

    def tables(self, key: str) -> list[dict[str, Any]]:
        return [dict(self._of(key, each, dict)) for each in self._of(key, self.take(key, []), list)]

    def finish(self) -> None:
        for key in self._left:
            raise UsageError(f"{self.where}: {no_such('key', key, self._known)}")

    def _of(self, key: str, value: Any, kind: type) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool):
            words = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}
            raise UsageError(f"{self.where}: {key} = {value!r} is not {words[kind]}")
        return value
