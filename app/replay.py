"""A recorded run for a replay: in its folder, or as a tape, one small file that holds what a replay needs."""

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from ..agents.critic_sheets import Looks, recorded_looks
from ..agents.fitting import recorded_limits
from ..agents.hints import RecordedHints, recorded_hints
from ..agents.tools import Answered, recorded_answers
from ..core.errors import StoreError, UsageError
from ..core.events import Fact, RunStarted, StageEntered
from ..core.files import read_bounded, replace_file, unpacked
from ..core.values import JSON, CallTimes, Program, PromptText
from ..memory.codec import Blob, decode, encode, references, revive
from ..memory.origin import is_signature_of, is_written_here, signature_of
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..models.tape import Tape, tape_of
from ..settings import Settings, recorded_settings
from .history import require_same_rules
from .required import trusted_settings

# The facts that a replay needs as one small file: JSON compressed with xz, in which each text is there once.


SUFFIX: Final = ".tape.xz"
VERSION: Final = 1
DAMAGE: Final = (
    lzma.LZMAError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StoreError
)
LARGEST: Final = 2**28      # bytes of JSON; a damaged or hostile file must not fill the memory


def write_tape(facts: Iterable[Fact], path: Path, *, own: bool = False) -> int:
    """Write the file, replacing an existing one; returns its size in bytes. Raises UsageError, StoreError.

    `own`: this installation wrote the run, so it signs the tape, whose replay here needs no trust then.
    """
    blobs: dict[str, Blob] = {}
    rows = []
    for fact in facts:
        encoded = encode(fact)
        blobs |= encoded.blobs
        rows.append([encoded.kind, encoded.order, encoded.body])
    content: dict[str, Any] = {
        "version": VERSION, "facts": rows, "texts": {key: blob.content for key, blob in blobs.items()}
    }
    if own:
        content["origin"] = signature_of({"facts": content["facts"], "texts": content["texts"]})
    text = json.dumps(content, allow_nan=False).encode()     # ASCII: models can write lone surrogates
    if len(text) > LARGEST:
        raise UsageError(f"the tape has {len(text) / 1e6:,.0f} MB, more than the {LARGEST / 1e6:,.0f} that can be read")
    packed = lzma.compress(text, preset=9)
    try:
        replace_file(path, packed)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return len(packed)


def read_tape(path: Path) -> tuple[Fact, ...]:
    """The facts in such a file. Raises UsageError for a file that is no tape, is damaged, or has another version."""
    return _read_tape(path)[0]


def _read_tape(path: Path) -> tuple[tuple[Fact, ...], bool]:
    """The facts in such a file, and whether this installation signed them. Raises UsageError."""
    try:
        content = json.loads(unpacked(read_bounded(path, LARGEST), LARGEST))
        version = content["version"]
        if version == VERSION:
            own = is_signature_of(content.get("origin"), {"facts": content["facts"], "texts": content["texts"]})
            values = {key: revive(key, text) for key, text in content["texts"].items()}
            return tuple(_fact(row, values) for row in content["facts"]), own
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except DAMAGE as error:
        raise UsageError(f"{path} is not the tape of a run, or is damaged: {error}") from None
    raise UsageError(f"{path} is a tape of version {version}; this MEMENTO reads version {VERSION}")


def _fact(row: Any, values: dict[str, Any]) -> Fact:
    kind, order, body = row
    return decode(kind, order, body, {key: values[key] for key in references(body) if key in values})


# Where a replay finds a recorded run, in its folder or in a file, and how a run becomes such a file.


_PATHS: Final = ("initial", "evaluator", "prompts", "exploits", "replay")     # settings that may be paths


def find_recorded(runs_dir: Path, name: str) -> Path:
    """The folder of a run, or the file of a tape, with or without its suffix. Raises UsageError."""
    for path in (Path(name), Path(f"{name}{SUFFIX}")):
        if path.name.endswith(SUFFIX) and _is_file(path):
            return path
    return find_run(runs_dir, name)


def recorded_facts(place: Path) -> tuple[Fact, ...]:
    """The facts of a run in its folder, or those in the file of its tape. Raises UsageError, StoreError."""
    if _is_file(place):
        return read_tape(place)
    with RunStore.read(place) as store:
        return tuple(store.facts())


def export_tape(folder: Path, path: Path) -> int:
    """Write what a replay of a finished run needs to a file; returns its size in bytes. Raises UsageError."""
    if not path.name.endswith(SUFFIX):
        raise UsageError(f"{path} cannot name a tape: name it *{SUFFIX}")
    facts = recorded_facts(folder)
    started = require_done(facts, folder)
    return write_tape(_needed(facts), path, own=is_written_here(folder, started.settings))


