"""REvolve, adapted to policies: islands of programs, bred by crossover and macro-mutation, some reset now and then.

The rules of the islands are in `islands`; this module applies them to the seeds, slots and facts of a run.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

from ..core.events import PopulationChanged
from ..core.seeds import derive_seed
from ..core.values import CandidateState, Operator
from .branch import best_of
from .outcomes import branch_ended
from .rounds import Selection, SlotRequest, fitter, of_operator
from .trials import Trial

# Islands of programs: how REvolve draws parents, admits children and resets islands. Pure; draws are arguments.
#
# A draw is a number in [0, 1) that the caller derives from the seed, so that every rule can be tested separately.


ISLANDS = 4
CAPACITY = 8  # maximum number of programs on an island
TEMPERATURE = 1.0  # of every softmax
CROSSOVER_SHARE = 0.5  # of the proposals; the rest are macro-mutations
RESET_CHANCE = 0.3  # probability that a generation ends with a reset

Island: TypeAlias = tuple[CandidateState, ...]
"""Programs with their fitness, in order of arrival."""

Draw: TypeAlias = Callable[[], float]
"""The next number in [0, 1) of a stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mating:
    """The request of one slot: a child for `island`, by crossover of two parents or macro-mutation of one."""

    island: int
    parents: tuple[CandidateState, ...]


def settle_islands(initial: CandidateState) -> tuple[Island, ...]:
    """Generation 0: the initial program on every island."""
    return ((initial,),) * ISLANDS


def deal(initial: CandidateState, slots: int) -> tuple[Mating, ...]:
    """Generation 1: macro-mutations of the initial program, assigned to the islands in turn."""
    return tuple(Mating(island=slot % ISLANDS, parents=(initial,)) for slot in range(slots))


def mate(islands: Sequence[Island], draw: Draw) -> Mating:
    """One slot of a later generation: an island by softmax of mean fitness, then its parents.

    A crossover takes two different programs of the island; an island with only one is mutated instead.
    """
    island = pick(softmax([mean_fitness(island) for island in islands]), draw())
    crossing = draw() < CROSSOVER_SHARE and len(islands[island]) > 1
    return Mating(island=island, parents=tuple(parents_of(islands[island], 2 if crossing else 1, draw)))


def parents_of(island: Island, count: int, draw: Draw) -> Iterator[CandidateState]:
    """`count` different programs of an island, drawn one after the other by softmax of fitness."""
    left = list(island)
    for _ in range(count):
        yield left.pop(pick(softmax([one.fitness for one in left]), draw()))


def admit(island: Island, children: Sequence[CandidateState]) -> Island:
    """The island with those children that are at least as fit as its mean was before any of them was added.

    A child that failed is not admitted. Above the capacity the least fit are removed, among equals the oldest.
    """
    least = mean_fitness(island)
    members = [*island, *(child for child in children if child.fault is None and child.fitness >= least)]
    while len(members) > CAPACITY:
        members.remove(min(members, key=lambda one: one.fitness))  # the first of equals, which is the oldest
    return tuple(members)


