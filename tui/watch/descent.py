"""The descent of candidates as the lines of a tree. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...memory.slots import Slot


@dataclass(frozen=True, slots=True)
class Branching:
    """One line: the branches of the tree before it, and the candidate. `also` are its other parents."""

    lead: str
    slot: Slot
    also: tuple[str, ...] = ()


def tree_of(candidates: Mapping[str, Slot], *, only: Iterable[str] | None = None) -> list[Branching]:
    """Every candidate under its first parent, in the order of the run; with `only`, a part of them.

    A candidate whose first parent is not shown is at the left margin, like p_0.
    """
    shown = candidates if only is None else {key: candidates[key] for key in only if key in candidates}
    children: dict[str | None, list[Slot]] = {}
    for slot in shown.values():
        parent = next((each for each in slot.parents if each in shown and each != slot.id), None)
        children.setdefault(parent, []).append(slot)
    lines: list[Branching] = []
    waiting = [(slot, "", "") for slot in reversed(children.get(None, []))]
    while waiting:
        slot, lead, below = waiting.pop()
        also = tuple(dict.fromkeys(each for each in slot.parents[1:] if each != slot.parents[0]))
        lines.append(Branching(lead, slot, also))
        under = children.get(slot.id, [])
        waiting += [
            (child, below + ("└─ " if child is under[-1] else "├─ "), below + ("   " if child is under[-1] else "│  "))
            for child in reversed(under)
        ]
    return lines
