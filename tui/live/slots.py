"""A run as the live display shows it: the view of its facts, the slots at work, the workers. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from ...core.events import (
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EvaluatorExamined,
    Fact,
    ProposalFailed,
    ProposalMade,
    RunContinued,
    RunPaused,
    SpeculationEnded,
    StageEntered,
    VoteCast,
)
from ...core.order_ids import slot_of
from ..view import View, after


class Activity(Protocol):
    """What one worker does now: the rollout pool's own word for it, as far as it is shown."""

    @property
    def worker(self) -> int:
        """Its place, from 0."""

    @property
    def phase(self) -> str:
        """Such as "idle", "starting", "environment", "working"."""

    @property
    def doing(self) -> str | None:
        """Such as "roll", "score", "examine"."""

    @property
    def order(self) -> str | None:
        """What it is about."""

    @property
    def steps(self) -> int:
        """Of the episode so far."""


@dataclass(frozen=True, slots=True)
class Slot:
    """How far one proposal is.

    `state` is "asked", "proposed", "rolling", "scored", "accepted", "rejected", "cut", "failed" or "voted".
    """

    state: str
    rolled: int = 0
    fitness: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Everything on the screen. `slots` are those of the present generation or pool, by their order's id."""

    view: View = field(default_factory=View)
    slots: Mapping[str, Slot] = field(default_factory=dict)
    workers: Mapping[int, Activity] = field(default_factory=dict)
    curve: tuple[float, ...] = ()          # F of the elite, generation by generation
    paused: bool = False
    began_s: float = 0.0
    folder: Path | None = None


def heed(live: Live, fact: Fact, *, now_s: float) -> Live:
    """The screen once `fact` is known."""
    live = replace(live, view=after(live.view, fact, now_s=now_s))
    match fact:
        case RunPaused() | RunContinued():
            return replace(live, paused=isinstance(fact, RunPaused))
        case EliteChanged():
            # Slots of the next generation may be under way already, where they need not wait for the elite.
            over = f"g{fact.generation}/"
            later = {key: slot for key, slot in live.slots.items() if key[0] == "g" and not key.startswith(over)}
            return replace(live, curve=(*live.curve, fact.fitness), slots=later)
        case StageEntered():
            return replace(live, slots={})
        case ProposalMade(order=str(order)):
            return _put(live, slot_of(order), state="proposed")
        case ProposalFailed(order=str(order)):
            return _put(live, slot_of(order), state="failed")
        case SpeculationEnded(kept=False):
            return replace(live, slots={key: slot for key, slot in live.slots.items() if key != fact.slot})
        case EpisodeEnded(order=str(order)):
            owner = owner_of(order)
            return _put(live, owner, state="rolling", rolled=_slot(live, owner).rolled + 1)
        case EvaluatorExamined(order=str(order)):
            state = "scored" if fact.examination.valid else "failed"
            return _put(live, order.removesuffix("/examine"), state=state)
        case VoteCast(order=str(order)):
            return _put(live, order, state="failed" if fact.choice is None else "voted")
        case CandidateScored(candidate=candidate):
            if candidate.fault is not None:
                return _put(live, candidate.id, state="failed")
            state = "scored" if candidate.bound is None else "cut"
            return _put(live, candidate.id, state=state, fitness=candidate.fitness if state == "scored" else None)
        case CandidateAccepted(candidate=key):
            return _put(live, key, state="accepted")
        case CandidateRejected(candidate=key) if _slot(live, key).state == "scored":
            return _put(live, key, state="rejected")
    return live


def begun(live: Live, order: str) -> Live:
    """The screen once an agent took an order up."""
    parts = order.split("/")
    if parts[-1] in ("score", "examine"):
        return live
    if parts[-1].startswith("e") and parts[-1][1:].isdigit():
        owner = owner_of(order)
        return live if _slot(live, owner).state == "rolling" else _put(live, owner, state="rolling")
    if parts[0] == "eval" and not any(key.startswith(f"eval/{parts[1]}/") for key in live.slots):
        live = replace(live, slots={})     # the next pool
    return _put(live, slot_of(order), state="asked")


def seen(live: Live, activity: Activity) -> Live:
    """The screen once a worker does something else."""
    return replace(live, workers={**live.workers, activity.worker: activity})


def owner_of(order: str) -> str:
    """Whose episode it is: g1/macro/7 of g1/macro/7/e3."""
    return order.rpartition("/")[0]


def _slot(live: Live, key: str) -> Slot:
    return live.slots.get(key, Slot("asked"))


def _put(live: Live, key: str, *, state: str, rolled: int | None = None, fitness: float | None = None) -> Live:
    old = _slot(live, key)
    new = Slot(
        state, rolled=old.rolled if rolled is None else rolled, fitness=old.fitness if fitness is None else fitness
    )
    return replace(live, slots={**live.slots, key: new})
