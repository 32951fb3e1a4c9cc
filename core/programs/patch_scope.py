"""The body of a module or class during a merge: what becomes of its statements, and in which order new ones stand."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .execution_order import Ordering, Piece
from .patch_statements import is_text
from .program_text import FunctionNode
from .source_units import Unit


@dataclass(slots=True)
class Scope:
    """The body of the module or of one class: its units, and what becomes of each (by their indices).

    `path` is the class's dotted name with a dot behind it, "" for the module.
    """

    path: str
    units: list[Unit]
    indent: str
    where: Mapping[str, list[int]] = field(default_factory=dict)  # the units that set a name
    replaced: dict[int, list[Unit]] = field(default_factory=dict)
    inner: dict[int, Unit] = field(default_factory=dict)  # classes of the parent that a class of the patch changes
    gone: set[int] = field(default_factory=set)
    added: list["Added"] = field(default_factory=list)

    def __post_init__(self) -> None:
        where: dict[str, list[int]] = {}
        for index, unit in enumerate(self.units):
            for name in unit.names:
                where.setdefault(name, []).append(index)
        self.where = where


@dataclass(slots=True, eq=False)
class Added:
    """A new definition; `code` stands for its own text where only a part of an import is new."""

    unit: Unit
    piece: Piece
    code: str | None = None


@dataclass(slots=True)
class Group:
    """Definitions of a patch and the parent's units that they stand for, joined by common names."""

    names: set[str]
    old: set[int]
    new: list[Unit]


def grouped(scope: Scope, new: Sequence[Unit]) -> list[Group]:
    """The patch's definitions, those together that share names with each other or with one unit of the parent."""
    groups: list[Group] = []
    for unit in new:
        group = Group(set(unit.names), {i for name in unit.names for i in scope.where.get(name, ())}, [])
        apart: list[Group] = []
        for other in groups:
            if other.names & group.names or other.old & group.old:
                group = Group(group.names | other.names, group.old | other.old, [*group.new, *other.new])
            else:
                apart.append(other)
        group.new.append(unit)
        groups = [*apart, group]
    return groups


def rows_of(units: Sequence[Unit]) -> list[list[int]]:
    """The indices of the units, those together that share a line."""
    rows: list[list[int]] = []
    for index, unit in enumerate(units):
        if rows and not units[index - 1].ends_line and unit.indent is None:
            rows[-1].append(index)
        else:
            rows.append([index])
    return rows


def dependencies_first(added: Sequence[Added], ordering: Ordering) -> list[Added]:
    """The new definitions, each behind those that it needs when it is executed; otherwise in the patch's order."""
    left, ordered = [*added], []
    needs = {id(each): ordering.needs(each.piece) for each in added}
    while left:
        waiting = frozenset[str]().union(*(each.piece.names for each in left))
        ready = (each for each in left if not needs[id(each)] & (waiting - each.piece.names))
        ordered.append(next(ready, left[0]))
        left.remove(ordered[-1])
    return ordered


def preferred_gap(scope: Scope, order: Sequence["list[int] | Added"], new: Added) -> int | None:
    """Where a new definition belongs by custom, as a gap in `order`; None for: before its first user."""
    node = new.unit.node
    if isinstance(node, FunctionNode | ast.ClassDef):
        return len(order) if scope.path else None
    nodes = [item.unit.node if isinstance(item, Added) else scope.units[item[-1]].node for item in order]
    kinds: tuple[type[ast.stmt], ...] = (ast.Import, ast.ImportFrom)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        kinds = (*kinds, ast.Assign, ast.AnnAssign)
    last = 0
    for index, each in enumerate(nodes):
        if isinstance(each, FunctionNode | ast.ClassDef):
            break
        is_future = isinstance(each, ast.ImportFrom) and each.module == "__future__"
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and not is_future:
            kinds = ()
        if (index == 0 and is_text(each)) or isinstance(each, kinds) or is_future:
            last = index + 1
    return last
