"""The course of evaluator evolution from the facts: each generation's pool, votes and choice."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum

from ..core.events import EvaluatorChosen, EvaluatorPoolScored, Fact, VoteCast
from ..core.values import EvaluatorCandidate


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolEntry:
    """One evaluator of a pool. `fitness` is its mean fitness on T_0; None if it is not valid."""

    candidate: EvaluatorCandidate
    fitness: float | None
    votes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorPool:
    """One generation of evaluator evolution. `chosen` is None until the judges have voted."""

    generation: int
    entries: tuple[PoolEntry, ...] = ()
    votes: tuple[VoteCast, ...] = ()  # by seat
    chosen: EvaluatorCandidate | None = None
    final: bool = False

    @property
    def abstentions(self) -> int:
        """The number of judges without a usable answer."""
        return sum(vote.choice is None for vote in self.votes)


def list_pools(facts: Iterable[Fact]) -> tuple[EvaluatorPool, ...]:
    """The pools by generation. A given evaluator appears as a generation 0 with a choice but no entries."""
    pools: dict[int, EvaluatorPool] = {}

    def pool_of(generation: int) -> EvaluatorPool:
        return pools.get(generation, EvaluatorPool(generation=generation))

    for fact in facts:
        match fact:
            case EvaluatorPoolScored():
                entries = tuple(_entry(candidate) for candidate in fact.pool)
                pools[fact.generation] = replace(pool_of(fact.generation), entries=entries)
            case VoteCast():
                pool = pool_of(fact.generation)
                votes = sorted((*pool.votes, fact), key=lambda vote: vote.seat)
                pools[fact.generation] = replace(pool, votes=tuple(votes))
            case EvaluatorChosen():
                pool = pool_of(fact.generation)
                pools[fact.generation] = replace(pool, chosen=fact.chosen, final=fact.final)
    return tuple(_count(pools[generation]) for generation in sorted(pools))


def _entry(candidate: EvaluatorCandidate) -> PoolEntry:
    scores = candidate.examination.scores
    valid = candidate.examination.valid and scores
    return PoolEntry(
        candidate=candidate, fitness=fsum(score.fitness for score in scores) / len(scores) if valid else None
    )


def _count(pool: EvaluatorPool) -> EvaluatorPool:
    choices = [vote.choice for vote in pool.votes]
    return replace(
        pool, entries=tuple(replace(entry, votes=choices.count(entry.candidate.slot)) for entry in pool.entries)
    )
