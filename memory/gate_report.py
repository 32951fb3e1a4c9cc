"""How often the gate was right: what it stopped, and how the twin's ranking agrees with F. Read from the slots."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.rank_correlation import rank_correlation
from .slots import Slot, Slots


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """The decisions of the gate on candidates, and what became of those that were rolled out in full."""

    tried: int  # candidates
    stopped: int  # of these, audited ones among them
    audited: int  # of the stopped ones, those that were rolled out in full as a check
    wrong: int  # of the audited ones, those that were as fit as their parent, or the less fit one of two
    undecided: int  # of the audited ones, those without an F: still open, or racing pruned them
    compared: int  # candidates with a mean on the twin and an F: those that passed, and audited ones
    correlation: float | None  # of their ranks


def gate_report(slots: Slots) -> GateReport | None:
    """The report on the gate of a run; None if it decided nothing."""
    decided = [slot for slot in slots.candidates.values() if slot.gate is not None]
    if not decided:
        return None
    audited = [slot for slot in decided if slot.gate is not None and slot.gate.audited]
    verdicts = [_was_wrong(slot, slots) for slot in audited]
    pairs = [*_pairs(decided)]
    return GateReport(
        tried=len(decided),
        stopped=sum(slot.gate is not None and not slot.gate.passed for slot in decided),
        audited=len(audited),
        wrong=sum(verdict is True for verdict in verdicts),
        undecided=sum(verdict is None for verdict in verdicts),
        compared=len(pairs),
        correlation=rank_correlation([twin for twin, _ in pairs], [fitness for _, fitness in pairs]),
    )


def _pairs(decided: Iterable[Slot]) -> Iterable[tuple[float, float]]:
    for slot in decided:
        if slot.gate is not None and slot.gate.fitness is not None and slot.fitness is not None:
            yield slot.gate.fitness, slot.fitness


def _was_wrong(slot: Slot, slots: Slots) -> bool | None:
    """Whether a stopped candidate was as fit as a parent of it; None if that is not known."""
    parents = [slots.get(name) for name in slot.parents]
    known = [parent.fitness for parent in parents if parent is not None and parent.fitness is not None]
    if not known or not slot.settled:
        return None
    if slot.fitness is not None:
        return slot.fitness >= min(known)
    return False if slot.bound is not None and slot.bound < min(known) else None
