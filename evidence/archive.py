"""Evidence as one small file: a report can be stored, sent and rendered again without its runs.

The file is JSON, compressed with xz. It holds no prompts, no replies and no paths of the machine. It holds the programs
of the elite's ancestors only for the runs that a page shows one by one.
"""

import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from ..core.errors import UsageError
from ..core.events import VoteCast
from ..core.files import read_bounded, unpack
from ..core.values import JSON, Document, Program
from ..memory.evaluator_pools import EvaluatorPool
from .baseline_rows import BaselineRow
from .experiment import Experiment
from .folder import Measured
from .loading import Evidence
from .page import Picture, shown_runs, without_paths
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
