"""Trainings: agents that learn without a language model, which extensions bring as arms of a comparison.

A training's runs have folders of their own kind beside those of searches, and its method is the name of its extension.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from ..core import extensions
from ..core.provenance import Provenance
from .baseline_rows import BaselineRow

if TYPE_CHECKING:
    from .experiment import Experiment
    from .folder import Measured
    from .plan import Job


class Training(Protocol):
    """One kind of training. Whatever reads a folder raises StoreError for one that cannot be read."""

    def is_run(self, folder: Path) -> bool:
        """Whether this is the folder of such a training."""

    def row(self, folder: Path) -> BaselineRow:
        """What a report says of a training."""

    def describe(self, folder: Path, *, where: str, live: bool) -> str:
        """The training in some lines; `where` is what `memento resume` takes for it, `live`: a process works on it."""

    def in_short(self, folder: Path, *, live: bool) -> str:
        """The training in one line."""

    def resume(self, folder: Path, *, steps: int | None, as_json: bool, trust: bool) -> None:
        """Continue to `steps` in all, None as planned, and print the result. Raises UsageError."""

    def ask_to_stop(self, folder: Path) -> None:
        """Ask the process that works on it to stop. Raises UsageError if there is none."""

    def check(self, experiment: "Experiment", provenance: Provenance, *, to_run: bool = True) -> None:
        """Raise UsageError for what cannot be trained in this experiment; `to_run`: also without its package."""

    def arguments(self, experiment: "Experiment", job: "Job", *, runs: Path) -> list[str]:
        """The arguments of `memento` that train a job of a comparison that was checked."""

    def measured(self, experiment: "Experiment", job: "Job", folder: Path) -> "Measured | None":
        """The measure of a training that is done, as one of the comparison's; None if it is not done."""


def is_training(method: str) -> bool:
    """Whether a method is a training, and no search."""
    return method in extensions.names(extensions.TRAININGS)


def training_named(method: str) -> Training:
    """The training of this name. Raises UsageError if it cannot be loaded."""
    return cast(Training, extensions.load(extensions.TRAININGS, method))


def training_of(folder: Path) -> Training | None:
    """The training whose run a folder holds; None for other folders."""
    return next((each for each in _every() if each.is_run(folder)), None)


def find_training(runs_dir: Path, name: str) -> tuple[Training, Path] | None:
    """The run of a training with this name or path; None if there is none."""
    for folder in (runs_dir / name, Path(name)):
        found = training_of(folder) if name else None
        if found is not None:
            return found, folder
    return None


def list_trainings(runs_dir: Path) -> list[tuple[Training, Path]]:
    """The runs of all trainings, sorted by name."""
    folders = sorted(runs_dir.iterdir()) if runs_dir.is_dir() else []
    return [(found, folder) for folder in folders if (found := training_of(folder)) is not None]


def _every() -> Iterator[Training]:
    return cast("Iterator[Training]", extensions.every(extensions.TRAININGS))
