"""REvolve, adapted to policies: islands of programs, bred by crossover and macro-mutation, some reset now and then.

The rules of the islands are in `islands`; this module applies them to the seeds, slots and facts of a run.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...core.events import PopulationChanged
from ...core.seeds import derive_seed
from ...core.values import Candidate, Operator
from .islands import RESET_CHANCE, Draw, Island, Mating, admit, deal, mate, members, reset, settle_islands
from .outcomes import branch_ended
from .rounds import Request, Selection, fitter, of_operator
from .selection import best_of
from .trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Revolve:
    """The rule of REvolve. The population is the islands; it does not change within a generation.

    Draws come from the run's seed, the generation and the slot, so that they do not depend on the order of arrival.
    """

    candidates: int
    seed: int

    def found(self, initial: Candidate) -> tuple[Island, ...]:
        """p_0 on every island."""
        return settle_islands(initial)

    def ask(self, generation: int, population: tuple[Island, ...]) -> tuple[Request, ...]:
        """A crossover or a macro-mutation for each slot."""
        return tuple(
            Request(
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
        elite: Candidate,
        candidates: tuple[Candidate, ...],
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

    def keep(self, selection: Selection[tuple[Island, ...]], elite: Candidate) -> Selection[tuple[Island, ...]]:
        """The islands stay as they are; they use the fitness on the search's episodes."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: Candidate | None, elite: Candidate) -> bool:
        """Always false: the islands use every fitness."""
        return False

    def _draws(self, generation: int, what: int | str) -> Draw:
        return random.Random(derive_seed(self.seed, "revolve", generation, what)).random