def require_done(facts: tuple[Fact, ...], place: Path) -> RunStarted:
    """The first fact of a finished run. Raises UsageError for another one, since its tape would end early."""
    started = next((fact for fact in facts if isinstance(fact, RunStarted)), None)
    if started is None or not any(isinstance(fact, StageEntered) and fact.stage == "done" for fact in facts):
        raise UsageError(
            f"the run {place.name!r} is not done, so its recorded replies would end early: "
            f"finish it first with memento resume {place}"
        )
    return started


def _needed(facts: tuple[Fact, ...]) -> Iterator[Fact]:
    """The facts for a replay; of a run with a step limit also the episodes, whose CPU times decided on faults."""
    timed = any(isinstance(fact, RunStarted) and fact.settings.get("step_limit_ms") is not None for fact in facts)
    for fact in facts:
        if isinstance(fact, RunStarted):
            yield _without_paths(fact)
        elif fact.replayed or (timed and fact.rollout is not None):
            yield fact.portable()


def _without_paths(started: RunStarted) -> RunStarted:
    """The fact with the names of given files instead of their paths on the machine."""
    settings = {
        key: Path(value).name if key in _PATHS and isinstance(value, str) else value
        for key, value in started.settings.items()
    }
    return replace(started, settings=settings)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:     # a name that is too long
        return False


UNLIMITED: Mapping[str, JSON] = {
    "budget_calls": None, "budget_tokens": None, "budget_usd": None, "budget_wall_s": None, "budget": {},
}
"""A replay calls no model, so budgets have no effect in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """The inputs of a replay. Programs that were given as files come from the record, not from the files.

    The defaults are those of a run that replays nothing.
    """

    initial: Program | None = None
    evaluator: Program | None = None
    tape: Tape | None = None                # None if nothing is replayed
    exploits: tuple[Program, ...] = ()
    prompts: tuple[PromptText, ...] = ()
    hints: RecordedHints | None = None
    limits: Mapping[str, int] | None = None     # of the lengths of prompts, by their orders
    looks: Looks | None = None                                          # of a critic, by their orders
    call_times: Mapping[str, CallTimes] = field(default_factory=dict)   # of practice episodes, with a step limit of all
    answers: Answered = field(default_factory=dict)                     # of tools, by their orders


NOTHING_RECORDED = RecordedRun()
"""The inputs of a run that replays none."""


def read_recorded(place: Path, *, exact: bool = True) -> RecordedRun:
    """The finished run in this folder or file of a tape; nothing that its settings name is imported or started.

    Raises UsageError for one that is not done, since its tape would end early, and for an `exact` replay of one whose
    search decided by other rules.
    """
    facts = recorded_facts(place)
    started = require_done(facts, place)
    if exact:
        require_same_rules(started, place, "replayed exactly, only with --replay-loosely")
    recorded = recorded_settings(started.settings)
    return RecordedRun(
        initial=started.initial,
        evaluator=started.evaluator,
        tape=tape_of(facts),
        prompts=started.prompts,
        exploits=started.exploits,
        hints=recorded_hints(facts),
        limits=recorded_limits(facts),
        looks=recorded_looks(facts),
        call_times=_call_times(facts, all_of_them=recorded.step_limit_ms is not None),
        answers=recorded_answers(facts),
    )


def replay_settings(place: Path, *, trusted: bool = False) -> Settings:
    """The settings of a replay of this finished run.

    Raises UsageError for one that is not done, and without `trusted` for one from elsewhere that would import or
    start something.
    """
    facts, own = _read_tape(place) if _is_file(place) else (recorded_facts(place), False)
    started = require_done(facts, place)
    recorded = trusted_settings(
        place, started.settings, recorded_settings(started.settings), trusted=trusted or own, models=False
    )
    replayed = Settings.model_validate({**recorded.as_json(), **UNLIMITED, "replay": str(place.resolve())})
    return replayed.from_there(recorded.provenance)


def _call_times(facts: Iterable[Fact], *, all_of_them: bool) -> dict[str, CallTimes]:
    """The measured CPU times of practice episodes, which answers show, or of all: a replay must judge by these, since
    its own would differ."""
    return {
        fact.order: fact.rollout.notes.times for fact in facts
        if (all_of_them or fact.practice) and fact.order is not None
        and fact.rollout is not None and fact.rollout.notes.times is not None
    }
