"""A person's hints to a run: how one is given, and on which runs it can have an effect."""

import time
from pathlib import Path

from ..agents.hints import MAX_HINT
from ..core.errors import UsageError
from ..core.text import one_line
from ..memory.store import RunStore
from ..models.spec import parse_specs
from .history import Outline, outline_of
from .trust import HINT, hint_body


def give_hint(folder: Path, text: str) -> None:
    """Leave a hint in the store of a run. Raises UsageError for a text or a run with which it has no effect."""
    line = one_line(text, 8 * MAX_HINT)
    if not line:
        raise UsageError("the hint is empty: say in a sentence what proposers should know")
    if len(line) > MAX_HINT:
        raise UsageError(f"the hint has {len(line)} characters, and prompts quote at most {MAX_HINT}: shorten it")
    with RunStore.read(folder) as store:
        outline = outline_of(store)
        refuse_without_effect(outline, folder)
        store.request(HINT, hint_body(outline.started, line), at=time.time())


def check_hint(folder: Path) -> None:
    """Raises UsageError for a run on which no hint has an effect, before a person writes one."""
    with RunStore.read(folder) as store:
        refuse_without_effect(outline_of(store), folder)


def refuse_without_effect(outline: Outline, folder: Path) -> None:
    """Raises UsageError for a run whose prompts would quote no further hint, or whose model reads no prompt."""
    settings = outline.settings
    if outline.done:
        raise UsageError(f"the run {folder.name!r} is done: a hint has no effect any more")
    if settings.replay is not None:
        raise UsageError(f"the run {folder.name!r} is a replay, which calls no model: a hint has no effect")
    if all(spec.is_offline for spec in parse_specs(settings.model)):
        raise UsageError(f"the run {folder.name!r} uses the offline model, which reads no prompt: a hint has no effect")
