"""A branch of a generation: which programs it asks for, and which of them is its result."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ..core.events import Fact, ProposalFailed, ProposalMade, Propose
from ..core.keeper import Decision
from ..core.order_ids import slot_of
from ..core.values import CandidateState, Operator
from .part import Part
from .state import Search
from .trials import Trial, bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The slots of a branch that a budget of episodes does not deal by candidates, and the episodes set aside for it.
    """

    slots: int
    episodes: int


class Engine(Protocol):
    """What a branch asks of the keeper that runs it."""

    def propose(self, search: Search, branch: "Branch", slot: int) -> Propose:
        """The order for a slot, with all that the parts of the method show in its prompt."""

    def request(self, search: Search, branch: "Branch", slots: Iterable[int]) -> Decision[Search]:
        """Ask for the proposals of these slots."""

    def attempt(self, search: Search, slot: str, fact: ProposalMade | ProposalFailed) -> Decision[Search]:
        """Start the trial of the proposal for a slot, or spend the slot if there is no program."""

    def settle(self, search: Search, one: CandidateState) -> Decision[Search]:
        """Spend the slot of a candidate, and go on."""

    def leader(self, search: Search) -> CandidateState:
        """The program that would end the generation as its best, if it ended now."""

    def spend(self, search: Search, one: CandidateState) -> Decision[Search]:
        """Spend the slot of a candidate, without going on: what else the branch begins comes first."""


class Branch(Part):
    """A branch whose proposals are requested together; the fittest that reaches the elite is its result.

    It begins when the branches that it `follows` have their results. `count` is the number of its slots in a
    generation; a budget of episodes may leave fewer. Its result `wins_ties` with the old elite.
    """

    operator: ClassVar[Operator]
    wins_ties: ClassVar[bool] = True

    def __init__(self, count: int, *, follows: Sequence["Branch"] = ()) -> None:
        self.count = count
        self.follows = tuple(follows)

    def reservation(self, search: Search) -> Reservation | None:
        """What is set aside before slots are dealt; None for a branch whose slots are dealt by candidates."""
        return None

    def is_due(self, search: Search) -> bool:
        """Whether the branch has something to begin."""
        return self.operator not in search.begun and all(each.has_result(search) for each in self.follows)

    def has_result(self, search: Search) -> bool:
        """Whether branches that follow may begin: all slots are spent."""
        return search.is_spent(self.operator)

    def begin(self, search: Search, engine: Engine) -> Decision[Search]:
        """What the branch begins with."""
        return engine.request(search, self, range(len(search.slots[self.operator])))

    def parents(self, search: Search) -> tuple[CandidateState, ...]:
        """The parents of its next proposal."""
        return (search.elite,)

    def answer(self, search: Search, fact: Fact, engine: Engine) -> Decision[Search]:
        """The decision after the answer to a request."""
        if not isinstance(fact, ProposalMade | ProposalFailed) or fact.order is None:
            return Decision(state=search)
        return engine.attempt(search, slot_of(fact.order), fact)

    def take(self, search: Search, one: CandidateState) -> tuple[Search, tuple[Fact, ...]]:
        """The state after a candidate spent a slot, and what is concluded from it."""
        return search, ()

    def go_on(self, search: Search, engine: Engine) -> Decision[Search]:
        """What follows a spent slot while others are open."""
        return Decision(state=search)

    def result(self, search: Search) -> CandidateState | None:
        """The fittest of the elite and its candidates; a candidate wins a tie. Racing may prune any other."""
        best = best_of(search.slots.get(self.operator, ()))
        return best if best is not None and best.fitness >= search.elite.fitness else search.elite

    def candidates(self, search: Search) -> tuple[CandidateState, ...]:
        """What it found, for what compares all programs of a generation."""
        return search.of(self.operator)

    def is_hopeless(self, search: Search, trial: Trial) -> bool:
        """Whether the rest of a trial cannot change the result."""
        most = bound(trial)
        return most < self.least(search) or falls_behind(trial, best_of(search.slots[self.operator]), most)

    def least(self, search: Search) -> float:
        """The F below which a candidate of it cannot matter."""
        return search.elite.fitness


def is_sound(one: CandidateState) -> bool:
    """Whether a candidate did not fail and was not pruned."""
    return one.fault is None and one.bound is None


def best_of(slots: Sequence[CandidateState | None]) -> CandidateState | None:
    """The fittest candidate that did not fail and was not pruned; the lowest slot wins a tie."""
    sound = [one for one in slots if one is not None and is_sound(one)]
    return max(sound, key=lambda one: (one.fitness, -one.slot), default=None)


def falls_behind(trial: Trial, leader: CandidateState | None, most: float) -> bool:
    """Whether a trial whose F is at most `most` cannot beat `leader`, the best of its branch so far.

    At equal fitness the lower slot wins.
    """
    return leader is not None and (leader.fitness, -leader.slot) > (most, -trial.slot)
