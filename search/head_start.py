"""A head start: the next generation's first requests are made while the crossovers of this one are under way.

They are made of the program that leads when the crossovers begin, and kept only if it is the next elite; else what is
not answered is withdrawn, and the right requests are made. They show nothing of the crossovers, whose results are not
known yet. When they are made depends on no order of arrival, so neither does the run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..core import order_ids
from ..core.events import Fact, ProposalFailed, ProposalMade, Propose, SpeculationEnded, Withdraw
from ..core.keeper import Decision
from ..core.methods import SearchPart
from .branch import Branch
from .elite_keeper import EliteKeeper
from .setting_groups import ASKS_EARLY, PartSettings, SettingGroup, Switch
from .state import Search
from .trials import chain

Decided = Decision[Search]

HEAD_START = SettingGroup(
    name="head start", parts=frozenset({SearchPart.BRANCHES}),
    switches=(
        *ASKS_EARLY,
        Switch(
            name="islands", on=lambda values: values["islands"] == 1,
            otherwise="with islands, which begin each generation together: remove it, or set islands to 1",
        ),
        Switch(
            name="evaluator_every", on=lambda values: not values["evaluator_every"],
            otherwise="with evaluator_every, after which another program may lead: remove it, or set evaluator_every "
            "to 0",
        ),
        Switch(
            name="budget_episodes", on=lambda values: values["budget_episodes"] is None,
            otherwise="with budget_episodes, which says only then what the next generation has room for: remove it",
        ),
    ),
)


class HeadStartSettings(PartSettings):
    """Whether the next generation begins early."""

    head_start: bool = HEAD_START.field(
        False, "ask for the next generation's first programs while crossovers are under way"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Early:
    """What was requested for the next generation, of which program with how many episodes, and the answers so far."""

    parent: str = ""
    episodes: int = 0
    orders: tuple[str, ...] = ()
    answers: Mapping[str, ProposalMade | ProposalFailed] = field(default_factory=dict)


class HeadStartKeeper(EliteKeeper):
    """An engine that asks for the next generation early."""

    def opening(self) -> Search:
        """Nothing is requested early."""
        return super().opening().with_slice(Early())

    def decide(self, search: Search, fact: Fact) -> Decided:
        """The answer to an early request waits for its generation."""
        early = search.slice(Early)
        if fact.order not in early.orders:
            return super().decide(search, fact)
        if not isinstance(fact, ProposalMade | ProposalFailed) or fact.order is None or fact.order in early.answers:
            return Decision(state=search)
        return Decision(state=search.with_slice(replace(early, answers={**early.answers, fact.order: fact})))

    def _onward(self, decision: Decided) -> Decided:
        decision = super()._onward(decision)
        search = decision.state
        last = self.method.branches[-1]
        waits = search.begun == {*self._branches} and not search.is_spent(last.operator)
        if search.over or search.meeting or not waits or self.is_last(search) or search.slice(Early).orders:
            return decision
        if not all(each.has_result(search) for each in last.follows):
            return decision
        leader = self.leader(search)
        ahead = self.opened(self.with_elite(search, leader))
        orders = [
            replace(order, id=order_ids.ahead_id(order.id))
            for branch in self.method.branches if branch.is_due(ahead)
            for order in branch.begin(ahead, self).orders if isinstance(order, Propose)
        ]
        early = Early(parent=leader.id, episodes=len(leader.scores), orders=tuple(order.id for order in orders))
        return chain(decision, Decision(state=search.with_slice(early), orders=tuple(orders)))

    def begin_generation(self, search: Search) -> Decided:
        """What was requested of another program than the elite is withdrawn."""
        early = search.slice(Early)
        if (search.elite.id, len(search.elite.scores)) != (early.parent, early.episodes):
            decision = _withdrawn(search)
            return chain(decision, super().begin_generation(decision.state))
        decision = super().begin_generation(search)
        return chain(decision, _withdrawn(decision.state)) if decision.state.over else decision

    def request(self, search: Search, branch: Branch, slots: Iterable[int]) -> Decided:
        """What was requested early is not requested again; its answers are used now."""
        decision, early = super().request(search, branch, slots), search.slice(Early)
        kept = [(order.id, name) for order in decision.orders if (name := order_ids.ahead_id(order.id)) in early.orders]
        if not kept:
            return decision
        names = {name for _, name in kept}
        search = decision.state.with_slice(replace(early, orders=tuple(n for n in early.orders if n not in names)))
        open_ = {name for name in names if name not in early.answers}
        search = replace(search, requested=(search.requested - {slot for slot, _ in kept}) | open_)
        decision = Decision(
            state=search, orders=tuple(order for order in decision.orders if order_ids.ahead_id(order.id) not in names),
            facts=tuple(
                SpeculationEnded(order=name, slot=slot, kept=True, answered=name in early.answers)
                for slot, name in kept
            ),
        )
        for _, name in kept:
            if name in early.answers:
                decision = chain(decision, branch.answer(decision.state, early.answers[name], self))
        return decision


def _withdrawn(search: Search) -> Decided:
    """Without what was requested early."""
    early = search.slice(Early)
    ended = tuple(
        SpeculationEnded(order=name, slot=order_ids.slot_of(name), kept=False, answered=name in early.answers)
        for name in early.orders
    )
    orders = tuple(Withdraw(id=order_ids.withdraw_id(each.order), target=each.order)
                   for each in ended if not each.answered and each.order)
    return Decision(state=search.with_slice(Early()), orders=orders, facts=ended)
