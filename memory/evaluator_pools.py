"""The course of evaluator evolution from the facts: each generation's pool, votes, choice, and the judges' record."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import fsum

from ..core.evaluator_choice import leading, open_to_votes
from ..core.events import EvaluatorChosen, EvaluatorHardened, EvaluatorMoved, EvaluatorPoolScored, Fact, VoteCast
from ..core.text import both, plural, share
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
    hardened: EvaluatorHardened | None = None  # what attacks on the chosen evaluator found
    moved: EvaluatorMoved | None = None  # whether the chosen one took the place of the evaluator in use

    @property
    def abstentions(self) -> int:
        """The number of judges without a usable answer."""
        return sum(vote.choice is None for vote in self.votes)

    @property
    def has_tests(self) -> bool:
        """Whether its valid evaluators were tested."""
        return any(entry.candidate.examination.tests is not None for entry in self.entries)

    @property
    def electable(self) -> tuple[int, ...]:
        """The slots that judges could vote for."""
        return tuple(each.slot for each in open_to_votes(entry.candidate for entry in self.entries))

    @property
    def leading(self) -> tuple[int, ...]:
        """The slots that lead in the tests, between which the votes decide; all open ones without tests."""
        return tuple(each.slot for each in leading(entry.candidate for entry in self.entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRecord:
    """How often one judge voted for an evaluator that leads in the tests, in the pools where the tests tell apart.

    `chance` is the number of such votes that blind choices would give on average.
    """

    seat: int
    votes: int
    agreed: int
    chance: float

    @property
    def below_chance(self) -> bool:
        """Whether blind choices would agree with the tests more often."""
        return self.agreed < self.chance


def list_judges(pools: Iterable[EvaluatorPool]) -> tuple[JudgeRecord, ...]:
    """The record of each judge by seat; abstentions do not count."""
    records: dict[int, JudgeRecord] = {}
    for pool in pools:
        ahead, voted = pool.leading, pool.electable
        if not pool.has_tests or len(ahead) == len(voted):
            continue
        for vote in pool.votes:
            if vote.choice is not None:
                one = records.get(vote.seat, JudgeRecord(seat=vote.seat, votes=0, agreed=0, chance=0.0))
                records[vote.seat] = replace(
                    one, votes=one.votes + 1, agreed=one.agreed + (vote.choice in ahead),
                    chance=one.chance + len(ahead) / len(voted),
                )
    return tuple(records[seat] for seat in sorted(records))


def list_pools(facts: Iterable[Fact]) -> tuple[EvaluatorPool, ...]:
    """The pools by generation. A given evaluator appears as a generation 0 with a choice but no entries."""
    pools: dict[int, EvaluatorPool] = {}
    latest = 0

    def pool_of(generation: int) -> EvaluatorPool:
        return pools.get(generation, EvaluatorPool(generation=generation))

    for fact in facts:
        match fact:
            case EvaluatorPoolScored():
                entries = tuple(_entry(candidate) for candidate in fact.pool)
                pools[fact.generation] = replace(pool_of(fact.generation), entries=entries)
                latest = fact.generation
            case VoteCast():
                pool = pool_of(fact.generation)
                votes = sorted((*pool.votes, fact), key=lambda vote: vote.seat)
                pools[fact.generation] = replace(pool, votes=tuple(votes))
            case EvaluatorHardened():
                generation = fact.chosen.generation
                pools[generation] = replace(pool_of(generation), hardened=fact)
            case EvaluatorChosen():
                pool = pool_of(fact.generation)
                pools[fact.generation] = replace(pool, chosen=fact.chosen, final=fact.final)
            case EvaluatorMoved():  # of the last pool, even if that chose the evaluator in use again
                pools[latest] = replace(pool_of(latest), moved=fact)
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


def moved_words(fact: EvaluatorMoved) -> str:
    """Whether a successor took over, and how it ranked what is on record, in a line."""
    if not fact.moved:
        return f"stays at version {fact.version}: {fact.reason}"
    against = f", of {fact.compared} pairs of candidates {fact.against_before} -> {fact.against_after}"
    ranked = f"of {plural(fact.pairs, 'certain pair')} {fact.wrong_before} -> {fact.wrong_after} are ranked wrongly"
    return (
        f"version {fact.version}: {fact.chosen.id}; {ranked}{against if fact.compared else ''}; "
        f"{plural(fact.recordings, 'recording')} scored again"
    )


def hardened_words(fact: EvaluatorHardened) -> str:
    """What attacks found before and after the revisions, in a line."""
    revised = plural(fact.revised, "revision") if fact.revised else "no revision"
    return (
        f"exploits {both(fact.before.share, fact.after.share, share)} of the programs without success, in "
        f"{plural(fact.rounds, 'attack')} with {revised}; {fact.known} known"
    )
