"""When the gate stops a candidate: it fails on the twin, or is clearly below its parents there. Pure."""

from collections.abc import Sequence
from math import fsum

from ..core.events import TwinTried
from ..core.programs.program_text import MAX_FAULT
from ..core.text import one_line, plural
from .meetings.paired import sign_flip

CHANCE = 0.05  # how often chance alone may make an equal program look as far below its parent
LEAST = 0.01  # a lower mean f_e than by this is no reason: the twin is not exact
FEWEST, MOST = 5, 12  # episodes: fewer can never be clear (2^-5 < CHANCE), more take too long to compare

Results = Sequence[TwinTried]
"""The episodes of a program on the twin, in the order of the common seeds."""


def why_stopped(own: Results, parents: Sequence[Results], twin: str) -> str:
    """Why a candidate is stopped; "" if it passes.

    It is stopped by a fault in an episode in which no parent has one, or if it is clearly below every parent.
    """
    return _fault(own, parents, twin) or _below(own, parents, twin)


def mean_of(results: Results) -> float | None:
    """The mean f_e of the episodes that the evaluator could score; None if it could score none."""
    scores = [each.fitness for each in results if each.fitness is not None]
    return fsum(scores) / len(scores) if scores else None


def clearly_below(own: Results, other: Results) -> bool:
    """Whether f_e is lower than the other program's by more than chance explains: an exact paired test.

    Episodes that the evaluator could not score are left out.
    """
    pairs = zip(own, other, strict=True)
    lower = [b.fitness - a.fitness for a, b in pairs if a.fitness is not None and b.fitness is not None]
    return bool(lower) and fsum(lower) / len(lower) >= LEAST and sign_flip(lower) <= CHANCE


def _fault(own: Results, parents: Sequence[Results], twin: str) -> str:
    new = [
        each.fault for index, each in enumerate(own)
        if each.fault is not None and not any(parent[index].fault is not None for parent in parents)
    ]
    if not new:
        return ""
    whose = "its parent's" if len(parents) == 1 else "its parents'"
    said = f"{len(new)} of {plural(len(own), 'episode')} on {twin} ended with a fault, where {whose} did not"
    return one_line(f"{said}: {new[0].kind}: {new[0].message}", MAX_FAULT)


def _below(own: Results, parents: Sequence[Results], twin: str) -> str:
    if not parents or not all(clearly_below(own, parent) for parent in parents):
        return ""
    others = " and ".join(_words(mean_of(parent)) for parent in parents)
    whose = "that of its parent is" if len(parents) == 1 else "those of its parents are"
    return f"F is {_words(mean_of(own))} on {twin}, where {whose} {others} ({plural(len(own), 'common episode')})"


def _words(fitness: float | None) -> str:
    return "unknown" if fitness is None else f"{fitness:.3f}"
