"""Search in rounds: a generation's proposals are requested together, and the next generation depends on all of them.

The methods that search in rounds differ in their rule: the requests, and the selection.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from ..core import order_ids
from ..core.errors import SearchError
from ..core.events import CandidateScored, Fact, ProposalFailed, ProposalMade, Propose
from ..core.keeper import Decision, put
from ..core.operators import OPERATORS
from ..core.programs.calibration import worth
from ..core.values import CandidateState, Operator
from .branch import best_of, falls_behind
from .dealing import affordable, is_spent
from .meetings.challenge import elect
from .meetings.meeting import SearchState, attempt, follow, follow_meeting
from .options import PLAIN, SearchOptions
from .outcomes import branch_ended, elite_changed, search_ended
from .parts.foci import focus_at
from .rollout_plan import RolloutPlan
from .trials import Trial, Trials, bound, brief_of, chained, trial_of

P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotRequest:
    """The request of one slot of a generation."""

    operator: Operator
    parents: tuple[CandidateState, ...] = ()
    earlier: tuple[CandidateState, ...] = ()  # of a calibration: what was tested before the parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Generic[P]):
    """The result of a generation: the population for the next one, the elite, and the facts to report."""

    population: P
    elite: CandidateState
    facts: tuple[Fact, ...] = ()


class Rule(Protocol[P]):
    """The part of a round-based method that differs from the others. All methods are pure."""

    def found(self, initial: CandidateState) -> P:
        """The population of generation 0."""

    def ask(self, generation: int, population: P) -> tuple[SlotRequest, ...]:
        """One request per slot of a generation."""

    def select(
        self, generation: int, population: P, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[P]:
        """The selection from all candidates of a generation, in the order of their slots; `elite` is C_(g-1)."""

    def keep(self, selection: Selection[P], elite: CandidateState) -> Selection[P]:
        """The selection with the old elite, because fresh episodes did not confirm the new one."""

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Whether the rest of a trial cannot change a selection; `leader` is the best of the generation so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round(SearchState):
    """The state between two facts: the requests of the generation and its spent slots."""

    population: Any
    requests: tuple[SlotRequest, ...] = ()
    slots: tuple[CandidateState | None, ...] = ()
    selection: Selection[Any] | None = None  # of the generation that ends, until its elite is adopted


class RoundsKeeper:
    """Decides a search in rounds with a rule."""

    def __init__(
        self, *, initial: CandidateState, plan: RolloutPlan, generations: int, rule: Rule[Any],
        options: SearchOptions = PLAIN,
    ) -> None:
        self._initial = initial
        self._plan = plan
        self._generations = generations
        self._rule = rule
        self._options = options

    def start(self) -> Decision[Round]:
        """p_0 is the elite of generation 0."""
        state = Round(
            generation=0,
            elite=self._initial,
            population=self._rule.found(self._initial),
            trials=Trials(plan=self._plan, open={}).knowing(self._initial),
        )
        first = Decision(state=state, facts=(elite_changed(0, self._initial, None),))
        return chained(first, self.begin_generation(state))

    def decide(self, state: Round, fact: Fact) -> Decision[Round]:
        """The decision after one proposal, episode or score."""
        if state.over:
            return Decision(state=state)
        if state.meeting is not None:
            return follow_meeting(self, state, fact)
        if isinstance(fact, ProposalMade | ProposalFailed):
            return self._race(self._take_proposal(state, fact))
        return self._race(follow(state, state.trials.take(fact), self._settle))

    def finished(self, state: Round) -> bool:
        """Whether all generations are over."""
        return state.over

    def begin_generation(self, state: Round) -> Decision[Round]:
        """Open the next generation, or end the search."""
        if self.is_last(state):
            return Decision(state=replace(state, over=True), facts=(search_ended(state.elite),))
        generation = state.generation + 1
        requests = self._rule.ask(generation, state.population)
        requests = requests[: affordable(self._plan, state.trials.ordered, len(requests))]
        orders = tuple(self._proposal(state.elite, generation, slot, requests) for slot in range(len(requests)))
        state = replace(
            state,
            generation=generation,
            requests=requests,
            slots=(None,) * len(requests),
            requested=frozenset(order.id for order in orders),
        )
        return Decision(state=state, orders=orders) if orders else self._end_generation(state)

    def _proposal(
        self, elite: CandidateState, generation: int, slot: int, requests: tuple[SlotRequest, ...]
    ) -> Propose:
        request = requests[slot]
        # Attempts at the initial prompt are numbered from p_0, which was attempt 0.
        number = slot + 1 if request.operator is Operator.INITIAL else slot
        focused = self._options.macro_focus and request.operator is Operator.MACRO
        return Propose(
            id=str(order_ids.candidate(generation, OPERATORS[request.operator].word, slot)),
            operator=request.operator,
            generation=generation,
            slot=number,
            parents=request.parents,
            earlier=request.earlier,
            focus=focus_at(self._options.seed, generation, slot, len(requests)) if focused else None,
            elite=elite.id,
            fitness=self._plan.fitness,
        )

    def _take_proposal(self, state: Round, fact: ProposalMade | ProposalFailed) -> Decision[Round]:
        if fact.order is None or fact.order not in state.requested:
            return Decision(state=state)
        state = replace(state, requested=state.requested - {fact.order})
        slot = order_ids.parse(fact.order).slot
        request = state.requests[slot]
        trial = trial_of(
            fact, fact.order,
            operator=request.operator, generation=state.generation, slot=slot, parents=request.parents,
        )
        return attempt(state, trial, fact, self._settle)

    def _settle(self, state: Round, candidate: CandidateState) -> Decision[Round]:
        """A slot is spent; the last one ends the generation."""
        slots = put(state.slots, candidate.slot, candidate)
        scored = CandidateScored(order=candidate.id, candidate=brief_of(candidate))
        decision = Decision(state=replace(state, slots=slots), facts=(scored,))
        return decision if None in slots else chained(decision, self._end_generation(decision.state))

    def _end_generation(self, state: Round) -> Decision[Round]:
        candidates = tuple(candidate for candidate in state.slots if candidate is not None)
        selection = self._rule.select(state.generation, state.population, state.elite, candidates)
        others = () if self._plan.episodes is None else candidates
        return elect(self, replace(state, selection=selection), selection.elite, others)

    def is_last(self, state: Round) -> bool:
        """Whether the generation in progress is the last."""
        return state.generation >= self._generations or is_spent(self._plan, state.trials.ordered)

    def adopt(self, state: Round, elite: CandidateState) -> Decision[Round]:
        """The generation ends with this elite."""
        selection = state.selection
        if selection is None:
            raise SearchError("a generation ended without a selection")
        if elite.id != selection.elite.id:
            selection = self._rule.keep(selection, elite)
        facts = (*selection.facts, elite_changed(state.generation, elite, state.elite))
        state = replace(state, elite=elite, population=selection.population, selection=None)
        return chained(Decision(state=state, facts=facts), self.begin_generation(state))

    def _race(self, decision: Decision[Round]) -> Decision[Round]:
        """Prune the trials that can no longer be selected. A pruned trial never leads, so one pass is enough."""
        if not self._plan.racing:
            return decision
        leader = best_of(decision.state.slots)
        for name in sorted(decision.state.trials.open):
            state = decision.state
            trial = state.trials.open[name]
            if self._rule.is_hopeless(trial, leader, state.elite):
                decision = chained(decision, follow(state, state.trials.prune(name), self._settle))
        return decision


def fitter(candidates: Sequence[CandidateState | None], elite: CandidateState) -> CandidateState:
    """The best so far: the fittest candidate if it is at least as fit as the elite, else the elite."""
    best = best_of(tuple(candidates))
    return best if best is not None and best.fitness >= elite.fitness else elite


def of_operator(candidates: Iterable[CandidateState], operator: Operator) -> tuple[CandidateState, ...]:
    """The candidates that one operator proposed."""
    return tuple(candidate for candidate in candidates if candidate.operator is operator)


# Eureka, adapted to policies: no population; a generation is independent macro-mutations of one program.
#
# `eureka` continues from the best of that generation, even if it is less fit than before, as the original method does.
# `eureka-elite` continues from the best so far. The elite of both is the best so far.


@dataclass(frozen=True, slots=True, kw_only=True)
class Eureka:
    """The rule of Eureka. The population is the one program that the next generation mutates."""

    candidates: int
    keeps_best: bool

    def found(self, initial: CandidateState) -> CandidateState:
        """Generation 1 mutates p_0."""
        return initial

    def ask(self, generation: int, population: CandidateState) -> tuple[SlotRequest, ...]:
        """Independent macro-mutations of the same program."""
        return (SlotRequest(operator=Operator.MACRO, parents=(population,)),) * self.candidates

    def select(
        self, generation: int, population: CandidateState, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[CandidateState]:
        """The fittest; the lowest slot wins a tie. If all failed, the parent stays."""
        best = best_of(candidates)
        elite = fitter(candidates, elite)
        chosen = elite if self.keeps_best else best or population
        winner = elite if self.keeps_best else best
        ended = branch_ended(generation, Operator.MACRO, winner)
        return Selection(population=chosen, elite=elite, facts=(ended,))

    def keep(self, selection: Selection[CandidateState], elite: CandidateState) -> Selection[CandidateState]:
        """`eureka-elite` mutates the old elite again; `eureka` goes on from the best of the generation."""
        return replace(selection, elite=elite, population=elite if self.keeps_best else selection.population)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Whether it cannot be the best of its generation or, for `eureka-elite`, cannot reach the best so far."""
        most = bound(trial)
        return falls_behind(trial, leader, most) or (self.keeps_best and most < elite.fitness)


