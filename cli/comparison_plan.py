"""Plans `memento compare`: a new comparison, or an existing one, which may grow."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.budgets import models_of
from ..app.wiring import require_shelves
from ..core.errors import UsageError
from ..core.provenance import GIVEN, Provenance
from ..core.seeds import new_salt
from ..core.values import JSON
from ..evidence.experiment import Experiment, load_experiment
from ..evidence.folder import ComparisonFolder
from ..evidence.plan import check, merge, with_flags
from ..evidence.trainings import is_training, training_named
from ..models.spec import key_of, parse_specs
from ..settings import Settings
from ..settings.sources import provenance_of_file

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes of flags in an experiment; empty or None for a flag that was not given."""

    domains: Sequence[str]
    methods: Sequence[str]
    models: Sequence[str]
    seeds: str | None
    preset: str | None
    evaluator: str | None
    initial: str | None
    episodes: int | None
    settings: Mapping[str, JSON]

    @property
    def any(self) -> bool:
        """Whether a flag was given."""
        return self.episodes is not None or any((
            self.domains, self.methods, self.models, self.seeds, self.preset, self.evaluator, self.initial,
            self.settings,
        ))

    def applied_to(self, experiment: Experiment | None) -> Experiment:
        """The experiment with the changes; without one, an experiment from the flags alone. Raises UsageError."""
        return with_flags(
            experiment, domains=self.domains, methods=self.methods, models=self.models, seeds=self.seeds or None,
            preset=self.preset, evaluator=self.evaluator, initial=self.initial, settings=self.settings,
            episodes=self.episodes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A comparison that is ready to run: its folder, its experiment, and the settings of each run by job.

    `own`: this installation wrote the plan, and signs it again.
    """

    folder: ComparisonFolder
    experiment: Experiment
    settings: Mapping[str, Settings]
    own: bool


def plan(
    given: str | None, changes: Changes, *, runs_dir: Path, name: str | None, keys: bool = True, trusted: bool = False
) -> Planned:
    """The existing comparison `given`, or a new one from the experiment `given` or from flags alone.

    With `keys` the keys of its models and the packages of its arms must be there. Raises UsageError for a comparison
    that cannot run, before anything is spent, and without `trusted` for one from elsewhere that would import, start,
    contact or read something.
    """
    old = _existing(given, runs_dir)
    if old is not None and name is not None:
        raise UsageError(f"--name has no effect: {old.path} is a comparison, which keeps its name")
    folder, experiment = _new(given, changes, runs_dir, name) if old is None else (old, _extension(old, changes))
    provenance = _provenance(folder, given, trusted=trusted)
    settings = check(experiment, provenance)
    for method in {arm.method for arm in experiment.arms if is_training(arm.method)}:
        training_named(method).check(experiment, provenance, to_run=keys)
    if old is None or changes.any:
        require_shelves(settings.values())
    if keys:
        _require_keys(settings)
    if not folder.exists and folder.path.exists() and any(folder.path.iterdir()):
        raise UsageError(f"{folder.path} exists and is not a comparison: choose another --name")
    own = folder.is_own or not folder.exists
    return Planned(folder=folder, experiment=experiment, settings=settings, own=own)


def _provenance(folder: ComparisonFolder, given: str | None, *, trusted: bool) -> Provenance:
    """Where the plan came from: a comparison that may be from elsewhere, or an experiment's file, or the command."""
    if trusted:
        return GIVEN
    if folder.exists:
        return Provenance(place=f"the comparison {folder.path.name!r}", trusted=folder.is_own)
    return provenance_of_file(Path(given)) if given is not None and given.endswith(".toml") else GIVEN


def _existing(given: str | None, runs_dir: Path) -> ComparisonFolder | None:
    """The comparison of this name or path; None where there is none."""
    if not given:
        return None
    folders = (ComparisonFolder(path) for path in (Path(given), runs_dir / given))
    return next((folder for folder in folders if folder.exists), None)


def _extension(folder: ComparisonFolder, changes: Changes) -> Experiment:
    known = folder.plan()
    return merge(known, changes.applied_to(known)) if changes.any else known


def _new(
    given: str | None, changes: Changes, runs_dir: Path, name: str | None
) -> tuple[ComparisonFolder, Experiment]:
    if given is None and not changes.domains:
        raise UsageError(
            "nothing to compare: name an experiment, as in memento compare main, or give --domain and two --method"
        )
    experiment = changes.applied_to(None if given is None else load_experiment(given))
    experiment = replace(experiment, name=name or experiment.name)
    folder = ComparisonFolder(runs_dir / experiment.name)
    known = folder.plan() if folder.exists else None
    # One salt for all runs and measures, so that they meet the same episodes; an older comparison has none.
    shared = known.settings.get("salt") if known else os.environ.get("MEMENTO_SALT") or new_salt()
    if shared is not None:
        experiment = replace(experiment, settings={"salt": shared, **experiment.settings})
    return folder, experiment if known is None else merge(known, experiment)


def _require_keys(settings: Mapping[str, Settings]) -> None:
    """Raise UsageError for a model whose key is missing."""
    named = {text for each in settings.values() for texts in models_of(each).values() for text in texts}
    for text in sorted(named):
        for spec in parse_specs(text):
            key_of(spec, os.environ)
