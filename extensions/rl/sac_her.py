"""SAC with hindsight as a training: what comparisons, reports and the commands on runs ask of it."""

from pathlib import Path

from ...core.provenance import Provenance
from ...evidence.baseline_rows import BaselineRow
from ...evidence.experiment import Experiment
from ...evidence.folder import Measured
from ...evidence.plan import Job
from ...runtime.clock import SystemClock
from .arm import check_learned, measured_of, training_arguments
from .command import continue_baseline
from .command_text import describe_baseline, in_short
from .log import is_baseline, read_record
from .results import read_row
from .run import ask_to_stop, plan_again


class SacHer:
    """An evidence.trainings.Training."""

    def is_run(self, folder: Path) -> bool:
        """Whether the folder has the log of a baseline."""
        return is_baseline(folder)

    def row(self, folder: Path) -> BaselineRow:
        """The row from the log."""
        return read_row(folder)

    def describe(self, folder: Path, *, where: str, live: bool) -> str:
        """What was trained, how far, what it cost, the final measure or what makes it."""
        return describe_baseline(read_record(folder), where=where, live=live)

    def in_short(self, folder: Path, *, live: bool) -> str:
        """Method, task, state and steps."""
        return in_short(read_record(folder), live=live)

    def resume(self, folder: Path, *, steps: int | None, as_json: bool, trust: bool) -> None:
        """Train on from the checkpoint, then measure."""
        if steps is not None:
            plan_again(folder, steps)
        continue_baseline(folder, SystemClock(), as_json=as_json, trust=trust)

    def ask_to_stop(self, folder: Path) -> None:
        """Leave the request in the folder."""
        ask_to_stop(folder)

    def check(self, experiment: Experiment, provenance: Provenance, *, to_run: bool = True) -> None:
        """Build the settings of every job."""
        check_learned(experiment, provenance, to_run=to_run)

    def arguments(self, experiment: Experiment, job: Job, *, runs: Path) -> list[str]:
        """The flags of `memento baseline`."""
        return training_arguments(experiment, job, runs=runs)

    def measured(self, experiment: Experiment, job: Job, folder: Path) -> Measured | None:
        """The measure in the log."""
        return measured_of(experiment, job, read_record(folder))


TRAINING = SacHer()
