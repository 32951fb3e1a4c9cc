"""Where a replay finds a recorded run, in its folder or in a file, and how a run becomes such a file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from ..agents.critic_sheets import Looks, recorded_looks
from ..agents.fitting import recorded_limits
from ..agents.hints import RecordedHints, recorded_hints
from ..agents.replayed_tools import Answered, recorded_answers
from ..core.errors import UsageError
from ..core.events import Fact, RunStarted, StageEntered
from ..core.values import JSON, CallTimes, Program, PromptText
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..models.tape import Tape, tape_of
from ..settings import Settings, recorded_settings
from .history import require_same_rules
from .replay import SUFFIX, _read_tape, read_tape, write_tape
from .trust import is_own_run, trusted_settings

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
    return write_tape(_facts_of_tape(facts), path, own=is_own_run(folder, started))


def require_done(facts: tuple[Fact, ...], place: Path) -> RunStarted:
    """The first fact of a finished run. Raises UsageError for another one, since its tape would end early."""
    started = next((fact for fact in facts if isinstance(fact, RunStarted)), None)
    if started is None or not any(isinstance(fact, StageEntered) and fact.stage == "done" for fact in facts):
        raise UsageError(
            f"the run {place.name!r} is not done, so its recorded replies would end early: "
            f"finish it first with memento resume {place}"
        )
    return started


def _facts_of_tape(facts: tuple[Fact, ...]) -> Iterator[Fact]:
    """The facts for a replay; of a run with a step limit also the episodes, whose CPU times decided on faults."""
    timed = any(isinstance(fact, RunStarted) and fact.settings.get("step_limit_ms") is not None for fact in facts)
    for fact in facts:
        if isinstance(fact, RunStarted):
            yield _without_paths(fact)
        elif fact.replayed or (timed and fact.rollout is not None):
            yield fact.portable()


def _without_paths(started: RunStarted) -> RunStarted:
    """The fact with the names of given files instead of their paths, and without other places, of the machine."""
    settings = {
        key: Path(value).name if key in _PATHS and isinstance(value, str) else value
        for key, value in started.settings.items()
    }
    options = settings.get("options")
    if isinstance(options, Mapping) and options.get("python") is not None:
        settings["options"] = {**options, "python": None}     # --domain-python of whoever repeats it
    return replace(started, settings=settings, place={})


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
        place, started, recorded_settings(started.settings), trusted=trusted or own, models=False
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
