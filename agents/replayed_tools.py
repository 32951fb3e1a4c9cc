"""Tools in a replay: what a limit on time decided is repeated from the record, since it would come out otherwise."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..core.events import Compute, Fact, LookCloser, ToolAnswered, TryProgram
from ..core.faults import FaultKind
from ..core.values import Episode


class Tool(Protocol):
    """The agent of a tool."""

    async def carry_out(self, order: Any) -> ToolAnswered:
        """Answer one call."""


Answered = Mapping[str, ToolAnswered]
"""The answers of tools in a recorded run, by their orders."""


def recorded_answers(facts: Iterable[Fact]) -> Answered:
    """The answers in a log, by their orders."""
    return {fact.order: fact for fact in facts if isinstance(fact, ToolAnswered) and fact.order is not None}


class Repeating:
    """A tool that repeats the recorded answers about episodes that a limit on time ended; it does all else itself."""

    def __init__(self, tool: Tool, recorded: Answered) -> None:
        self._tool = tool
        self._recorded = recorded

    async def carry_out(self, order: TryProgram | LookCloser | Compute) -> ToolAnswered:
        """Answer one call. Raises what the tool raises."""
        known = self._recorded.get(order.id)
        if known is not None and _cut_short(known.episode if isinstance(order, TryProgram) else order.episode):
            return known
        return await self._tool.carry_out(order)


def _cut_short(episode: Episode | None) -> bool:
    """Whether a limit on time decided on the episode: how far it came differs between two rollouts."""
    fault = None if episode is None else episode.fault
    return fault is not None and fault.kind in (FaultKind.TIMED_OUT, FaultKind.TOO_SLOW)
