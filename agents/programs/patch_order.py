"""Where each new definition of a patch stands among those of its parent, so that a name is set before it is used."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...core.programs.program_text import FunctionNode, child_nodes
from ...core.programs.source_units import Statement
from .patch_statements import is_text

NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class NameUse:
    """What some statements set and use. `now`: used when they are executed; `ever`: also when they are called."""

    names: frozenset[str] = NO_NAMES
    now: frozenset[str] = NO_NAMES
    ever: frozenset[str] = NO_NAMES

    def plus(self, other: "NameUse") -> "NameUse":
        """Both together."""
        return NameUse(names=self.names | other.names, now=self.now | other.now, ever=self.ever | other.ever)


def piece_of(node: ast.stmt, names: frozenset[str]) -> NameUse:
    """What a statement uses; the body of a function is executed when it is called, that of a class at once."""
    now: set[str] = set()
    later: set[str] = set()
    waiting: list[tuple[ast.AST, set[str]]] = [(node, now)]
    while waiting:
        part, found = waiting.pop()
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):
                found.add(part.id)
            continue
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
        inner: Sequence[ast.AST] = ()
        if isinstance(part, FunctionNode):
            inner = part.body
        elif isinstance(part, ast.Lambda):
            inner = (part.body,)
        kept = set(map(id, inner))
        waiting += [(below, later) for below in inner]
        waiting += [
            (below, found) for below in child_nodes((part,)) if isinstance(below, ast.AST) and id(below) not in kept
        ]
    return NameUse(names=names, now=frozenset(now), ever=frozenset(now | later))


class Ordering:
    """Pieces in their order, and new ones that get their places one after the other."""

    def __init__(self, pieces: Sequence[NameUse], new: Sequence[NameUse]) -> None:
        self.pieces = [*pieces]
        self._setters: dict[str, list[NameUse]] = {}
        self._users: dict[tuple[str, bool], list[NameUse]] = {}  # by name, and whether calls count
        for piece in (*pieces, *new):
            for name in piece.names:
                self._setters.setdefault(name, []).append(piece)
            for name in piece.ever:
                self._users.setdefault((name, True), []).append(piece)
            for name in piece.now:
                self._users.setdefault((name, False), []).append(piece)

    def insert(self, new: NameUse, preferred: int | None) -> int | None:
        """Put `new` into the gap, from 0 (first), that is nearest to the preferred one; None if there is no gap.

        None as the preferred gap stands for the one before the first piece that uses it. What is called may be used:
        the names that a called function needs have to be set before the call too. Where that leaves no gap, only
        the names count that the statements themselves use, since a name in a function may be local to it.
        """
        places = enumerate(self.pieces)
        if preferred is None:
            preferred = next((place for place, piece in places if piece.ever & new.names), len(self.pieces))
        for called in (True, False):
            needs, users = self.needs(new, called=called) - new.names, self._reaching(new.names, called=called)
            least = max((place + 1 for place, piece in enumerate(self.pieces) if piece.names & needs), default=0)
            first = (place for place, piece in enumerate(self.pieces) if piece.now & users)
            most = next(first, len(self.pieces))
            if least <= most:
                gap = min(max(preferred, least), most)
                self.pieces.insert(gap, new)
                return gap
        return None

    def needs(self, piece: NameUse, *, called: bool = True) -> frozenset[str]:
        """The names that a piece uses when it is executed, all that the pieces which set them use, and so on."""
        found, waiting = set(piece.now), [*piece.now]
        passed: set[int] = set()
        while waiting:
            for setter in self._setters.get(waiting.pop(), ()):
                if id(setter) not in passed:
                    passed.add(id(setter))
                    fresh = (setter.ever if called else setter.now) - found
                    found |= fresh
                    waiting += fresh
        return frozenset(found)

    def _reaching(self, names: frozenset[str], *, called: bool) -> frozenset[str]:
        """The names, and those of all pieces that use them, and so on."""
        found, waiting = set(names), [*names]
        passed: set[int] = set()
        while waiting:
            for user in self._users.get((waiting.pop(), called), ()):
                if id(user) not in passed:
                    passed.add(id(user))
                    fresh = user.names - found
                    found |= fresh
                    waiting += fresh
        return frozenset(found)


@dataclass(slots=True)
class Scope:
    """The body of the module or of one class: its units, and what becomes of each (by their indices).

    `path` is the class's dotted name with a dot behind it, "" for the module.
    """

    path: str
    units: list[Statement]
    indent: str
    where: Mapping[str, list[int]] = field(default_factory=dict)  # the units that set a name
    replaced: dict[int, list[Statement]] = field(default_factory=dict)
    inner: dict[int, Statement] = field(default_factory=dict)  # classes of the parent that a class of the patch changes
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

    unit: Statement
    piece: NameUse
    code: str | None = None


@dataclass(slots=True)
class Group:
    """Definitions of a patch and the parent's units that they stand for, joined by common names."""

    names: set[str]
    old: set[int]
    new: list[Statement]


def groups_of(scope: Scope, new: Sequence[Statement]) -> list[Group]:
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


def rows_of(units: Sequence[Statement]) -> list[list[int]]:
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
