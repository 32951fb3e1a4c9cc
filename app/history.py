"""The state of a resumed run from its log. The log is read fact by fact, and the facts do not stay in memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..core.errors import RolloutError, StoreError, UsageError, first_of
from ..core.events import RULES, EnvironmentRemembered, RunResumed, RunStarted, RunStopped, StageEntered
from ..core.text import one_line
from ..domains import is_shipped
from ..memory.run_status import RunStatus
from ..memory.store import Entry, RunStore
from ..models.budget import PastSpending
from ..settings import Settings, settings_in

MOST_WORDS: Final = 1_000   # characters of a sentence
OUTLINED: Final = (RunStarted, RunResumed, RunStopped, StageEntered, EnvironmentRemembered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A run according to the facts of its controllers: its inputs, and how the last session ended."""

    started: RunStarted
    settings: Settings      # with the budgets of the last session
    done: bool
    left: str | None        # why the last session ended, if it ended cleanly
    remembers: bool = False     # its environment keeps something of earlier episodes


def outline_of(store: RunStore) -> Outline:
    """The outline of the run in `store`. Raises StoreError for a run that was killed before its first fact."""
    facts = tuple(store.facts(only=OUTLINED))  # few, with their texts
    started = next((fact for fact in facts if isinstance(fact, RunStarted)), None)
    settings = settings_in(facts)
    if started is None or settings is None:
        raise StoreError(
            f"the run {store.folder.name!r} was killed before its first fact: start it again with memento run"
        )
    marks = [fact for fact in facts if isinstance(fact, RunStopped | RunResumed)]
    return Outline(
        started=started,
        settings=settings,
        done=any(isinstance(fact, StageEntered) and fact.stage == "done" for fact in facts),
        left=marks[-1].reason if marks and isinstance(marks[-1], RunStopped) else None,
        remembers=any(isinstance(fact, EnvironmentRemembered) and fact.alone for fact in facts),
    )


def require_same_rules(started: RunStarted, place: Path, what: str) -> None:
    """Raises UsageError for a run whose keepers decided by other rules than those of this version.

    `what` is what cannot be done, such as "resumed".
    """
    if started.rules != RULES:
        raise UsageError(
            f"the run {place.name!r} was made by another version of MEMENTO, whose search decides otherwise (rules "
            f"{started.rules}, here {RULES}): it can be shown and reported, but not {what}; use the version that made "
            "it"
        )


def place_for(domain: str) -> dict[str, str]:
    """From where a run takes a domain that is not ours: the working folder, and PYTHONPATH with absolute folders."""
    if is_shipped(domain):
        return {}
    path = [str(Path(each).absolute()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    return {"folder": str(Path.cwd()), "PYTHONPATH": os.pathsep.join(path)}


@contextmanager
def naming_its_place(started: RunStarted) -> Iterator[None]:
    """Where a domain fails that the run took from elsewhere, the sentence says from where."""
    try:
        yield
    except (UsageError, RolloutError, BaseExceptionGroup) as found:
        error = first_of(found, UsageError) or first_of(found, RolloutError)
        place = started.place
        if error is None or not place or place == place_for(str(started.settings["domain"])):
            raise
        path = f" and PYTHONPATH={place['PYTHONPATH']}" if place.get("PYTHONPATH") else ""
        raise type(error)(one_line(f"{error}; the run began in the folder {place.get('folder')}{path}: continue it "
                                   "from there", MOST_WORDS)) from found


class PastUse:
    """The status of a run at the end of its last session, and the usage of its model calls by role."""

    def __init__(self) -> None:
        self.spending = PastSpending()
        self.status = RunStatus()

    def apply(self, entry: Entry) -> None:
        """Apply the next fact of the log."""
        self.spending.apply(entry.fact)
        self.status.apply(entry.fact, entry.at)


def past_use(store: RunStore) -> PastUse:
    """The status and usage after all sessions so far."""
    use = PastUse()
    for entry in store.facts_after(0, texts=False):
        use.apply(entry)
    return use
