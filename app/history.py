"""The state of a resumed run from its log. The log is read fact by fact, and the facts do not stay in memory."""

from dataclasses import dataclass
from pathlib import Path

from ..core.errors import StoreError, UsageError
from ..core.events import RULES, RunResumed, RunStarted, RunStopped, StageEntered
from ..memory.run_status import RunStatus
from ..memory.store import Entry, RunStore
from ..models.budget import PastSpending
from ..settings import Settings, settings_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A run according to the facts of its controllers: its inputs, and how the last session ended."""

    started: RunStarted
    settings: Settings      # with the budgets of the last session
    done: bool
    left: str | None        # why the last session ended, if it ended cleanly


def outline_of(store: RunStore) -> Outline:
    """The outline of the run in `store`. Raises StoreError for a run that was killed before its first fact."""
    facts = tuple(store.facts(only=(RunStarted, RunResumed, RunStopped, StageEntered)))  # few, with their texts
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
