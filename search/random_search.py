"""Random search: independent programs from the initial prompt, the best of them kept; the floor for every method.

No parents, no memory, no operators: any gain over this at an equal budget is due to the method.
"""

from dataclasses import dataclass, replace

from ..core import order_ids
from ..core.events import CandidateScored, Fact, ProposalFailed, ProposalMade, Propose
from ..core.keeper import Decision, put
from ..core.order_ids import parse
from ..core.values import CandidateState, Operator
from .branch import best_of, falls_behind
from .dealing import kept_free
from .meetings.challenge import elect
from .meetings.meeting import SearchState, attempt, follow, follow_meeting
from .outcomes import branch_ended, elite_changed, search_ended
from .rollout_plan import RolloutPlan
from .rounds import fitter
from .trials import Trial, Trials, bound, brief_of, chain, trial_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws(SearchState):
    """The state between two facts. `generation` g is the first incomplete one; `elite` is C_(g-1)."""

    slots: tuple[tuple[CandidateState | None, ...], ...]  # of all generations, in order
    asked: int = 0  # how many of these slots were requested, in order
    spent: bool = False  # the budget of episodes has no room for further slots


class RandomKeeper:
    """Decides random search. Generations only divide the budget, so that its curve compares with other methods'.

    All programs are requested at once, because none depends on another: a round of `rounds.py` would wait for its
    slowest reply without need. A budget of episodes may not have room for all of them: then as many are requested as
    have room, and when these are spent, as many as have room again, since a program that failed used no episode.
    """

    def __init__(self, *, initial: CandidateState, plan: RolloutPlan, generations: int, candidates: int) -> None:
        self._initial = initial
        self._plan = plan
        self._generations = generations
        self._candidates = candidates

    def start(self) -> Decision[Draws]:
        """p_0 is the elite of generation 0; request all programs."""
        state = Draws(
            generation=1,
            elite=self._initial,
            slots=((None,) * self._candidates,) * self._generations,
            trials=Trials(plan=self._plan, open={}).knowing(self._initial),
        )
        first = elite_changed(0, self._initial, None)
        # Without candidates all generations are already complete.
        return chain(Decision(state=state, facts=(first,)), self._conclude(state))

    def decide(self, state: Draws, fact: Fact) -> Decision[Draws]:
        """The decision after one proposal, episode or score."""
        if state.over:
            return Decision(state=state)
        if state.meeting is not None and parse(fact.order or "").stage in order_ids.FRESH:
            followed_up = follow_meeting(self, state, fact)
            return self._race(chain(followed_up, self._conclude(followed_up.state)))
        if isinstance(fact, ProposalMade | ProposalFailed):
            decision = self._take_proposal(state, fact)
            return self._race(decision) if self._plan.duplicates else decision  # a duplicate has a fitness
        return self._race(follow(state, state.trials.take(fact), self._settle))

    def finished(self, state: Draws) -> bool:
        """Whether the whole budget is spent."""
        return state.over

    def _propose(self, generation: int, slot: int) -> Propose:
        # Attempts are numbered from p_0, which was attempt 0 at the same prompt.
        number = 1 + (generation - 1) * self._candidates + slot
        return Propose(
            id=str(order_ids.candidate(generation, order_ids.RANDOM, slot)),
            operator=Operator.INITIAL,
            generation=generation,
            slot=number,
        )

    def _take_proposal(self, state: Draws, fact: ProposalMade | ProposalFailed) -> Decision[Draws]:
        if fact.order is None or fact.order not in state.requested:
            return Decision(state=state)
        state = replace(state, requested=state.requested - {fact.order})
        order = parse(fact.order)
        trial = trial_of(
            fact, fact.order, operator=Operator.INITIAL, generation=order.generation, slot=order.slot
        )
        return attempt(state, trial, fact, self._settle)

    def _settle(self, state: Draws, candidate: CandidateState) -> Decision[Draws]:
        place = candidate.generation - 1
        row = put(state.slots[place], candidate.slot, candidate)
        state = replace(state, slots=(*state.slots[:place], row, *state.slots[place + 1 :]))
        scored = CandidateScored(order=candidate.id, candidate=brief_of(candidate))
        return chain(Decision(state=state, facts=(scored,)), self._conclude(state))

    def _conclude(self, state: Draws) -> Decision[Draws]:
        """Close every generation that is complete, in order; request further programs if none is under way."""
        decision = Decision(state=state)
        while (then := self._next(decision.state)) is not None:
            decision = chain(decision, then)
        return decision

    def _next(self, state: Draws) -> Decision[Draws] | None:
        """The next conclusion; None if it has to wait for an answer, or if the search is over."""
        if state.over or state.meeting is not None:
            return None
        if state.generation > self._generations or (state.spent and not self._asked_of(state)):
            return Decision(state=replace(state, over=True), facts=(search_ended(state.elite),))
        asked, row = self._asked_of(state), state.slots[state.generation - 1]
        if None in row[:asked]:
            return None
        if state.spent or asked == self._candidates:
            ended = branch_ended(state.generation, Operator.INITIAL, best_of(row))
            others = () if self._plan.episodes is None else tuple(one for one in row if one is not None)
            elected = elect(self, state, fitter(row, state.elite), others)
            return chain(Decision(state=state, facts=(ended,)), elected)
        return self._ask(state)  # nothing is under way: all that was requested is spent

    def is_last(self, state: Draws) -> bool:
        """Whether no program of a later generation was or will be requested."""
        if state.generation >= self._generations:
            return True
        return state.asked <= state.generation * self._candidates and (state.spent or not self._room(state))

    def begin_generation(self, state: Draws) -> Decision[Draws]:
        """Not used: all generations are under way at once, so no elite is tried on fresh starts between them."""
        return Decision(state=state)

    def adopt(self, state: Draws, elite: CandidateState) -> Decision[Draws]:
        """The generation ends with this elite."""
        changed = elite_changed(state.generation, elite, state.elite)
        return Decision(state=replace(state, generation=state.generation + 1, elite=elite), facts=(changed,))

    def _asked_of(self, state: Draws) -> int:
        """How many slots of the generation in progress were requested."""
        return max(0, min(self._candidates, state.asked - (state.generation - 1) * self._candidates))

    def _ask(self, state: Draws) -> Decision[Draws]:
        """Request as many programs as there are slots and episodes for."""
        end = state.asked + self._room(state)
        if end == state.asked:
            return Decision(state=replace(state, spent=True))
        orders = tuple(
            self._propose(1 + number // self._candidates, number % self._candidates)
            for number in range(state.asked, end)
        )
        state = replace(state, asked=end, requested=frozenset(order.id for order in orders))
        return Decision(state=state, orders=orders)

    def _room(self, state: Draws) -> int:
        """How many further slots the budget allows, each with its episodes and each generation's confirmation."""
        slots = self._generations * self._candidates - state.asked
        if self._plan.episodes is None:
            return slots
        left = self._plan.episodes - state.trials.ordered
        room = 0
        while room < slots:
            generations = 1 + (state.asked + room) // self._candidates - (state.generation - 1)
            if (room + 1) * len(self._plan.seeds) + kept_free(self._plan, generations) > left:
                break
            room += 1
        return room

    def _race(self, decision: Decision[Draws]) -> Decision[Draws]:
        """Prune the trials that can no longer win."""
        if not self._plan.racing:
            return decision
        rows = decision.state.slots
        racing = {one.generation for one in decision.state.trials.open.values()}
        leaders = {generation: best_of(rows[generation - 1]) for generation in racing}
        for name in tuple(decision.state.trials.open):
            state = decision.state
            trial = state.trials.open[name]
            if not state.over and is_hopeless(trial, leaders[trial.generation], state.elite):
                decision = chain(decision, follow(state, state.trials.prune(name), self._settle))
        return decision


def is_hopeless(trial: Trial, leader: CandidateState | None, elite: CandidateState) -> bool:
    """Whether a trial can no longer be the best of its generation (so far `leader`), or no longer an elite."""
    # The elite's fitness never decreases, so a bound below the current elite also rules out later generations.
    most = bound(trial)
    return most < elite.fitness or falls_behind(trial, leader, most)
