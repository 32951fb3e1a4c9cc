"""Single-elite memetic policy search (paper, Algorithm 2): hill-climb with memory, macro-mutation, crossover.

The hill-climb chain is sequential, the macro-mutation branch runs in parallel, and crossover begins when
both have ended. Decisions do not depend on the order in which answers arrive.

A fourth branch, which is not in the paper, tunes the constants of the elite in parallel to both (`tuning.py`). The last
of two or more slots tunes the best program so far in parallel to crossover, while models think again.

Speculation: while a hill-climb proposal rolls out, the next one may be requested as if this one were rejected. This
is possible because the prompt holds edit summaries only, and the summary is known before the fitness. If the
proposal is accepted, the speculative request is withdrawn and the correct one is sent, so that the proposals are
the same as without speculation.
"""

from dataclasses import replace

from ..core import order_ids
from ..core.events import (
    CandidateScored,
    ConstantsTried,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    SpeculationEnded,
    Withdraw,
)
from ..core.keeper import Decision, put
from ..core.operators import OPERATOR_OF_WORD, OPERATORS
from ..core.values import Ancestor, CandidateState, Operator, Rejection
from .meetings import elect, follow_meeting, followed, start_afresh
from .options import PLAIN, GenerationBudget, SearchOptions, affordable, dealt, is_spent, tunable
from .outcomes import branch_ended, elite_changed, search_ended
from .rollout_plan import RolloutPlan
from .selection import (
    Ahead,
    Search,
    after_change,
    best_macro,
    best_of,
    best_tuned,
    climb,
    crossing_pair,
    front_with,
    is_hopeless,
    is_of_front,
    outputs,
    partner,
    remembered,
    select_elite,
)
from .trials import Trial, Trials, brief_of, chained, failed, trial_of
from .tried import BESIDE, not_chosen, of_lineage
from .tuning_branch import TuningBranch


