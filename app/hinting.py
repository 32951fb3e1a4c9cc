"""Which runs a hint can have an effect on."""

from pathlib import Path

from ..core.errors import UsageError
from ..runtime.models.spec import parse_specs
from .history import Outline


def refuse_without_effect(outline: Outline, folder: Path) -> None:
    """Raises UsageError for a run whose prompts would quote no further hint, or whose model reads no prompt."""
    settings = outline.settings
    if outline.done:
        raise UsageError(f"the run {folder.name!r} is done: a hint has no effect any more")
    if settings.replay is not None:
        raise UsageError(f"the run {folder.name!r} is a replay, which calls no model: a hint has no effect")
    if all(spec.scheme == "offline" for spec in parse_specs(settings.model)):
        raise UsageError(f"the run {folder.name!r} uses the offline model, which reads no prompt: a hint has no effect")