def reset(islands: Sequence[Island], draw: Draw) -> tuple[tuple[Island, ...], tuple[int, ...]]:
    """Reset the weaker half of the islands by mean fitness (among equals the later one is weaker).

    A reset island keeps its best program and receives one program of a surviving island: neither that island's best
    nor a copy of the program it keeps, drawn by softmax of fitness. The surviving island is drawn uniformly among
    those with such a program. Returns the islands and the indices of the reset ones.
    """
    ranked = sorted(range(len(islands)), key=lambda place: (-mean_fitness(islands[place]), place))
    surviving = sorted(ranked[: len(islands) - len(islands) // 2])
    weak = tuple(sorted(ranked[len(surviving) :]))
    renewed = list(islands)
    for place in weak:
        own = best_of_island(islands[place])
        others = [tuple(one for one in without_best(islands[source]) if one.id != own.id) for source in surviving]
        sources = [programs for programs in others if programs]
        guests: tuple[CandidateState, ...] = ()
        if sources:
            source = sources[pick([1 / len(sources)] * len(sources), draw())]
            guests = tuple(parents_of(source, 1, draw))
        renewed[place] = (own, *guests)
    return tuple(renewed), weak


def best_of_island(island: Island) -> CandidateState:
    """The fittest program; among equals the newest."""
    return max(reversed(island), key=lambda one: one.fitness)


def without_best(island: Island) -> Island:
    """The others."""
    best = best_of_island(island)
    return tuple(one for one in island if one is not best)


def mean_fitness(island: Island) -> float:
    """The mean of the members' fitness."""
    return math.fsum(one.fitness for one in island) / len(island)


def softmax(values: Sequence[float], temperature: float = TEMPERATURE) -> list[float]:
    """Probabilities proportional to exp(value / temperature)."""
    most = max(values)
    weights = [math.exp((value - most) / temperature) for value in values]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def pick(probabilities: Sequence[float], number: float) -> int:
    """The index into `probabilities` on which a number in [0, 1) falls: the inverse of the cumulative sum."""
    for place, reach in enumerate(accumulate(probabilities)):
        if number < reach:
            return place
    return len(probabilities) - 1  # rounding: the probabilities may sum to slightly less than 1


def members(islands: Sequence[Island]) -> tuple[tuple[str, ...], ...]:
    """The ids of the programs on each island."""
    return tuple(tuple(one.id for one in island) for island in islands)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revolve:
    """The rule of REvolve. The population is the islands; it does not change within a generation.

    Draws come from the run's seed, the generation and the slot, so that they do not depend on the order of arrival.
    """

    candidates: int
    seed: int

    def found(self, initial: CandidateState) -> tuple[Island, ...]:
        """p_0 on every island."""
        return settle_islands(initial)

    def ask(self, generation: int, population: tuple[Island, ...]) -> tuple[SlotRequest, ...]:
        """A crossover or a macro-mutation for each slot."""
        return tuple(
            SlotRequest(
                operator=Operator.CROSSOVER if len(mating.parents) > 1 else Operator.MACRO,
                parents=mating.parents,
            )
            for mating in self.matings(generation, population)
        )

    def matings(self, generation: int, population: Sequence[Island]) -> tuple[Mating, ...]:
        """The island and the parents of each slot."""
        if generation == 1:
            (initial,) = population[0]
            return deal(initial, self.candidates)
        return tuple(mate(population, self._draws(generation, slot)) for slot in range(self.candidates))

    def select(
        self,
        generation: int,
        population: tuple[Island, ...],
        elite: CandidateState,
        candidates: tuple[CandidateState, ...],
    ) -> Selection[tuple[Island, ...]]:
        """The children join their islands, which may be reset. The elite is the best program so far on any island."""
        matings = self.matings(generation, population)
        islands = tuple(
            admit(island, [child for child in candidates if matings[child.slot].island == place])
            for place, island in enumerate(population)
        )
        draw = self._draws(generation, "reset")
        weak: tuple[int, ...] = ()
        if draw() < RESET_CHANCE:
            islands, weak = reset(islands, draw)
        branches = [
            branch_ended(generation, operator, best_of(children))
            for operator in (Operator.MACRO, Operator.CROSSOVER)
            if (children := of_operator(candidates, operator))
        ]
        changed = PopulationChanged(generation=generation, islands=members(islands), reset=weak)
        return Selection(population=islands, elite=fitter(candidates, elite), facts=(*branches, changed))

    def keep(self, selection: Selection[tuple[Island, ...]], elite: CandidateState) -> Selection[tuple[Island, ...]]:
        """The islands stay as they are; they use the fitness on the search's episodes."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Always false: the islands use every fitness."""
        return False

    def _draws(self, generation: int, what: int | str) -> Draw:
        return random.Random(derive_seed(self.seed, "revolve", generation, what)).random
