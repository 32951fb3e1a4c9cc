"""A second parent of crossovers from the front: the best programs of single episodes of the search."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum

from ...core.events import Propose
from ...core.programs.program_text import digest
from ...core.values import CandidateState, Operator
from ..branch import is_sound
from ..branches.climb import Chain
from ..part import Rejudged
from ..state import Search
from .partners import Partners


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """The best program of each episode, each program once; empty before the first candidate."""

    programs: tuple[CandidateState, ...] = ()


class FrontPartners(Partners):
    """Where both branches end with one program, the second parent is that of the front which adds most to it.

    Else it is the `inner` partners' one. Which programs racing prunes depends on the order of arrival, so a search with
    a front does not race.
    """

    def __init__(self, inner: Partners) -> None:
        super().__init__(inner.branches)
        self._inner = inner

    def at_start(self, search: Search) -> Search:
        """No candidate was evaluated yet."""
        return self._inner.at_start(search).with_slice(Front())

    def at_generation(self, search: Search) -> Search:
        """As the inner partners."""
        return self._inner.at_generation(search)

    def at_candidate(self, search: Search, one: CandidateState) -> Search:
        """It may be the best in an episode."""
        return search.with_slice(Front(programs=front_with(search, search.slice(Front).programs, one)))

    def at_end(self, search: Search, found: Sequence[CandidateState]) -> Search:
        """As the inner partners."""
        return self._inner.at_end(search, found)

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """By all that is remembered."""
        search = self._inner.at_move(search, rejudged)
        if not search.slice(Front).programs:
            return search
        return search.with_slice(Front(programs=front_with(search, rejudged.archive, search.elite)))

    def second(self, search: Search) -> CandidateState:
        """The program of the front that would add most to C^hc: the greatest sum of what its f_e are higher."""
        first = search.slice(Chain).current
        if digest(self.usual(search).program) != digest(first.program):
            return self._inner.second(search)

        def adds(one: CandidateState) -> float:
            pairs = zip(one.scores, first.scores, strict=True)
            return fsum(max(0.0, new.fitness - old.fitness) for new, old in pairs)

        others = [one for one in search.slice(Front).programs if digest(one.program) != digest(first.program)]
        found = max(others, key=lambda one: (adds(one), one.fitness, -one.generation, one.id), default=None)
        return self._inner.second(search) if found is None else found

    def show(self, search: Search, order: Propose) -> Propose:
        """Whether the second parent is of the front, and neither the elite nor the result of a branch."""
        order = self._inner.show(search, order)
        if order.operator is not Operator.CROSSOVER:
            return order
        usual, second = {one.id for one in (*self.results(search), search.elite)}, order.parents[1].id
        known = any(one.id == second for one in search.slice(Front).programs)
        return replace(order, from_front=second not in usual and known)


def front_with(
    search: Search, front: Sequence[CandidateState], found: CandidateState
) -> tuple[CandidateState, ...]:
    """The best program of each episode, each program once, after one more was evaluated.

    Of equal f_e the fitter program is the better one, then the earlier one, so the order of arrival does not matter.
    Programs that were rolled out on other episodes than the elite are left out.
    """
    episodes = range(len(search.elite.scores))
    sound = [one for one in (*front, search.elite, found) if is_sound(one) and len(one.scores) == len(episodes)]
    best = [
        min(sound, key=lambda one: (-one.scores[place].fitness, -one.fitness, one.generation, one.id))
        for place in episodes
    ]
    return tuple({one.id: one for one in best}.values())
