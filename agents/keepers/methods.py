"""The keeper of each search method, by the method's name."""

from collections.abc import Callable
from typing import Any

from ...core.keeper import Keeper
from ...core.values import Candidate
from .memento import MementoKeeper, Slots
from .random_search import RandomKeeper
from .trials import RolloutPlan

MakeKeeper = Callable[[Candidate, RolloutPlan, Slots], Keeper[Any]]
"""Makes a keeper from C_0, how candidates are evaluated, and the slots of a generation."""


def _memento(initial: Candidate, plan: RolloutPlan, slots: Slots) -> MementoKeeper:
    return MementoKeeper(initial=initial, plan=plan, slots=slots)


def _random(initial: Candidate, plan: RolloutPlan, slots: Slots) -> RandomKeeper:
    together = slots.hill_climb + slots.macro + slots.crossover
    return RandomKeeper(initial=initial, plan=plan, generations=slots.generations, candidates=together)


KEEPERS: dict[str, MakeKeeper] = {"memento": _memento, "random": _random}
