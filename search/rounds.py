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
from ..core.values import CandidateState, Operator
from .branch import best_of
from .dealing import affordable, is_spent
from .meetings.challenge import elect
from .meetings.meeting import SearchState, attempt, follow, follow_meeting
from .options import Choices, SearchOptions
from .outcomes import elite_changed, search_ended
from .parts.foci import FociSettings, focus_at
from .rollout_plan import RolloutPlan
from .trials import Trial, Trials, brief_of, chain, trial_of

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
        options: SearchOptions, choices: Choices,
    ) -> None:
        self._initial = initial
        self._plan = plan
        self._generations = generations
        self._rule = rule
        self._seed = options.seed
        self._focuses = choices.of(FociSettings).macro_focus

    def start(self) -> Decision[Round]:
        """p_0 is the elite of generation 0."""
        state = Round(
            generation=0,
            elite=self._initial,
            population=self._rule.found(self._initial),
            trials=Trials(plan=self._plan, open={}).knowing(self._initial),
        )
        first = Decision(state=state, facts=(elite_changed(0, self._initial, None),))
        return chain(first, self.begin_generation(state))

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
        focused = self._focuses and request.operator is Operator.MACRO
        return Propose(
            id=str(order_ids.candidate(generation, OPERATORS[request.operator].word, slot)),
            operator=request.operator,
            generation=generation,
            slot=number,
            parents=request.parents,
            earlier=request.earlier,
            focus=focus_at(self._seed, generation, slot, len(requests)) if focused else None,
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
        return decision if None in slots else chain(decision, self._end_generation(decision.state))

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
        return chain(Decision(state=state, facts=facts), self.begin_generation(state))

    def _race(self, decision: Decision[Round]) -> Decision[Round]:
        """Prune the trials that can no longer be selected. A pruned trial never leads, so one pass is enough."""
        if not self._plan.racing:
            return decision
        leader = best_of(decision.state.slots)
        for name in sorted(decision.state.trials.open):
            state = decision.state
            trial = state.trials.open[name]
            if self._rule.is_hopeless(trial, leader, state.elite):
                decision = chain(decision, follow(state, state.trials.prune(name), self._settle))
        return decision


def fitter(candidates: Sequence[CandidateState | None], elite: CandidateState) -> CandidateState:
    """The best so far: the fittest candidate if it is at least as fit as the elite, else the elite."""
    best = best_of(tuple(candidates))
    return best if best is not None and best.fitness >= elite.fitness else elite


def of_operator(candidates: Iterable[CandidateState], operator: Operator) -> tuple[CandidateState, ...]:
    """The candidates that one operator proposed."""
    return tuple(candidate for candidate in candidates if candidate.operator is operator)
