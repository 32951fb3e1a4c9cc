"""The engine of a memetic search: generation after generation its branches ask for programs, the fittest is the elite.

It knows no operator, no memory and no option: which branches and parts there are is in `memento`. Decisions do not
depend on the order in which answers arrive.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..core import order_ids
from ..core.events import (
    CandidateScored,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    ProposalFailed,
    ProposalMade,
    Propose,
)
from ..core.keeper import Decision
from ..core.operators import OPERATORS
from ..core.values import CandidateState, Operator
from .branch import Branch
from .dealing import affordable, dealt, is_spent
from .meetings.challenge import elect
from .meetings.meeting import follow, follow_meeting
from .meetings.starts import start_afresh
from .meetings.stream import with_record
from .outcomes import branch_ended, elite_changed, search_ended
from .part import Part
from .parts.racing import race
from .rollout_plan import RolloutPlan
from .state import Search, Slots
from .trials import Trials, brief_of, chain, failed_candidate, trial_of

Decided = Decision[Search]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemeticMethod:
    """A memetic search of one elite, in parts.

    `branches` in the order of their requests; of equal results the later branch's is the elite. `parts` in the order in
    which they see each moment. With `races` trials that cannot win any more are pruned.
    """

    generations: int
    branches: tuple[Branch, ...]
    parts: tuple[Part, ...] = ()
    races: bool = False


class EliteKeeper:
    """Decides the policy search from the evaluated initial policy C_0 to the elite C_G."""

    def __init__(self, *, initial: CandidateState, plan: RolloutPlan, method: MemeticMethod) -> None:
        self._initial, self._plan, self.method = initial, plan, method
        self._branches = {branch.operator: branch for branch in method.branches}
        self._parts: tuple[Part, ...] = (*method.branches, *method.parts)
        self._measured = plan.episodes is not None  # no trial is pruned, so that all programs can be compared

    def start(self) -> Decided:
        """C_0 is the elite of generation 0."""
        search = self.opening()
        first = Decision(state=search, facts=(elite_changed(0, self._initial, None),))
        return chain(first, self.begin_generation(search))

    def opening(self) -> Search:
        """The state before the first generation."""
        trials = Trials(plan=self._plan, open={}).knowing(self._initial)
        search = Search(generation=0, elite=self._initial, trials=trials)
        for part in self._parts:
            search = part.at_start(search)
        return search

    def decide(self, search: Search, fact: Fact) -> Decided:
        """The decision after one answer."""
        if search.over:
            return Decision(state=search)
        if search.meeting is not None:
            return follow_meeting(self, search, fact)
        if isinstance(fact, EpisodeEnded | EpisodeScored):
            decision, scores = follow(search, search.trials.take(fact), self.settle), True
        else:
            decision, scores = self._take_answer(search, fact), self._plan.duplicates
        # Only a score, or a duplicate, which has one on arrival, makes another trial hopeless.
        return race(decision, self._branches, self.settle) if self.method.races and scores else decision

    def finished(self, search: Search) -> bool:
        """Whether all generations are over."""
        return search.over

    # ------------------------------------------------------------------------------------ a generation

    def begin_generation(self, search: Search) -> Decided:
        """Open the branches of the next generation, or end the search."""
        starts = start_afresh(self, search)
        if starts is not None:
            return starts
        if search.saturated or self.is_last(search):
            return Decision(state=replace(search, over=True), facts=(search_ended(search.elite),))
        return self._onward(Decision(state=self.opened(search)))

    def opened(self, search: Search) -> Search:
        """The state in which the next generation is open, and no branch has begun."""
        search = replace(search, generation=search.generation + 1)
        for part in self._parts:
            search = part.at_generation(search)
        return replace(search, slots=self._open_slots(search), begun=frozenset(), requested=frozenset())

    def _open_slots(self, search: Search) -> dict[Operator, Slots]:
        """The slots of the generation; a budget of episodes may have room for some only."""
        held = {each.operator: each.reservation(search) for each in self.method.branches}
        ordered = search.trials.ordered + sum(each.episodes for each in held.values() if each is not None)
        dealing = [each for each in self.method.branches if held[each.operator] is None]
        room = tuple(each.count for each in dealing)
        counts = dealt(room, affordable(search.trials.plan, ordered, sum(room)))
        found = {each.operator: count for each, count in zip(dealing, counts, strict=True)}
        found |= {operator: each.slots for operator, each in held.items() if each is not None}
        return {operator: (None,) * found[operator] for operator in self._branches}

    def _onward(self, decision: Decided) -> Decided:
        """Begin the branches that are due; end the generation once all slots are spent."""
        search = decision.state
        for branch in self.method.branches:
            if branch.is_due(search):
                search = replace(search, begun=search.begun | {branch.operator})
                return self._onward(chain(decision, branch.begin(search, self)))
        if all(map(search.is_spent, self._branches)):
            return chain(decision, self._end_generation(search))
        return decision

    def _end_generation(self, search: Search) -> Decided:
        found = self.outputs(search)
        for part in self._parts:
            search = part.at_end(search, found)
        return elect(self, search, self.leader(search), found)

    def results(self, search: Search) -> list[CandidateState]:
        """What the branches would end with, if the generation ended now."""
        found = [branch.result(search) for branch in self.method.branches]
        return [*(one for one in found if one is not None), search.elite]

    def outputs(self, search: Search) -> list[CandidateState]:
        """The programs of a generation that the final choice may compare.

        All of them where all are measured; else the best ones, since racing may have pruned any other, and must not
        change a result.
        """
        more = [branch.candidates(search) for branch in self.method.branches] if self._measured else []
        return [*self.results(search), *(one for each in more for one in each)]

    def leader(self, search: Search) -> CandidateState:
        """C_g: the fittest result of a branch. Ties: the later branch, the old elite, branches that do not win ties."""
        places = {operator: place for place, operator in enumerate(self._branches, start=1)}

        def rank(one: CandidateState) -> tuple[float, int]:
            if one.id == search.elite.id:
                return one.fitness, -1
            branch = self._branches.get(one.operator)
            return one.fitness, -2 if branch and not branch.wins_ties else places.get(one.operator, 0)

        return max(self.results(search), key=rank)

    def is_last(self, search: Search) -> bool:
        """Whether the generation in progress is the last."""
        return search.generation >= self.method.generations or is_spent(search.trials.plan, search.trials.ordered)

    def adopt(self, search: Search, elite: CandidateState) -> Decided:
        """The generation ends with this elite."""
        changed = elite_changed(search.generation, elite, search.elite)
        adopted = self.with_elite(search, elite)
        return chain(Decision(state=adopted, facts=(changed,)), self.begin_generation(adopted))

    def with_elite(self, search: Search, elite: CandidateState) -> Search:
        """The state after a generation with this elite."""
        for part in self._parts:
            search = part.at_elite(search, elite)
        return replace(search, elite=elite)

    # ------------------------------------------------------------------------------------------ a slot

    def propose(self, search: Search, branch: Branch, slot: int) -> Propose:
        """The order for a slot, with all that the parts of the method show in its prompt."""
        plan = search.trials.plan
        name = order_ids.candidate(search.generation, OPERATORS[branch.operator].word, slot, island=plan.island)
        order = Propose(
            id=str(name), operator=branch.operator, generation=search.generation, slot=slot,
            parents=tuple(with_record(one, search.records) for one in branch.parents(search)), elite=search.elite.id,
            fitness=plan.fitness,
        )
        for part in self._parts:
            order = part.show(search, order)
        return order

    def request(self, search: Search, branch: Branch, slots: Iterable[int]) -> Decided:
        """Ask for the proposals of these slots."""
        orders = tuple(self.propose(search, branch, slot) for slot in slots)
        names = frozenset(order.id for order in orders)
        return Decision(state=replace(search, requested=search.requested | names), orders=orders)

    def _take_answer(self, search: Search, fact: Fact) -> Decided:
        if fact.order is None or fact.order not in search.requested:
            return Decision(state=search)
        search = replace(search, requested=search.requested - {fact.order})
        return self._branch_of(fact.order).answer(search, fact, self)

    def _branch_of(self, order: str) -> Branch:
        return self._branches[OPERATORS.of_word(order_ids.parse(order).branch)]

    def attempt(self, search: Search, slot: str, fact: ProposalMade | ProposalFailed) -> Decided:
        """Start the trial of a proposal, or spend its slot with a failed candidate."""
        branch = self._branch_of(slot)
        trial = trial_of(
            fact, slot, operator=branch.operator, generation=search.generation, slot=order_ids.parse(slot).slot,
            parents=branch.parents(search),
        )
        search = replace(search, trials=search.trials.with_practice(fact))
        if isinstance(fact, ProposalFailed):
            return self.settle(search, failed_candidate(trial, fact.fault))
        return follow(search, search.trials.begin(trial, shape=fact.shape), self.settle)

    def settle(self, search: Search, one: CandidateState) -> Decided:
        """A slot is spent: its branch goes on, and others may begin."""
        decision, branch = self.spend(search, one), self._branches[one.operator]
        if branch.has_result(decision.state):
            return self._onward(decision)
        return chain(decision, branch.go_on(decision.state, self))

    def spend(self, search: Search, one: CandidateState) -> Decided:
        """The state after a slot is spent; the last slot of a branch ends it."""
        facts: tuple[Fact, ...] = (CandidateScored(order=one.id, candidate=brief_of(one)),)
        for part in self._parts:
            search = part.at_candidate(search, one)
        branch = self._branches[one.operator]
        search, verdict = branch.take(search.with_candidate(one), one)
        if search.is_spent(one.operator):
            verdict = (*verdict, branch_ended(search.generation, one.operator, branch.result(search)))
        return Decision(state=search, facts=(*facts, *verdict))