class EliteKeeper:
    """Decides the policy search from the evaluated initial policy C_0 to the elite C_G."""

    def __init__(
        self, *, initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = PLAIN
    ) -> None:
        self._initial = initial
        self._plan = plan
        self._slots = slots
        self._options = options
        # A memory that shows fitness differences needs all of them before the next proposal is requested.
        self._speculates = options.speculation and not options.full_memory
        # A front needs every f_e: which programs racing prunes depends on the order of arrival.
        self._races = plan.racing and not options.front
        self._tuning = TuningBranch(slots=slots, options=options, island=plan.island, settle=self._settle)

    def start(self) -> Decision[Search]:
        """C_0 is the elite of generation 0."""
        first = elite_changed(0, self._initial, None)
        begun = self.begin_generation(self.opening())
        return replace(begun, facts=(first, *begun.facts))

    def opening(self) -> Search:
        """The state before the first generation."""
        return Search(
            generation=0,
            elite=self._initial,
            current=self._initial,
            trials=Trials(plan=self._plan, open={}).knowing(self._initial),
        )

    def decide(self, state: Search, fact: Fact) -> Decision[Search]:
        """The decision after one proposal, episode or score."""
        if state.over:
            return Decision(state=state)
        if state.meeting is not None:
            return follow_meeting(self, state, fact)
        if isinstance(fact, ProposalMade | ProposalFailed):
            decision = self._take_proposal(state, fact)
            decides = self._plan.duplicates  # only a duplicate has a fitness on arrival
        elif isinstance(fact, ConstantsTried):
            decision, decides = self._tuning.take(state, fact), True
        else:
            decision = followed(state, state.trials.take(fact), self._settle)
            decides = True
        return self._race(decision) if self._races and decides else decision

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
        state = replace(state, trials=state.trials.practised(fact))
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

    def _settle(self, state: Search, candidate: CandidateState) -> Decision[Search]:
        """A slot is spent: update its branch and order what follows."""
        facts: tuple[Fact, ...] = (CandidateScored(order=candidate.id, candidate=brief_of(candidate)),)
        options = self._options
        if options.front:
            state = replace(state, front=front_with(state, candidate))
        match candidate.operator:
            case Operator.HILL_CLIMB:
                state, verdict = climb(state, candidate, full=options.full_memory, marked=options.marked_memory)
                facts = (*facts, verdict)
            case Operator.MACRO:
                state = replace(state, macros=put(state.macros, candidate.slot, candidate))
            case Operator.TUNE:
                state = replace(state, tunes=put(state.tunes, candidate.slot, candidate))
            case _:
                state = replace(state, crosses=put(state.crosses, candidate.slot, candidate))
        onward = self._advance(state, candidate.operator)
        return replace(onward, facts=(*facts, *onward.facts))

    def _race(self, decision: Decision[Search]) -> Decision[Search]:
        """Prune the trials that can no longer win, and those that become hopeless as a result."""
        state = decision.state
        leaders = {operator: best_of(_spent(state, operator)) for operator in _LED}
        for name in sorted(state.trials.open):
            trial = state.trials.open[name]
            if self._options.full_memory and trial.operator is Operator.HILL_CLIMB:
                continue  # its fitness is shown to the model
            if is_hopeless(state, trial, leaders.get(trial.operator)):
                return self._race(chained(decision, followed(state, state.trials.prune(name), self._settle)))
        return decision

    # ----------------------------------------------------------------------------------- the branches

    def _advance(self, state: Search, operator: Operator) -> Decision[Search]:
        """The next orders after a slot of `operator` was spent."""
        facts: tuple[Fact, ...] = ()
        if self._ended(state, operator):  # the last slot of its branch
            facts = (branch_ended(state.generation, operator, self.winner(state, operator)),)
        elif operator is Operator.HILL_CLIMB:
            return self._next_climb(state)
        orders: tuple[Order, ...] = ()
        if not state.crossing:
            if not self._may_cross(state):
                return Decision(state=state, facts=facts)
            begun = self._begin_crossover(state)
            state, orders, facts = begun.state, begun.orders, (*facts, *begun.facts)
        if not self._ended(state, Operator.CROSSOVER) or not self._ended(state, Operator.TUNE):
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
        if not self._speculates or state.climbed + 1 >= state.climbs:
            return state, ()
        order = self._propose(state, Operator.HILL_CLIMB, state.climbed + 1)
        presumed = Rejection(summary=trial.summary, candidate=trial.id, fitness_difference=None, reason="presumed")
        order = replace(order, id=order_ids.ahead_id(order.id), rejections=(*order.rejections, presumed))
        ahead = Ahead(order=order.id, current=state.current.id)
        return replace(state, ahead=ahead, requested=state.requested | {order.id}), (order,)

    def begin_generation(self, state: Search) -> Decision[Search]:
        """Open the next generation from the elite, or end the search."""
        starts = start_afresh(self, state)
        if starts is not None:
            return starts
        if state.saturated or self.is_last(state):
            return Decision(state=replace(state, over=True), facts=(search_ended(state.elite),))
        plan = state.trials.plan
        if self._options.marked_memory:
            state = after_change(state, state.current.program, state.elite.program)
        slots = self._slots.hill_climb, self._slots.macro, self._slots.crossover
        tunes, later = self._tuning.planned(state.generation + 1)
        more, spare = divmod(state.spare, tunes) if tunes else (0, state.spare)
        tunes, episodes = tunable(plan, state.trials.ordered, tunes, self._slots.tune_episodes + more)
        reserved = state.trials.ordered + tunes * (episodes + len(plan.seeds))
        reserved += later * (self._slots.tune_episodes + len(plan.seeds))
        climbs, macros, crosses = dealt(slots, affordable(plan, reserved, sum(slots)))
        state = Search(
            generation=state.generation + 1,
            elite=state.elite,
            current=state.elite,
            rejections=state.rejections if self._options.lasting_memory else (),
            tried=state.tried,
            spare=spare,
            climbs=climbs,
            macros=(None,) * macros,
            tunes=(None,) * tunes,
            crosses=(None,) * crosses,
            trials=state.trials,
            learned=state.learned,
            records=state.records,
            contenders=state.contenders,
            others=remembered(state, ()),
            front=state.front,
            guest=state.guest,
            rival=state.rival,
            moves=state.moves,
        )
        orders = tuple(
            self._propose(state, operator, slot)
            for operator, count in (
                (Operator.HILL_CLIMB, min(1, climbs)),
                (Operator.MACRO, macros),
            )
            for slot in range(count)
        )
        state = replace(state, requested=frozenset(order.id for order in orders))
        if orders or tunes:
            late = tunes > 1 and crosses > 0
            state = replace(state, late_episodes=episodes if late else 0)
            return self._tuning.begin(Decision(state=state, orders=orders), state.early, state.elite, episodes)
        # Only crossover has slots, or no branch has: crossover recombines the elite with itself.
        return self._advance_empty(state)

    def _advance_empty(self, state: Search) -> Decision[Search]:
        begun = self._begin_crossover(state)
        if begun.orders:
            return begun
        ended = self._end_generation(begun.state)
        return replace(ended, facts=(*begun.facts, *ended.facts))

    def _begin_crossover(self, state: Search) -> Decision[Search]:
        pair = crossing_pair(state, front=self._options.front, measured=self._plan.episodes is not None)
        state = replace(state, crossing=True, pair=pair)
        orders = tuple(self._propose(state, Operator.CROSSOVER, slot) for slot in range(len(state.crosses)))
        requested = state.requested | {order.id for order in orders}
        decision = Decision(state=replace(state, requested=requested), orders=orders)
        if not state.late_episodes:
            return decision
        late = range(state.early.stop, len(state.tunes))
        return self._tuning.begin(decision, late, select_elite(state), state.late_episodes)

    def _may_cross(self, state: Search) -> bool:
        """Whether crossover begins: climb, macro-mutation and the early slots of tuning are over."""
        before = self._ended(state, Operator.HILL_CLIMB) and self._ended(state, Operator.MACRO)
        return before and all(state.tunes[slot] is not None for slot in state.early)

    def _end_generation(self, state: Search) -> Decision[Search]:
        found = outputs(state, measured=self._plan.episodes is not None)
        if self._plan.episodes is not None:
            state = replace(state, others=remembered(state, (state.elite, *found)))
        return elect(self, state, select_elite(state), found)

    def is_last(self, state: Search) -> bool:
        """Whether the generation in progress is the last."""
        return state.generation >= self._slots.generations or is_spent(state.trials.plan, state.trials.ordered)

    def adopt(self, state: Search, elite: CandidateState) -> Decision[Search]:
        """The generation ends with this elite."""
        changed = elite_changed(state.generation, elite, state.elite)
        begun = self.begin_generation(self.adopted(state, elite))
        return replace(begun, facts=(changed, *begun.facts))

    def adopted(self, state: Search, elite: CandidateState) -> Search:
        """The state after a generation with this elite."""
        tried = state.tried
        if self._options.full_memory:
            climbed = state.current if state.current.id != state.elite.id else None
            spent = (climbed, *state.macros, *state.tunes, *state.crosses)
            # With a budget of episodes nothing is raced; without one, a prompt may not depend on whether it is.
            measured = self._plan.episodes is not None
            since = state.generation - BESIDE + 1
            tried = of_lineage((*tried, *not_chosen(spent, elite, measured=measured)), elite, since)
        return replace(state, elite=elite, tried=tried)

    # -------------------------------------------------------------------------------------- helpers

    def _ended(self, state: Search, operator: Operator) -> bool:
        if operator is Operator.HILL_CLIMB:
            return state.climbed >= state.climbs
        return all(slot is not None for slot in _spent(state, operator))

    def _parents(self, state: Search, operator: Operator) -> tuple[CandidateState, ...]:
        match operator:
            case Operator.HILL_CLIMB:
                return (state.current,)
            case Operator.MACRO:
                return (state.elite,)
            case _:
                return state.pair or (state.current, partner(state))

    def _propose(self, state: Search, operator: Operator, slot: int) -> Propose:
        places = {Operator.MACRO: len(state.macros), Operator.CROSSOVER: len(state.crosses)}.get(operator)
        return Propose(
            id=self._name(state.generation, OPERATORS[operator].word, slot),
            operator=operator,
            generation=state.generation,
            slot=slot,
            parents=self._parents(state, operator),
            rejections=state.rejections if operator is Operator.HILL_CLIMB else (),
            tried=state.tried,
            others=self._others(state),
            focus=self._options.focus(state.generation, slot, places) if places else None,
            from_front=operator is Operator.CROSSOVER and is_of_front(state),
            elite=state.elite.id,
            fitness=self._plan.fitness,
        )

    def _name(self, generation: int, word: str, slot: int) -> str:
        """The id of a candidate."""
        return str(order_ids.candidate(generation, word, slot, island=self._plan.island))

    def _others(self, state: Search) -> tuple[Ancestor, ...]:
        """The ideas of good programs of other structures, as prompts show them."""
        known = state.others if self._options.full_memory else ()
        return tuple(_as_judged(one) for one in known if one.lineage)

    def winner(self, state: Search, operator: Operator) -> CandidateState | None:
        """The result of a branch; None if all its candidates failed."""
        match operator:
            case Operator.HILL_CLIMB:
                return state.current
            case Operator.MACRO:
                return best_macro(state)
            case Operator.TUNE:
                return best_tuned(state)
            case _:
                return best_of(state.crosses)


def _as_judged(one: CandidateState) -> Ancestor:
    """The last edit of a program, with F by the evaluator in use."""
    last = one.lineage[-1]
    return last if last.version == one.version else replace(last, fitness=one.fitness, version=one.version)


_LED = (Operator.MACRO, Operator.TUNE, Operator.CROSSOVER)  # whose branches have the fittest of their slots as winner


def _spent(state: Search, operator: Operator) -> tuple[CandidateState | None, ...]:
    """The slots of a branch, None for those that are open."""
    return {Operator.MACRO: state.macros, Operator.TUNE: state.tunes}.get(operator, state.crosses)
