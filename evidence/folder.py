"""The folder of a comparison: its plan, its runs, their shared programs, its measures and its journal."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..core.errors import StoreError, UsageError, os_problem
from ..core.events import EvaluatorChosen, InitialChosen, SearchEnded
from ..core.files import open_regular, read_bounded, replace_file
from ..core.values import Program
from ..memory.origin import is_written_here, sign
from ..memory.runs import is_run
from ..memory.store import RunStore
from .experiment import Arm, Experiment, Measure, Task
from .plan import Beginning, Job

PLAN, MEASURES, JOURNAL = "comparison.json", "measures.jsonl", "journal.jsonl"
FORMAT = 1
LARGEST = 2**28      # bytes of one of its files
Line = TypeVar("Line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One finished measure of one elite: the output of `memento evaluate --json`."""

    job: str
    measure: str
    program: str  # the digest of the measured policy
    seed: int
    skip: int
    result: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Raises ValueError for what is no measure: the line of a folder and of an archive may be anybody's."""
        rows = self.result.get("per_episode")
        if not isinstance(rows, list) or not all(map(_is_episode, rows)) or not 0 <= self.skip < len(rows):
            raise ValueError("the measure has no episodes, or not such as are measured")

    @property
    def episodes(self) -> list[Mapping[str, Any]]:
        """The episodes that count."""
        return list(self.result["per_episode"][self.skip :])

    @property
    def success(self) -> float | None:
        """S over the episodes that count; None for a task without a success predicate."""
        values = [episode["success"] for episode in self.episodes]
        return None if None in values else sum(map(bool, values)) / len(values)

    @property
    def fitness(self) -> float | None:
        """F under the reference evaluator over the episodes that count; None for a domain without one."""
        values = [episode["fitness"] for episode in self.episodes]
        return None if None in values else sum(values) / len(values)

    @property
    def mean_return(self) -> float | None:
        """The mean return over the episodes that count and have one; None if none has."""
        values = [found for each in self.episodes if (found := each.get("episode_return")) is not None]
        return sum(values) / len(values) if values else None


def _is_episode(row: object) -> bool:
    """Whether this is an episode with its success, its fitness in [0, 1] and its return; each may be missing."""
    if not isinstance(row, Mapping) or not {"success", "fitness"} <= row.keys():
        return False
    success, fitness, returned = row["success"], row["fitness"], row.get("episode_return")
    if not (success is None or isinstance(success, bool)) or not all(
        value is None or (isinstance(value, int | float) and isfinite(value)) for value in (fitness, returned)
    ):
        return False
    return fitness is None or 0.0 <= fitness <= 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """One event of a comparison, for people."""

    at: float       # seconds since the epoch
    job: str
    event: str
    message: str = ""


