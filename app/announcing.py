"""Reports events that are not in the log to a display: started orders, and the activity of the workers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..core.events import Fact
from ..runtime.rollouts.pool import Activity, Observer
from ..runtime.supervisor import Agent, Lane
from ..tui.display import Attentive, Display


def announced(lanes: Sequence[Lane], display: Display) -> tuple[Lane, ...]:
    """The same lanes, which report every order that they start to an attentive display."""
    if not isinstance(display, Attentive):
        return tuple(lanes)
    return tuple(
        replace(lane, agents={kind: _Announcing(agent, display) for kind, agent in lane.agents.items()})
        for lane in lanes
    )


def observed(observer: Observer, display: Display) -> Observer:
    """An observer of the pool that forwards its reports to an attentive display."""
    if not isinstance(display, Attentive):
        return observer
    attentive: Attentive = display

    def both(activity: Activity) -> None:
        observer(activity)
        attentive.observe(activity)

    return both


class _Announcing:
    def __init__(self, agent: Agent, display: Attentive) -> None:
        self._agent = agent
        self._display = display

    async def carry_out(self, order: Any) -> Fact:
        self._display.begun(order.id)
        return await self._agent.carry_out(order)
