"""The view of a run, from its facts: its status (`RunStatus`) and the outcome of every order (`Slots`).

Every display, `memento show`, the results and the reports read a run through this fold. It is pure; every prefix
of a log gives a consistent view, and reading a log in pieces gives the same view as reading it at once.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..core.events import BranchEnded, EliteChanged, Fact
from ..core.values import Rejection
from .quality import Quality, quality_of
from .run_status import Dated, RunStatus
from .slots import Slots


@dataclass(slots=True, kw_only=True)
class RunView:
    """A run up to the last fact that was read."""

    status: RunStatus = field(default_factory=RunStatus)
    slots: Slots = field(default_factory=Slots)

    def apply(self, fact: Fact, at: float) -> None:
        """Add a fact that was committed at this time (seconds since the epoch)."""
        self.status.apply(fact, at)
        self.slots.apply(fact, at)

    def copy(self) -> "RunView":
        """A copy of the current view for another thread; later facts do not change it."""
        return RunView(status=self.status.copy(), slots=self.slots.copy())


    @property
    def quality(self) -> Quality | None:
        """What the run states of its elite; None before the first one."""
        return quality_of_elite(self.status, self.slots, self.status.elite)

    @property
    def initial_quality(self) -> Quality | None:
        """What the run states of p_0; None before it."""
        return quality_of_elite(self.status, self.slots, self.status.first_elite)


def quality_in(status: RunStatus, slots: Slots, candidate: str) -> Quality | None:
    """What a run states of a candidate; None if it has no F."""
    slot = slots.get(candidate)
    if slot is None or slot.fitness is None:
        return None
    searched = status.number("n_roll") + status.joined
    return quality_of(slot.fitness, slot.success_rate, searched, slots.seen.get(candidate))


def quality_of_elite(status: RunStatus, slots: Slots, elite: EliteChanged | None) -> Quality | None:
    """What a run states of an elite; None without one."""
    return None if elite is None else quality_in(status, slots, elite.candidate)


def view_of(entries: Iterable[Dated]) -> RunView:
    """The view after all these facts."""
    view = RunView()
    for entry in entries:
        view.apply(entry.fact, entry.at)
    return view


def view_of_facts(facts: Iterable[Fact]) -> RunView:
    """The view after all these facts, without their times."""
    view = RunView()
    for fact in facts:
        view.apply(fact, 0.0)
    return view


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRow:
    """One point of the curve: the elite C_g, and the results of the generation's slots."""

    elite: EliteChanged
    branches: tuple[BranchEnded, ...] = ()
    candidates: int = 0
    failed: int = 0
    stopped: int = 0    # at the gate
    accepted: int = 0
    rejected: int = 0
    joined: int = 0     # starts that joined the search after it, with which the elite's F is


def list_generations(slots: Slots) -> list[GenerationRow]:
    """The curve of the search: one row per finished generation, generation 0 (p_0) first."""
    counts: dict[int, Counter[str]] = {}
    for slot in slots.candidates.values():
        if slot.generation and slot.settled:
            count = counts.setdefault(slot.generation, Counter())
            count["candidates"] += 1
            count["failed"] += slot.state == "failed"
            count["stopped"] += slot.state == "stopped"
            count["accepted"] += slot.accepted is True
            count["rejected"] += slot.accepted is False
    branches: dict[int, list[BranchEnded]] = {}
    for branch in slots.branches:
        branches.setdefault(branch.generation, []).append(branch)
    elites = {elite.generation: elite for elite in slots.elites}
    return [
        GenerationRow(
            elite=elite, branches=tuple(branches.get(number, ())), joined=slots.joined.get(number, 0),
            **counts.get(number, Counter()),
        )
        for number, elite in sorted(elites.items())
    ]


def gain_of(elite: EliteChanged, before: EliteChanged | None, joined: Iterable[int] = ()) -> float | None:
    """How much fitter an elite is than an earlier one; None without one, or where their F cannot be compared.

    That is where their evaluators differ, or where starts joined the search after one of the generations `joined`,
    which the later elite has and the earlier one has not.
    """
    alike = before is not None and before.version == elite.version and not any(
        before.generation < generation <= elite.generation for generation in joined
    )
    return elite.fitness - before.fitness if before is not None and alike else None


def list_rejections(slots: Slots) -> dict[int, tuple[Rejection, ...]]:
    """The rejection memory H of each generation's climb, oldest first."""
    memory: dict[int, list[Rejection]] = {}
    for entry in slots.memory:
        memory.setdefault(entry.generation, []).append(entry.rejection)
    return {generation: tuple(rejections) for generation, rejections in memory.items()}


def sources_of(slots: Slots, candidate: str) -> tuple[str, ...]:
    """The candidates whose rollouts a duplicate may have reused, the first of them first."""
    found: list[str] = []
    slot = slots.get(candidate)
    while slot is not None and slot.same_as is not None and slot.same_as not in found:
        found.insert(0, slot.same_as)
        slot = slots.get(slot.same_as)
    return tuple(found)
