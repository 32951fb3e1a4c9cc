"""Speculation: while an edit of the climb rolls out, the next one is requested as if this one were rejected.

This is possible because the prompt holds edit summaries only, and the summary is known before the fitness. If the edit
is accepted, the request is withdrawn and the right one is sent, so the proposals are the same as without.
"""

from dataclasses import dataclass, replace

from ...core import order_ids
from ...core.events import Fact, ProposalFailed, ProposalMade, SpeculationEnded, Withdraw
from ...core.keeper import Decision
from ...core.methods import SearchPart
from ...core.values import Rejection
from ..branch import Engine
from ..branches.climb import Chain, HillClimb
from ..setting_groups import ASKS_EARLY, PartSettings, SettingGroup, Switch
from ..state import Search
from ..trials import chain

SPECULATION = SettingGroup(
    name="speculation", parts=frozenset({SearchPart.CLIMB}),
    switches=(
        Switch(
            name="memory_detail", on=lambda values: values["memory_detail"] != "full",
            otherwise="with memory_detail = 'full', which shows every verdict before the next question: remove it, or "
            "set memory_detail to 'summary'",
        ),
        *ASKS_EARLY,
        Switch(
            name="climb_width", on=lambda values: values["climb_width"] == 1,
            otherwise="with climb_width, whose next step follows from all edits of the last one: remove it, or set "
            "climb_width to 1",
        ),
    ),
)


class SpeculationSettings(PartSettings):
    """Whether a climb asks ahead."""

    speculation: bool = SPECULATION.field(False, "ask for the next climb before the verdict; changes no result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ahead:
    """A proposal requested ahead ("" for none), the program that it edits, and the answer that waits for its turn."""

    order: str = ""
    current: str = ""
    answer: ProposalMade | ProposalFailed | None = None


class SpeculativeClimb(HillClimb):
    """A climb that asks ahead."""

    def at_start(self, search: Search) -> Search:
        """Nothing is requested ahead."""
        return super().at_start(search).with_slice(Ahead())

    def answer(self, search: Search, fact: Fact, engine: Engine) -> Decision[Search]:
        """An answer that came ahead of its turn waits; another one is tried, and the next is requested meanwhile."""
        if not isinstance(fact, ProposalMade | ProposalFailed) or fact.order is None:
            return Decision(state=search)
        ahead = search.slice(Ahead)
        if ahead.order == fact.order:
            return Decision(state=search.with_slice(replace(ahead, answer=fact)))
        return self._attempt(search, order_ids.slot_of(fact.order), fact, engine)

    def _attempt(
        self, search: Search, slot: str, fact: ProposalMade | ProposalFailed, engine: Engine
    ) -> Decision[Search]:
        decision = engine.attempt(search, slot, fact)
        search, place = decision.state, order_ids.parse(slot).slot + 1
        if slot not in search.trials.open or place >= len(search.slots[self.operator]):
            return decision
        order = engine.propose(search, self, place)
        presumed = Rejection(summary=fact.summary, candidate=slot, fitness_difference=None, reason="presumed")
        order = replace(order, id=order_ids.ahead_id(order.id), rejections=(*order.rejections, presumed))
        search = search.with_slice(Ahead(order=order.id, current=search.slice(Chain).current.id))
        return chain(decision, Decision(
            state=replace(search, requested=search.requested | {order.id}), orders=(order,)
        ))

    def go_on(self, search: Search, engine: Engine) -> Decision[Search]:
        """The next proposal: what was requested ahead if it edits the right program, else a new request."""
        ahead = search.slice(Ahead)
        if not ahead.order:
            return super().go_on(search, engine)
        kept, answered = ahead.current == search.slice(Chain).current.id, ahead.answer is not None
        ended = SpeculationEnded(order=ahead.order, slot=order_ids.slot_of(ahead.order), kept=kept, answered=answered)
        search = search.with_slice(Ahead())
        if not kept:
            target = ahead.order
            withdrawn = () if answered else (Withdraw(id=order_ids.withdraw_id(target), target=target),)
            search = replace(search, requested=search.requested - {target})
            return chain(Decision(state=search, orders=withdrawn, facts=(ended,)), super().go_on(search, engine))
        decision = Decision(state=search, facts=(ended,))
        if ahead.answer is None:
            return decision
        return chain(decision, self._attempt(search, ended.slot, ahead.answer, engine))
