"""Where a replay finds a recorded run, in its folder or in a file, and how a run becomes such a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..core.critic_events import Criticised
from ..core.errors import UsageError
from ..core.events import (
    AskedAgain,
    EliteChanged,
    EpisodeEnded,
    Fact,
    FinalMeasured,
    HintGiven,
    ProposalFailed,
    ProposalMade,
    RunStarted,
    SpeculationEnded,
    StageEntered,
    VoteCast,
)
from ..core.turn_events import ToolAnswered, TurnTaken
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..memory.tape_file import SUFFIX, read_tape, write_tape

_CALLS: Final = (
    AskedAgain, Criticised, ProposalFailed, ProposalMade, SpeculationEnded, ToolAnswered, TurnTaken, VoteCast,
)
_RUN: Final = (RunStarted, StageEntered, HintGiven, EliteChanged, FinalMeasured)     # the last two to compare with
_PATHS: Final = ("initial", "evaluator", "prompts", "replay")     # settings that may be paths; the texts are kept


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
    require_done(facts, folder)
    return write_tape(_needed(facts), path)


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
        elif isinstance(fact, EpisodeEnded | ToolAnswered) and fact.episode is not None:
            if timed or isinstance(fact, ToolAnswered):
                yield replace(fact, episode=replace(fact.episode, notes=replace(fact.episode.notes, node=None)))
        elif isinstance(fact, (*_RUN, *_CALLS)):
            yield fact


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
