"""Evidence as one small file: a report can be stored, sent and rendered again without its runs.

The file is JSON, compressed with xz. It holds no prompts, no replies and no paths of the machine. It holds the programs
of the elite's ancestors only for the runs that a page shows one by one.
"""

import json
import lzma
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from ..core.errors import UsageError
from ..core.events import VoteCast
from ..core.files import read_bounded, unpack
from ..core.values import JSON, Document, Program
from ..memory.evaluator_pools import EvaluatorPool
from .experiment import Arm, Experiment, Measure, Task
from .folder import Measured
from .learned import BaselineRow
from .loading import Evidence
from .page import Picture, shown_runs, without_paths
from .plan import list_jobs
from .records import RunRecord

SUFFIX: Final = ".json.xz"
VERSION: Final = 1
LARGEST: Final = 2**26      # bytes of JSON; a damaged or hostile file must not fill the memory
_PATHS: Final = ("initial", "evaluator", "prompts")    # settings that may be the path of a file
_NOT_KEPT: Final = Document("")
_COLLECTIONS: Final = ("list", "tuple", "set", "frozenset", "dict")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The content of the file."""

    version: int = VERSION
    title: str
    records: tuple[RunRecord, ...]
    measured: tuple[Measured, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    experiment: Experiment | None = None
    pictures: Mapping[str, tuple[Picture, ...]] = field(default_factory=dict)  # by run
    baselines: tuple[BaselineRow, ...] = ()


def _failing_fast(schema: Any) -> Any:
    """A schema whose collections are given up at the first bad item: a million errors would fill the memory."""
    if isinstance(schema, list):
        return [_failing_fast(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    collection = {"fail_fast": True} if schema.get("type") in _COLLECTIONS else {}
    return {key: _failing_fast(value) for key, value in schema.items()} | collection


_CONTENT: Final = TypeAdapter(_Content)
_READER: Final = SchemaValidator(_failing_fast(_CONTENT.core_schema))


def write_archive(evidence: Evidence, pictures: Mapping[str, tuple[Picture, ...]], path: Path) -> int:
    """Write the file, replacing an existing one; returns its size in bytes. Raises UsageError."""
    shown = {record.name for record in shown_runs(evidence)}
    content = _Content(
        title=evidence.title,
        records=tuple(_portable(record, whole=record.name in shown) for record in evidence.records),
        measured=tuple(
            replace(each, result={**each.result, "policy": Path(str(each.result.get("policy", ""))).name})
            for each in evidence.measured.values()
        ),
        missing=evidence.missing,
        experiment=None if evidence.experiment is None else _without_folders(evidence.experiment),
        pictures=pictures,
        baselines=evidence.baselines,
    )
    dumped = _without_machine(_CONTENT.dump_python(content, mode="json"))
    text = json.dumps(_sound(dumped), ensure_ascii=False, allow_nan=False)
    packed = lzma.compress(text.encode(), preset=9)
    try:
        path.write_bytes(packed)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return len(packed)


def read_archive(path: Path) -> tuple[Evidence, Mapping[str, tuple[Picture, ...]]]:
    """The evidence in such a file, and its pictures by run.

    Raises UsageError for a file that is not an archive, is damaged, or has another version.
    """
    try:
        content: _Content = _READER.validate_json(unpack(read_bounded(path, LARGEST), LARGEST))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (lzma.LZMAError, EOFError, ValidationError, RecursionError) as error:
        damage = str(error)
        if isinstance(error, ValidationError):
            damage = f"{'.'.join(map(str, error.errors()[0]['loc']))} is invalid"
        raise UsageError(f"{path} is not an archive of evidence, or is damaged: {damage}") from None
    if content.version != VERSION:
        raise UsageError(f"{path} is an archive of version {content.version}; this MEMENTO reads version {VERSION}")
    evidence = Evidence(
        title=content.title,
        records=content.records,
        measured={(each.job, each.measure): each for each in content.measured},
        missing=content.missing,
        experiment=content.experiment,
        baselines=content.baselines,
    )
    return evidence, content.pictures


def _without_machine(content: dict[str, Any]) -> dict[str, Any]:
    """Without absolute paths in what comes from settings: options, labels made of them, why a run is missing."""
    records = [
        record | {key: without_paths(record[key]) for key in ("settings", "task", "arm")}
        for record in content["records"]
    ]
    others = {key: without_paths(content[key]) for key in ("missing", "experiment", "measured", "baselines")}
    return content | others | {"records": records}


def _sound(value: Any) -> Any:
    """The JSON value without lone surrogates, which models can write and UTF-8 cannot encode."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, list):
        return [_sound(each) for each in value]
    return {_sound(key): _sound(each) for key, each in value.items()} if isinstance(value, dict) else value


def _portable(record: RunRecord, *, whole: bool) -> RunRecord:
    """A record without paths, prompts and replies; unless `whole`, also without the programs of its lineage."""
    lineage = record.lineage if whole else tuple(replace(row, program=Program("")) for row in record.lineage)
    return replace(
        record,
        folder=Path(record.folder).name,
        settings={key: _file_name(value) if key in _PATHS else value for key, value in record.settings.items()},
        pools=tuple(_silent(pool) for pool in record.pools),
        lineage=lineage,
    )


def _silent(pool: EvaluatorPool) -> EvaluatorPool:
    """A pool without the judges' prompts and replies; each vote and its model stay."""
    return replace(pool, votes=tuple(_without_texts(vote) for vote in pool.votes))


def _without_texts(vote: VoteCast) -> VoteCast:
    call = None if vote.call is None else replace(vote.call, prompt=_NOT_KEPT, reply=_NOT_KEPT)
    return replace(vote, call=call, earlier=tuple(replace(each, prompt=_NOT_KEPT, reply=_NOT_KEPT)
                                                  for each in vote.earlier))


def _without_folders(experiment: Experiment) -> Experiment:
    return replace(
        experiment,
        initial=None if experiment.initial is None else Path(experiment.initial).name,
        evaluator=str(_file_name(experiment.evaluator)),
        arms=tuple(replace(arm, evaluator=str(_file_name(arm.evaluator))) for arm in experiment.arms),
    )


def _file_name(value: JSON) -> JSON:
    return Path(value).name if isinstance(value, str) else value


# Archives of one comparison as one: its tasks and seeds may be run in parts, on other machines or at other times.


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
    return _together([part for _, part in parts], _whole(tuple(plans.values())))


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
            mine, theirs = _unsalted(one), _unsalted(other)
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


def _unsalted(experiment: Experiment) -> dict[str, JSON]:
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
