"""Plans `memento compare`: a new comparison, or an existing one, which may grow."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..app.budgets import models_of
from ..core.errors import UsageError
from ..core.seeds import new_salt
from ..core.values import JSON
from ..evidence.experiment import Experiment, load_experiment
from ..evidence.experiment_changes import with_flags
from ..evidence.folder import ComparisonFolder
from ..evidence.learned import check_learned
from ..evidence.plan import check, merge
from ..models.spec import key_of, parse_specs
from ..settings import Settings


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
    """A comparison that is ready to run: its folder, its experiment, and the settings of each run by job."""

    folder: ComparisonFolder
    experiment: Experiment
    settings: Mapping[str, Settings]


def plan(given: str | None, changes: Changes, *, runs_dir: Path, name: str | None) -> Planned:
    """The existing comparison `given`, or a new one from the experiment `given` or from flags alone.

    Raises UsageError for a comparison that cannot run, before anything is spent.
    """
    old = _existing(given, runs_dir)
    if old is not None and name is not None:
        raise UsageError(f"--name has no effect: {old.path} is a comparison, which keeps its name")
    folder, experiment = _new(given, changes, runs_dir, name) if old is None else (old, _grown(old, changes))
    settings = check(experiment)
    check_learned(experiment)
    _require_keys(settings)
    if not folder.exists and folder.path.exists() and any(folder.path.iterdir()):
        raise UsageError(f"{folder.path} exists and is not a comparison: choose another --name")
    return Planned(folder=folder, experiment=experiment, settings=settings)


def _existing(given: str | None, runs_dir: Path) -> ComparisonFolder | None:
    """The comparison of this name or path; None where there is none."""
    if not given:
        return None
    folders = (ComparisonFolder(path) for path in (Path(given), runs_dir / given))
    return next((folder for folder in folders if folder.exists), None)


def _grown(folder: ComparisonFolder, changes: Changes) -> Experiment:
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
