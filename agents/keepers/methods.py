"""The search methods by name. Each is a keeper over the same agents, made from C_0, the rollout plan and the slots."""

from collections.abc import Callable
from typing import Any

from ...core.keeper import Keeper
from ...core.values import Candidate
from .memento import MementoKeeper, Slots
from .trials import RolloutPlan

MakeKeeper = Callable[[Candidate, RolloutPlan, Slots], Keeper[Any]]


def _memento(initial: Candidate, plan: RolloutPlan, slots: Slots) -> MementoKeeper:
    return MementoKeeper(initial=initial, plan=plan, slots=slots)


METHODS: dict[str, tuple[str, MakeKeeper]] = {
    "memento": (
        "hill-climbing with rejection memory, macro-mutation and crossover around one elite (the paper)",
        _memento,
    ),
}
