"""Breeds programs that an evaluator likes although they never succeed, for an audit.

A plain evolution: the parents of the next program are drawn from the fittest unsuccessful programs so far, and the
offline mutator edits or recombines them. A program is determined by the seed, its number and the programs judged
before its batch, so the number of workers has no effect.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..core.audits import BRED, AuditedProgram
from ..core.events import Propose
from ..core.ports import Domain, Shelf, shelf_of
from ..core.programs.program_text import digest
from ..core.seeds import derive_seed
from ..core.values import JSON, CandidateState, Operator, Program
from ..models.offline.edits import Workshop, first_class
from ..models.offline.proposer import propose

BATCH: Final = 8        # programs made of the same parents' pool, whatever the number of workers
PARENTS: Final = 12     # the fittest unsuccessful programs
TRIES: Final = 20       # for a program that was not judged before
FRESH: Final = 0.15     # of programs: every part drawn at random
CROSSED: Final = 0.25
LARGE: Final = 0.25     # macro-mutations; the rest are small edits


class Breeder:
    """Makes the programs of an audit, one batch after the other."""

    def __init__(self, shelf: Shelf | None, founders: Sequence[AuditedProgram], *, seed: int) -> None:
        """`founders` are programs that were judged already; without a shelf their numbers are what can be changed."""
        self._judged = [each for each in founders if each.text is not None]
        self._seed = seed
        self._number = 0
        self._known = {digest(Program(each.text)) for each in self._judged if each.text is not None}
        self._fresh = shelf is not None
        if shelf is None and self._judged:
            frame = f"class {first_class(self._judged[0].text or '')}:\n    pass\n"
            shelf = Shelf(initial=Program(frame), parts=(), evaluators=())
        self._workshop = None if shelf is None else Workshop(shelf)

    def batch(self, most: int) -> tuple[tuple[str, str], ...]:
        """Names and texts of at most `most` new programs, fewer or none where no new ones can be made."""
        made = []
        for _ in range(min(most, BATCH)):
            text = self._program()
            if text is None:
                break
            self._number += 1
            made.append((f"{BRED}-{self._number}", text))
        return tuple(made)

    def take(self, programs: Sequence[AuditedProgram]) -> None:
        """Take the results of a batch."""
        self._judged += programs

    def _program(self) -> str | None:
        for attempt in range(TRIES):
            rng = random.Random(derive_seed(self._seed, "audit", self._number, attempt))
            text = self._proposal(rng)
            known = None if text is None else digest(Program(text))
            if text is not None and known is not None and known not in self._known:
                self._known.add(known)
                return text
        return None

    def _proposal(self, rng: random.Random) -> str | None:
        """The text of one program; None where the mutator cannot edit what was drawn."""
        if self._workshop is None:
            return None
        parents = self._parents(rng)
        draw = rng.random()
        if not parents and not self._fresh:
            return None
        if not parents or (self._fresh and draw < FRESH):
            operator, parents = Operator.INITIAL, ()
        elif draw < FRESH + CROSSED and len(parents) > 1:
            operator = Operator.CROSSOVER
        else:
            operator = Operator.MACRO if draw < FRESH + CROSSED + LARGE else Operator.HILL_CLIMB
            parents = parents[:1]
        order = Propose(
            id=f"audit/{self._number}", operator=operator, generation=0, slot=self._number + 1, parents=parents
        )
        try:
            return propose(order, self._workshop, rng, attempt=0)[0]
        except SyntaxError:
            return None

    def _parents(self, rng: random.Random) -> tuple[CandidateState, ...]:
        """Two different programs, each the better of two drawn from the fittest; fewer if there are no more."""
        best = sorted((each for each in self._judged if each.counts), key=lambda each: -each.fitness)[:PARENTS]
        chosen: list[CandidateState] = []
        while best and len(chosen) < 2:
            each = best.pop(min(rng.randrange(len(best)), rng.randrange(len(best))))
            assert each.text is not None
            chosen.append(CandidateState(
                id=each.name, program=Program(each.text), operator=Operator.INITIAL, generation=0, slot=0,
                fitness=each.fitness, metrics={},
            ))
        return tuple(chosen)


def breeder_for(
    domain: Domain, options: Mapping[str, JSON]
) -> Callable[[Sequence[AuditedProgram], int], Breeder]:
    """What makes a breeder of programs for this domain from its founders and a seed."""
    return lambda founders, seed: Breeder(shelf_of(domain, options), founders, seed=seed)
