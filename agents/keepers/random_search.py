"""Random search: independent programs from the initial prompt, the best of them kept; the floor for every method.

No parents, no memory, no operators: any gain over this at an equal budget is due to the method.
"""

from dataclasses import dataclass, replace

from ...core import order_ids
from ...core.events import CandidateScored, Fact, ProposalFailed, ProposalMade, Propose
from ...core.keeper import Decision
from ...core.values import Candidate, Operator
from .outcomes import branch_ended, elite_changed, search_ended
from .places import put
from .rounds import fitter
from .search_state import SearchState, followed, tried
from .selection import best_of, falls_behind
from .trials import RolloutPlan, Trial, Trials, bound, brief_of, chained, trial_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws(SearchState):
    """The state between two facts. `generation` g is the first incomplete one; `elite` is C_(g-1)."""

    slots: tuple[tuple[Candidate | None, ...], ...]  # of all generations, in order


class RandomKeeper:
    """Decides random search. Generations only divide the budget, so that its curve compares with other methods'.

    All programs are requested at once, because none depends on another: a round of `rounds.py` would wait for its
    slowest reply without need.
    """

    def __init__(self, *, initial: Candidate, plan: RolloutPlan, generations: int, candidates: int) -> None:
        self._initial = initial
        self._plan = plan
        self._generations = generations
        self._candidates = candidates

    def start(self) -> Decision[Draws]:
        """p_0 is the elite of generation 0; request all programs."""
        orders = tuple(
            self._propose(generation, slot)
            for generation in range(1, self._generations + 1)
            for slot in range(self._candidates)
        )
        state = Draws(
            generation=1,
            elite=self._initial,
            slots=((None,) * self._candidates,) * self._generations,
            requested=frozenset(order.id for order in orders),
            trials=Trials(plan=self._plan, open={}).knowing(self._initial),
        )
        first = elite_changed(0, self._initial, None)
        concluded = self._conclude(state)  # without candidates all generations are already complete
        return replace(concluded, orders=orders, facts=(first, *concluded.facts))

    def decide(self, state: Draws, fact: Fact) -> Decision[Draws]:
        """The decision after one proposal, episode or score."""
        if state.over:
            return Decision(state=state)
        if isinstance(fact, ProposalMade | ProposalFailed):
            decision = self._take_proposal(state, fact)
            return self._race(decision) if self._plan.duplicates else decision  # a duplicate has a fitness
        return self._race(followed(state, state.trials.take(fact), self._settle))

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
        order = order_ids.parse(fact.order)
        trial = trial_of(
            fact, fact.order, operator=Operator.INITIAL, generation=order.generation, slot=order.slot
        )
        return tried(state, trial, fact, self._settle)

    def _settle(self, state: Draws, candidate: Candidate) -> Decision[Draws]:
        place = candidate.generation - 1
        row = put(state.slots[place], candidate.slot, candidate)
        state = replace(state, slots=(*state.slots[:place], row, *state.slots[place + 1 :]))
        concluded = self._conclude(state)
        scored = CandidateScored(order=candidate.id, candidate=brief_of(candidate))
        return replace(concluded, facts=(scored, *concluded.facts))

    def _conclude(self, state: Draws) -> Decision[Draws]:
        """Close every generation that is complete, in order."""
        facts: list[Fact] = []
        while state.generation <= self._generations and None not in state.slots[state.generation - 1]:
            row = state.slots[state.generation - 1]
            facts.append(branch_ended(state.generation, Operator.INITIAL, best_of(row)))
            elite = fitter(row, state.elite)
            facts.append(elite_changed(state.generation, elite, state.elite))
            state = replace(state, generation=state.generation + 1, elite=elite)
        if state.generation <= self._generations:
            return Decision(state=state, facts=tuple(facts))
        return Decision(state=replace(state, over=True), facts=(*facts, search_ended(state.elite)))

    def _race(self, decision: Decision[Draws]) -> Decision[Draws]:
        """Prune the trials that can no longer win."""
        if not self._plan.racing:
            return decision
        rows = decision.state.slots
        leaders = {one.generation: best_of(rows[one.generation - 1]) for one in decision.state.trials.open.values()}
        for name in tuple(decision.state.trials.open):
            state = decision.state
            trial = state.trials.open[name]
            if not state.over and is_hopeless(trial, leaders[trial.generation], state.elite):
                decision = chained(decision, followed(state, state.trials.prune(name), self._settle))
        return decision


def is_hopeless(trial: Trial, leader: Candidate | None, elite: Candidate) -> bool:
    """Whether a trial can no longer be the best of its generation (so far `leader`), or no longer an elite."""
    # The elite's fitness never decreases, so a bound below the current elite also rules out later generations.
    return falls_behind(trial, leader) or bound(trial) < elite.fitness
