"""A second parent of crossovers of another structure than the first, and such programs in prompts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...core.events import Propose
from ...core.figures import NOISE, figure_of
from ...core.programs.program_text import digest, structure
from ...core.values import CandidateState, Operator
from ..branch import Branch, is_sound
from ..branches.climb import Chain
from ..meetings.stream import with_record
from ..part import Rejudged
from ..state import Search
from .partners import Partners

NEAR = 0.9  # of the usual second parent's F: what a program of another structure must have to take its place
KEPT = 6  # programs of other structures that a search remembers


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStructures:
    """The fittest programs of other structures than the elite's, of earlier generations, the fittest first."""

    programs: tuple[CandidateState, ...] = ()


class VariedPartners(Partners):
    """Where one is nearly as fit, the second parent has another structure than C^hc, which does not descend from it.

    Else it is the usual one, unless that is the same program in other words. One that is better than C^hc in an episode
    comes before all others: there is nothing else to take from it. Where programs are `measured`, all macro-mutations
    and what earlier generations found take part. With `shows` prompts show these.
    """

    def __init__(self, branches: Sequence[Branch], *, measured: bool, shows: bool) -> None:
        super().__init__(branches)
        self._measured, self._shows = measured, shows

    def at_start(self, search: Search) -> Search:
        """None is known."""
        return super().at_start(search).with_slice(OtherStructures())

    def at_generation(self, search: Search) -> Search:
        """Those that can still be compared with the elite."""
        return _with_others(search, ())

    def at_end(self, search: Search, found: Sequence[CandidateState]) -> Search:
        """What the branches found may be such programs."""
        return _with_others(search, (search.elite, *found)) if self._measured else search

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """By the new evaluator."""
        known = search.slice(OtherStructures).programs
        return _with_others(search.with_slice(OtherStructures(programs=tuple(map(rejudged.of, known)))), ())

    def second(self, search: Search) -> CandidateState:
        """The fittest of another structure, else the usual one; of these the first that is better in an episode."""
        first, usual = search.slice(Chain).current, self.usual(search)
        found = [*self.results(search), search.elite]
        if self._measured:
            found += [*search.of(Operator.MACRO), *search.slice(OtherStructures).programs]
        ancestors = {ancestor.id for ancestor in first.lineage}
        apart = [
            one for one in found
            if is_sound(one) and one.id not in ancestors and structure(one.program) != structure(first.program)
            and one.fitness >= NEAR * usual.fitness
        ]
        apart.sort(key=lambda one: (-one.fitness, -one.generation, one.slot))
        words = (usual, *self.results(search), search.elite)
        ranked = [*apart, *(one for one in words if digest(one.program) != digest(first.program))]
        return next((one for one in ranked if is_better_somewhere(one, first)), ranked[0] if ranked else first)

    def show(self, search: Search, order: Propose) -> Propose:
        """Prompts show such programs, the best by all that was seen of them first."""
        known = search.slice(OtherStructures).programs if self._shows else ()
        seen = [with_record(one, search.records) for one in known if one.lineage]
        return replace(order, others=tuple(sorted(seen, key=lambda one: -figure_of(one).fitness)))


def is_better_somewhere(one: CandidateState, other: CandidateState) -> bool:
    """Whether a program has a notably higher f_e than another in an episode in which both are known."""
    return any(mine.fitness - its.fitness > NOISE for mine, its in zip(one.scores, other.scores, strict=False))


def _with_others(search: Search, found: Sequence[CandidateState]) -> Search:
    """Of each structure but the elite's the fittest program.

    Those that were rolled out on other episodes than the elite are forgotten, since their F cannot be compared.
    """
    known, episodes = search.slice(OtherStructures).programs, len(search.elite.episodes)
    sound = [one for one in (*found, *known) if is_sound(one) and len(one.episodes) == episodes]
    kept = {structure(search.elite.program): search.elite}
    for one in sorted(sound, key=lambda one: (-one.fitness, one.generation, one.id)):
        kept.setdefault(structure(one.program), one)
    return search.with_slice(OtherStructures(programs=tuple(kept.values())[1 : KEPT + 1]))
