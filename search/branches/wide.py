"""A wide climb: some edits of the same current program are asked for at once, each asked to repair another loss.

A step of the climb is as many slots as it is wide. It is over when all of them are spent, so the order in which answers
arrive does not matter. The paper's climb has steps of one edit.
"""

from dataclasses import replace

from ...core.events import Fact, Propose
from ...core.keeper import Decision
from ...core.programs.program_text import digest
from ...core.seeds import derive_seed
from ...core.values import CandidateState, Focus
from ..branch import Engine, best_of
from ..parts.memory import CLIMB, Memory
from ..setting_groups import PartSettings, Positive
from ..state import Search
from .climb import HillClimb


class WidthSettings(PartSettings):
    """How wide a climb is."""

    climb_width: Positive = CLIMB.field(
        1, "edits of one program that a climb asks for at once; auto: by calls_at_once; 1 is the paper's"
    )


class WideClimb(HillClimb):
    """The fittest edit of a step is accepted if it is at least as fit as the current program; the others are rejected.
    """

    def __init__(self, count: int, memory: Memory, *, width: int, seed: int) -> None:
        super().__init__(count, memory)
        self._width, self._seed = width, seed

    def go_on(self, search: Search, engine: Engine) -> Decision[Search]:
        """The next step, once the last one is over."""
        spent, slots = len(search.of(self.operator)), len(search.slots[self.operator])
        if spent % self._width:
            return Decision(state=search)
        return engine.request(search, self, range(spent, min(spent + self._width, slots)))

    def show(self, search: Search, order: Propose) -> Propose:
        """The order with its place in the step; the only edit of a step has none."""
        step, place = divmod(order.slot, self._width)
        if order.operator is not self.operator:
            return order
        of = min(self._width, len(search.slots[self.operator]) - step * self._width)
        seed = derive_seed(self._seed, "climb", search.generation, step)
        return replace(order, focus=Focus(seed=seed, place=place, of=of)) if of > 1 else order

    def take(self, search: Search, one: CandidateState) -> tuple[Search, tuple[Fact, ...]]:
        """The verdicts on a step, after its last slot was spent: those on the others first, so that the memory has
        them as edits of the same program."""
        first = one.slot - one.slot % self._width
        step = search.slots[self.operator][first : first + self._width]
        if None in step:
            return search, ()
        best, facts = best_of(step), tuple[Fact, ...]()
        if best is not None and not self.accepts(search, best):
            best = None
        for other in step:
            if other is not None and other is not best:
                after, verdict = self.reject(search, other)
                search = search if _is_same(other, best) else after
                facts += verdict
        if best is not None:
            search, verdict = self.accept(search, best)
            facts += verdict
        return search, facts


def _is_same(other: CandidateState, best: CandidateState | None) -> bool:
    """Whether this is the program that is accepted: then no later prompt says that it was rejected."""
    return best is not None and digest(other.program) == digest(best.program)
