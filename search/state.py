"""The state of a memetic search: the slots of its generation, and a slice for each part of the method."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ..core.keeper import put
from ..core.values import CandidateState, Operator
from .meetings.meeting import SearchState

T = TypeVar("T")
Slots = tuple[CandidateState | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(SearchState):
    """The state between two facts.

    `slots` are those of the generation by operator, None for open ones. `begun` are the branches under way or over.
    `slices` hold what each part of the method remembers, by the type of the slice.
    """

    slots: Mapping[Operator, Slots] = field(default_factory=dict)
    begun: frozenset[Operator] = frozenset()
    slices: Mapping[type, Any] = field(default_factory=dict)

    def slice(self, kind: type[T]) -> T:
        """What a part remembers. Raises KeyError where the method has no such part."""
        found: T = self.slices[kind]
        return found

    def with_slice(self, found: object) -> "Search":
        """The state in which a part remembers this, in place of its last slice."""
        return replace(self, slices={**self.slices, type(found): found})

    def with_candidate(self, one: CandidateState) -> "Search":
        """The state in which a candidate has spent its slot."""
        return replace(self, slots={**self.slots, one.operator: put(self.slots[one.operator], one.slot, one)})

    def of(self, operator: Operator) -> tuple[CandidateState, ...]:
        """The candidates that have spent slots of a branch, in the order of the slots."""
        return tuple(one for one in self.slots.get(operator, ()) if one is not None)

    def is_spent(self, operator: Operator) -> bool:
        """Whether a branch has no open slot."""
        return None not in self.slots.get(operator, ())