# Zero-shot (paper, section 4): programs from the initial prompt alone, in one round; the best is the result.


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroShot:
    """The rule of zero-shot policies. There is no population: no program depends on another."""

    candidates: int

    def found(self, initial: CandidateState) -> None:
        """No population."""

    def ask(self, generation: int, population: None) -> tuple[SlotRequest, ...]:
        """Independent programs."""
        return (SlotRequest(operator=Operator.INITIAL),) * self.candidates

    def select(
        self, generation: int, population: None, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[None]:
        """The fittest candidate, even if p_0 was fitter; p_0 only if all failed."""
        best = best_of(candidates)
        ended = branch_ended(generation, Operator.INITIAL, best)
        return Selection(population=None, elite=best or elite, facts=(ended,))

    def keep(self, selection: Selection[None], elite: CandidateState) -> Selection[None]:
        """Not used: the one round has no elite to compare with, so its settings refuse a confirmation."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Whether it cannot be the best."""
        return falls_behind(trial, leader, bound(trial))


# Calibration in a robot cell (paper, appendix A): κ_(i+1) from κ_i and what the trials with it showed.
#
# Each step tests one vector of constants. The next one starts from the last tested one, better or not, as in the paper;
# the result is the best of the tested sequence.


Tested = tuple[CandidateState, ...]
"""The tested programs, which differ in their constants only, oldest first."""


class Calibration:
    """Implements `rounds.Rule`. The population is all that was tested.

    `latest_of_equals`: of equal results the latest is kept, else the earliest. A model changes what metrics blame, and
    a change that lost no trial may have gained a margin that successes do not show, such as a smaller force. A search
    that reads no metrics moves at random among equals, so its earliest is kept. The given constants stay in both cases
    unless others are better.
    """

    def __init__(self, *, latest_of_equals: bool) -> None:
        self._latest = latest_of_equals

    def found(self, initial: CandidateState) -> Tested:
        """κ_0 is that of the given program."""
        return (initial,)

    def ask(self, generation: int, population: Tested) -> tuple[SlotRequest, ...]:
        """One proposal, from the last tested constants."""
        return (SlotRequest(operator=Operator.CALIBRATE, parents=population[-1:], earlier=population[:-1]),)

    def select(
        self, generation: int, population: Tested, elite: CandidateState, candidates: tuple[CandidateState, ...]
    ) -> Selection[Tested]:
        """The best so far."""
        tested = tuple(each for each in candidates if each.program.text)  # the others had no usable reply
        later_wins = self._latest and elite.operator is not Operator.INITIAL
        best = max((*tested, elite) if later_wins else (elite, *tested), key=worth)
        ended = branch_ended(generation, Operator.CALIBRATE, tested[0] if tested else None)
        return Selection(population=(*population, *tested), elite=best, facts=(ended,))

    def keep(self, selection: Selection[Tested], elite: CandidateState) -> Selection[Tested]:
        """The same with the old elite."""
        return replace(selection, elite=elite)

    def is_hopeless(self, trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
        """Never: each trial shows something, whatever comes of it."""
        return False
