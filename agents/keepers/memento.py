"""Single-elite memetic policy search (paper, Algorithm 2): hill-climb with memory, macro-mutation, crossover.

The hill-climb chain is sequential, the macro-mutation branch runs in parallel, and crossover begins when
both have ended. Decisions do not depend on the order in which answers arrive.

Speculation: while a hill-climb proposal rolls out, the next one may be requested as if this one were rejected. This
is possible because the prompt holds edit summaries only, and the summary is known before the fitness. If the
proposal is accepted, the speculative request is withdrawn and the correct one is sent, so that the proposals are
the same as without speculation.
"""

from dataclasses import dataclass, replace

from ...core import order_ids
from ...core.events import (
    CandidateScored,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    SpeculationEnded,
    Withdraw,
)
from ...core.keeper import Decision
from ...core.operators import OPERATOR_OF_WORD, OPERATORS
from ...core.values import Candidate, Operator, Rejection
from .options import PLAIN, SearchOptions
from .outcomes import branch_ended, elite_changed, search_ended
from .places import put
from .search_state import followed
from .selection import Ahead, Search, best_macro, best_of, climb, is_hopeless, select_elite
from .trials import RolloutPlan, Trial, Trials, brief_of, chained, failed, trial_of
from .tried import not_chosen, of_lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """The budget: K_hc, K_macro and K_cross proposals per generation, G generations."""

    generations: int
    hill_climb: int
    macro: int
    crossover: int


