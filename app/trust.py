"""Trust in a run's folder: the question before a folder from elsewhere is used.

Without `--trust` its settings may do nothing of what they name."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..core.provenance import Provenance
from ..core.values import JSON
from ..core.variables import pass_also
from ..memory.origin import is_written_here
from ..settings import Settings, recorded_settings
from ..settings.effects import effects
from .budgets import models_of


def trusted_settings(
    folder: Path, begun: Mapping[str, JSON], settings: Settings, *, trusted: bool, models: bool
) -> Settings:
    """The settings in effect of the run or tape in `folder`, with their provenance; `begun` are those it began with.

    `models`: whether its models would be asked. Its simulators get the environment variables that it names. Raises
    UsageError where it is not from here and would import, start, contact or pass something.
    """
    own = is_written_here(folder, begun) and _without_budgets(settings) == _without_budgets(recorded_settings(begun))
    provenance = Provenance(place=f"the run {folder.name!r}", trusted=trusted or own)
    provenance.require(effects_of_run(settings, models=models))
    if provenance.trusted:
        pass_also(settings.env)
    return settings.from_there(provenance)


def effects_of_run(settings: Settings, *, models: bool) -> Iterator[str]:
    """What a run with these settings would import, start or contact, as ends of a sentence. `models`: contact too."""
    named = {text for texts in models_of(settings).values() for text in texts} if models else set()
    yield from effects(settings, models=named)


def _without_budgets(settings: Settings) -> dict[str, JSON]:
    """All settings that a resumed run cannot change."""
    return {key: value for key, value in settings.as_json().items() if not key.startswith("budget")}