class ComparisonFolder:
    """One comparison on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # ------------------------------------------------------------------------------- the plan

    @property
    def exists(self) -> bool:
        """Whether there is a comparison here."""
        return (self.path / PLAN).is_file()

    def write_plan(self, experiment: Experiment, *, own: bool = False) -> None:
        """Write the plan, atomically, and sign it if it is this installation's `own`.

        Raises UsageError if the folder cannot be made.
        """
        text = json.dumps({"format": FORMAT, "experiment": asdict(experiment)}, indent=1, ensure_ascii=False)
        try:
            for folder in (self.path, self.runs, self.path / "programs", self.path / "logs"):
                folder.mkdir(parents=True, exist_ok=True)
            if own:     # before the plan: a kill in between leaves one that needs trust
                sign(self.path, json.loads(text))
            _write_whole(self.path / PLAN, text + "\n")
        except OSError as error:
            raise UsageError(f"cannot make a comparison in {self.path}: {error.strerror}") from None

    def plan(self) -> Experiment:
        """The plan. Raises UsageError if there is none, StoreError if it cannot be parsed."""
        if not self.exists:
            raise UsageError(f"{self.path} is not a comparison: it has no {PLAN}")
        try:
            held = json.loads(read_bounded(self.path / PLAN, LARGEST))
            if held["format"] > FORMAT:
                raise UsageError(f"{self.path} was made by a newer version of MEMENTO: update MEMENTO")
            return _experiment(held["experiment"])
        except OSError as error:
            raise StoreError(f"the comparison {self.path} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(f"the comparison {self.path} is damaged: {PLAN} cannot be parsed") from error

    @property
    def is_own(self) -> bool:
        """Whether this installation wrote the plan."""
        try:
            return is_written_here(self.path, json.loads(read_bounded(self.path / PLAN, LARGEST)))
        except (OSError, ValueError, RecursionError):
            return False

    # ------------------------------------------------------------------------------- runs

    @property
    def runs(self) -> Path:
        """The folder of the runs."""
        return self.path / "runs"

    def run_of(self, job: Job) -> Path:
        """The folder of a job's run, which may not exist yet."""
        return self.runs / job.name

    def log_of(self, unit: str) -> Path:
        """The path of a process's output files, without a suffix."""
        return self.path / "logs" / unit

    def beginning(self, job: Job) -> Beginning | None:
        """The programs that the job's seed shares; None until its leader has settled them."""
        begun = self._beginning_files(job)
        return begun if begun.initial.is_file() and begun.evaluator.is_file() else None

    def settle(self, leader: Job) -> Beginning | None:
        """Write the programs that the leader's log has settled; None if it has not settled them yet."""
        begun = self.beginning(leader)
        if begun is not None or not is_run(self.run_of(leader)):
            return begun
        with RunStore.read(self.run_of(leader)) as store:
            facts = tuple(store.facts(only=(InitialChosen, EvaluatorChosen)))
        initial = next((fact.program for fact in facts if isinstance(fact, InitialChosen)), None)
        chosen = next((fact.chosen for fact in facts if isinstance(fact, EvaluatorChosen) and fact.final), None)
        if initial is None or chosen is None or chosen.program is None:
            return None
        files = self._beginning_files(leader)
        _write_whole(files.evaluator, chosen.program.text)
        _write_whole(files.initial, initial.text)
        return files

    def _beginning_files(self, job: Job) -> Beginning:
        folder = (self.path / "programs").absolute()
        return Beginning(initial=folder / f"{job.beginning}.p0.py", evaluator=folder / f"{job.beginning}.evaluator.py")

    def elite_file(self, job: Job) -> tuple[Path, Program]:
        """A file with the elite of a finished run. Raises StoreError if the search did not end."""
        with RunStore.read(self.run_of(job)) as store:
            ended = [fact for fact in store.facts(only=(SearchEnded,)) if isinstance(fact, SearchEnded)]
        if not ended:
            raise StoreError(f"the run {job.name!r} has no elite to measure: its search did not end")
        path = self.path / "programs" / f"{job.name}.elite.py"
        _write_whole(path, ended[-1].program.text)
        return path, ended[-1].program

    # ------------------------------------------------------------------------------- append-only files

    def append_measured(self, measured: Measured) -> None:
        """Add a finished measure; it is on disk when this returns."""
        self._append(MEASURES, asdict(measured))

    def measures(self) -> dict[tuple[str, str], Measured]:
        """The last finished measure of each (job, measure)."""
        return {(line.job, line.measure): line for line in self._lines(MEASURES, TypeAdapter(Measured))}

    def note(self, *, at: float, job: str, event: str, message: str = "") -> None:
        """Add a line to the journal, which is for people only."""
        self._append(JOURNAL, asdict(JournalLine(at=at, job=job, event=event, message=message)))

    def journal(self) -> tuple[JournalLine, ...]:
        """The events of the comparison, oldest first."""
        return tuple(self._lines(JOURNAL, TypeAdapter(JournalLine)))

    def _append(self, name: str, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, allow_nan=False, ensure_ascii=False) + "\n"
        path = self.path / name
        try:
            file = os.fdopen(open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {os_problem(error)}") from error
        with file:
            torn = file.tell() > 0 and not _ends_a_line(path)
            file.write((b"\n" if torn else b"") + text.encode("utf-8", "backslashreplace"))
            file.flush()
            os.fsync(file.fileno())

    def _lines(self, name: str, kind: TypeAdapter[Line]) -> Iterator[Line]:
        """The lines of this kind. One that a killed process left incomplete is skipped; its work is repeated."""
        path = self.path / name
        try:
            content = read_bounded(path, LARGEST)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {os_problem(error)}") from error
        for text in content.decode(errors="replace").splitlines():
            with suppress(ValidationError):
                yield kind.validate_json(text)


def _ends_a_line(path: Path) -> bool:
    with os.fdopen(open_regular(path), "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _write_whole(path: Path, text: str) -> None:
    replace_file(path, text.encode("utf-8", "backslashreplace"))


def _experiment(table: Mapping[str, Any]) -> Experiment:
    parts = {
        "tasks": tuple(Task(**each) for each in table["tasks"]),
        "arms": tuple(Arm(**{**each, "tasks": tuple(each.get("tasks", ()))}) for each in table["arms"]),
        "measures": tuple(
            Measure(**{**each, "tasks": tuple(each["tasks"]), "arms": tuple(each.get("arms", ()))})
            for each in table["measures"]
        ),
        "models": tuple(table["models"]),
        "seeds": tuple(table["seeds"]),
    }
    return Experiment(**{**table, **parts})