class MementoKeeper:
    """Decides the policy search from the evaluated initial policy C_0 to the elite C_G."""

    def __init__(
        self, *, initial: Candidate, plan: RolloutPlan, slots: Slots, options: SearchOptions = PLAIN
    ) -> None:
        self._initial = initial
        self._plan = plan
        self._slots = slots
        self._options = options
        # A memory that shows fitness differences needs all of them before the next proposal is requested.
        self._speculates = options.speculation and not options.full_memory

    def start(self) -> Decision[Search]:
        """C_0 is the elite of generation 0."""
        first = elite_changed(0, self._initial, None)
        state = Search(
            generation=0,
            elite=self._initial,
            current=self._initial,
            trials=Trials(plan=self._plan, open={}).knowing(self._initial),
        )
        begun = self._begin_generation(state)
        return replace(begun, facts=(first, *begun.facts))

    def decide(self, state: Search, fact: Fact) -> Decision[Search]:
        """The decision after one proposal, episode or score."""
        if state.over:
            return Decision(state=state)
        if isinstance(fact, ProposalMade | ProposalFailed):
            decision = self._take_proposal(state, fact)
            decides = self._plan.duplicates  # only a duplicate has a fitness on arrival
        else:
            decision = followed(state, state.trials.take(fact), self._settle)
            decides = True
        return self._race(decision) if self._plan.racing and decides else decision

    def finished(self, state: Search) -> bool:
        """Whether all generations are over."""
        return state.over

    # ------------------------------------------------------------------------------------ one slot

    def _take_proposal(self, state: Search, fact: ProposalMade | ProposalFailed) -> Decision[Search]:
        if fact.order is None or fact.order not in state.requested:
            return Decision(state=state)
        state = replace(state, requested=state.requested - {fact.order})
        if state.ahead is not None and fact.order == state.ahead.order:
            return Decision(state=replace(state, ahead=replace(state.ahead, answer=fact)))
        return self._try(state, order_ids.slot_of(fact.order), fact)

    def _try(self, state: Search, slot: str, fact: ProposalMade | ProposalFailed) -> Decision[Search]:
        """Start the trial of the proposal for `slot`, or record its failure."""
        trial = self._trial(state, slot, fact)
        if isinstance(fact, ProposalFailed):
            return self._settle(state, failed(trial, fact.fault))
        step = state.trials.begin(trial, shape=fact.shape)
        if trial.operator is Operator.HILL_CLIMB and not step.settled:
            state, ahead = self._speculate(state, trial)
            step = replace(step, orders=(*step.orders, *ahead))
        return followed(state, step, self._settle)

    def _trial(self, state: Search, order: str, fact: ProposalMade | ProposalFailed) -> Trial:
        named = order_ids.parse(order)
        operator = OPERATOR_OF_WORD[named.branch]
        return trial_of(
            fact, order,
            operator=operator, generation=state.generation, slot=named.slot, parents=self._parents(state, operator),
        )

    def _settle(self, state: Search, candidate: Candidate) -> Decision[Search]:
        """A slot is spent: update its branch and order what follows."""
        facts: tuple[Fact, ...] = (CandidateScored(order=candidate.id, candidate=brief_of(candidate)),)
        match candidate.operator:
            case Operator.HILL_CLIMB:
                state, verdict = climb(state, candidate, full=self._options.full_memory)
                facts = (*facts, verdict)
            case Operator.MACRO:
                state = replace(state, macros=put(state.macros, candidate.slot, candidate))
            case _:
                state = replace(state, crosses=put(state.crosses, candidate.slot, candidate))
        onward = self._advance(state, candidate.operator)
        return replace(onward, facts=(*facts, *onward.facts))

    def _race(self, decision: Decision[Search]) -> Decision[Search]:
        """Prune the trials that can no longer win, and those that become hopeless as a result."""
        state = decision.state
        leaders = {Operator.MACRO: best_of(state.macros), Operator.CROSSOVER: best_of(state.crosses)}
        for name in sorted(state.trials.open):
            trial = state.trials.open[name]
            if self._options.full_memory and trial.operator is Operator.HILL_CLIMB:
                continue  # its fitness is shown to the model
            if is_hopeless(state, trial, leaders.get(trial.operator)):
                return self._race(chained(decision, followed(state, state.trials.prune(name), self._settle)))
        return decision

    # ---------------------------------------------------------------------------- the three branches

    def _advance(self, state: Search, operator: Operator) -> Decision[Search]:
        """The next orders after a slot of `operator` was spent."""
        facts: tuple[Fact, ...] = ()
        if self._ended(state, operator):
            facts = (branch_ended(state.generation, operator, self._winner(state, operator)),)
        elif operator is Operator.HILL_CLIMB:
            return self._next_climb(state)
        orders: tuple[Order, ...] = ()
        if not state.crossing:
            if not (self._ended(state, Operator.HILL_CLIMB) and self._ended(state, Operator.MACRO)):
                return Decision(state=state, facts=facts)
            begun = self._begin_crossover(state)
            state, orders, facts = begun.state, begun.orders, (*facts, *begun.facts)
        if not self._ended(state, Operator.CROSSOVER):
            return Decision(state=state, orders=orders, facts=facts)
        ended = self._end_generation(state)
        return replace(ended, orders=(*orders, *ended.orders), facts=(*facts, *ended.facts))

    def _next_climb(self, state: Search) -> Decision[Search]:
        """The proposal for the next slot of the chain: requested now, or already requested speculatively."""
        ahead = state.ahead
        if ahead is None:
            return self._ask_climb(state)
        kept, answered = ahead.current == state.current.id, ahead.answer is not None
        ended = SpeculationEnded(order=ahead.order, slot=order_ids.slot_of(ahead.order), kept=kept, answered=answered)
        decision = Decision(state=replace(state, ahead=None), facts=(ended,))
        if not kept:
            withdrawn = () if answered else (Withdraw(id=order_ids.withdraw_id(ahead.order), target=ahead.order),)
            state = replace(decision.state, requested=state.requested - {ahead.order})
            return chained(replace(decision, orders=withdrawn), self._ask_climb(state))
        if ahead.answer is None:
            return decision
        return chained(decision, self._try(decision.state, ended.slot, ahead.answer))

    def _ask_climb(self, state: Search) -> Decision[Search]:
        order = self._propose(state, Operator.HILL_CLIMB, state.climbed)
        return Decision(state=replace(state, requested=state.requested | {order.id}), orders=(order,))

    def _speculate(self, state: Search, trial: Trial) -> tuple[Search, tuple[Propose, ...]]:
        """Request the next proposal of the chain as if this trial's proposal were rejected."""
        if not self._speculates or state.climbed + 1 >= self._slots.hill_climb:
            return state, ()
        order = self._propose(state, Operator.HILL_CLIMB, state.climbed + 1)
        presumed = Rejection(summary=trial.summary, candidate=trial.id, fitness_difference=None, reason="presumed")
        order = replace(order, id=order_ids.ahead_id(order.id), rejections=(*order.rejections, presumed))
        ahead = Ahead(order=order.id, current=state.current.id)
        return replace(state, ahead=ahead, requested=state.requested | {order.id}), (order,)

    def _begin_generation(self, state: Search) -> Decision[Search]:
        """Open the next generation from the elite, or end the search."""
        if state.generation >= self._slots.generations:
            return Decision(state=replace(state, over=True), facts=(search_ended(state.elite),))
        state = Search(
            generation=state.generation + 1,
            elite=state.elite,
            current=state.elite,
            rejections=state.rejections if self._options.lasting_memory else (),
            tried=state.tried,
            macros=(None,) * self._slots.macro,
            crosses=(None,) * self._slots.crossover,
            trials=state.trials,
        )
        orders = tuple(
            self._propose(state, operator, slot)
            for operator, count in (
                (Operator.HILL_CLIMB, min(1, self._slots.hill_climb)),
                (Operator.MACRO, self._slots.macro),
            )
            for slot in range(count)
        )
        state = replace(state, requested=frozenset(order.id for order in orders))
        if orders:
            return Decision(state=state, orders=orders)
        # Only crossover has slots, or no branch has: crossover recombines the elite with itself.
        return self._advance_empty(state)

    def _advance_empty(self, state: Search) -> Decision[Search]:
        begun = self._begin_crossover(state)
        if begun.orders:
            return begun
        ended = self._end_generation(begun.state)
        return replace(ended, facts=(*begun.facts, *ended.facts))

    def _begin_crossover(self, state: Search) -> Decision[Search]:
        state = replace(state, crossing=True)
        orders = tuple(self._propose(state, Operator.CROSSOVER, slot) for slot in range(self._slots.crossover))
        requested = state.requested | {order.id for order in orders}
        return Decision(state=replace(state, requested=requested), orders=orders)

    def _end_generation(self, state: Search) -> Decision[Search]:
        elite = select_elite(state)
        changed = elite_changed(state.generation, elite, state.elite)
        tried = state.tried
        if self._options.full_memory:
            tried = of_lineage((*tried, *not_chosen((*state.macros, *state.crosses), elite)), elite)
        begun = self._begin_generation(replace(state, elite=elite, tried=tried))
        return replace(begun, facts=(changed, *begun.facts))

    # -------------------------------------------------------------------------------------- helpers

    def _ended(self, state: Search, operator: Operator) -> bool:
        if operator is Operator.HILL_CLIMB:
            return state.climbed >= self._slots.hill_climb
        slots = state.macros if operator is Operator.MACRO else state.crosses
        return all(slot is not None for slot in slots)

    def _parents(self, state: Search, operator: Operator) -> tuple[Candidate, ...]:
        match operator:
            case Operator.HILL_CLIMB:
                return (state.current,)
            case Operator.MACRO:
                return (state.elite,)
            case _:
                return (state.current, best_macro(state))

    def _propose(self, state: Search, operator: Operator, slot: int) -> Propose:
        macro = operator is Operator.MACRO
        return Propose(
            id=str(order_ids.candidate(state.generation, OPERATORS[operator].word, slot)),
            operator=operator,
            generation=state.generation,
            slot=slot,
            parents=self._parents(state, operator),
            rejections=state.rejections if operator is Operator.HILL_CLIMB else (),
            tried=state.tried,
            focus=self._options.focus(state.generation, slot, self._slots.macro) if macro else None,
            elite=state.elite.id,
            fitness=self._plan.fitness,
        )

    def _winner(self, state: Search, operator: Operator) -> Candidate | None:
        match operator:
            case Operator.HILL_CLIMB:
                return state.current
            case Operator.MACRO:
                return best_macro(state)
            case _:
                return best_of(state.crosses)
