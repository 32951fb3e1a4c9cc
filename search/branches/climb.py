"""The hill climb: a chain of micro-mutations, each of the last accepted program (paper, Algorithm 2, lines 3 to 11)."""

from dataclasses import dataclass

from ...core.events import CandidateAccepted, CandidateRejected, Fact
from ...core.faults import in_words
from ...core.keeper import Decision
from ...core.values import CandidateState, Operator, Rejection
from ..branch import Branch, Engine, is_sound
from ..part import Rejudged
from ..parts.memory import Memory
from ..state import Search
from ..trials import Trial, bound, is_same


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """C^hc, the last accepted program."""

    current: CandidateState


class HillClimb(Branch):
    """A proposal is accepted if its F is at least that of the current program; a rejected edit is remembered."""

    operator = Operator.HILL_CLIMB

    def __init__(self, count: int, memory: Memory) -> None:
        super().__init__(count)
        self.memory = memory

    def at_start(self, search: Search) -> Search:
        """C^hc is C_0."""
        return search.with_slice(Chain(current=search.elite))

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """The chain begins again from the elite."""
        return search.with_slice(Chain(current=search.elite))

    def begin(self, search: Search, engine: Engine) -> Decision[Search]:
        """The first edit, of the elite."""
        return self.go_on(search.with_slice(Chain(current=search.elite)), engine)

    def go_on(self, search: Search, engine: Engine) -> Decision[Search]:
        """One edit after the other."""
        slots = search.slots[self.operator]
        return engine.request(search, self, [slots.index(None)] if None in slots else [])

    def parents(self, search: Search) -> tuple[CandidateState, ...]:
        """The current program."""
        return (search.slice(Chain).current,)

    def accepts(self, search: Search, one: CandidateState) -> bool:
        """F(new) >= F(current), and it is another program."""
        current = search.slice(Chain).current
        return is_sound(one) and one.fitness >= current.fitness and not is_same(one, current)

    def take(self, search: Search, one: CandidateState) -> tuple[Search, tuple[Fact, ...]]:
        """Accept it, or remember its edit."""
        return self.accept(search, one) if self.accepts(search, one) else self.reject(search, one)

    def accept(self, search: Search, one: CandidateState) -> tuple[Search, tuple[Fact, ...]]:
        """The chain goes on from this edit."""
        current = search.slice(Chain).current
        search = self.memory.after_accept(search, current, one).with_slice(Chain(current=one))
        gained = one.fitness - current.fitness
        return search, (CandidateAccepted(
            order=one.id, candidate=one.id, fitness=one.fitness, fitness_difference=gained
        ),)

    def reject(self, search: Search, one: CandidateState) -> tuple[Search, tuple[Fact, ...]]:
        """The memory keeps this edit of the current program."""
        current = search.slice(Chain).current
        edit = Rejection(
            summary=one.summary, candidate=one.id, reason=_why(one, current),
            fitness_difference=one.fitness - current.fitness if is_sound(one) else None,
        )
        rejected = CandidateRejected(order=one.id, candidate=one.id, rejection=edit)
        return self.memory.after_reject(search, current, one, edit), (rejected,)

    def result(self, search: Search) -> CandidateState | None:
        """C^hc."""
        return search.slice(Chain).current

    def candidates(self, search: Search) -> tuple[CandidateState, ...]:
        """C^hc alone: what it rejected is worse."""
        return ()

    def is_hopeless(self, search: Search, trial: Trial) -> bool:
        """Whether it cannot be accepted; never where prompts show by how much an edit lost."""
        return not self.memory.shows_fitness and bound(trial) < search.slice(Chain).current.fitness


def _why(candidate: CandidateState, current: CandidateState) -> str:
    if candidate.fault is not None:
        return in_words(candidate.fault)
    if candidate.bound is not None:
        return f"fitness of at most {candidate.bound:.4f}, not run to the end"
    if is_same(candidate, current):
        return "it is the program that it was to change"
    return "lower fitness" if candidate.fitness < current.fitness else "another edit of its step is as fit or fitter"
