"""What a merge does with each body: the order of its statements, their scope, and the characters that they replace."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .patch_form import is_text
from .program_text import FunctionNode, children
from .source_units import BLANK, LINE_BREAK, ParsedText, Statement, body_begin

# The text of a merge: which characters of the parent a definition of the patch takes the place of.


class TextEdit(NamedTuple):
    """A replacement of text[start:end]."""

    start: int
    end: int
    text: str


New = tuple[Statement, str | None]
"""A definition of the patch, and its code where that is not its own text."""


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text after edits that do not overlap; insertions at one place keep their order."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join([*pieces, text[at:]])


def string_lines(tree: ast.Module) -> frozenset[int]:
    """The lines (from 1) that begin inside of a string, so that their first characters are not indentation."""
    found: set[int] = set()
    level: list[ast.AST] = [tree]
    while level:
        inner: list[ast.AST] = []
        for node in level:
            if isinstance(node, ast.JoinedStr) or (
                isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
            ):
                found.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))
            else:
                inner.append(node)
        level = [node for node in children(inner) if isinstance(node, ast.AST)]
    return frozenset(found)


class PatchWriter:
    """Writes definitions of a patch with the indentation and line breaks of the parent.

    `strings` are the lines of the patch that begin inside of strings; `drops` says of a comment above a definition
    that it does not belong to the program.
    """

    def __init__(
        self, old: ParsedText, new: ParsedText, strings: frozenset[int], *, drops: Callable[[str], bool]
    ) -> None:
        self._old = old
        self._new = new
        self._strings = strings
        self._drops = drops

    def replacement(self, unit: Statement, new: Sequence[Statement]) -> TextEdit:
        """New definitions in the place of a unit of the parent; its comments stay where the new one has none."""
        if not unit.alone:
            return TextEdit(unit.start, unit.code_end, self._new.text[new[0].start : new[0].code_end])
        indent = unit.indent or ""
        start = unit.lead if self._comments(new[0]) else unit.start
        return TextEdit(start, unit.end, self._block([(each, None) for each in new], indent).removeprefix(indent))

    def neutral(self, unit: Statement) -> TextEdit:
        """`pass` in the place of a deleted unit that shares its line with others."""
        return TextEdit(unit.start, unit.code_end, "pass")

    def removal(self, unit: Statement) -> TextEdit:
        """The unit is left out with its lines, its comments and the empty lines above it."""
        line = self._old.line_of(unit.lead)
        first = self._old.line_of(unit.floor) + 1 if unit.floor else 0
        while line > first and not self._old.line(line - 1).strip(BLANK):
            line -= 1
        last = self._old.line_of(unit.end) + 1
        end = self._old.starts[last] if last < len(self._old.starts) else len(self._old.text)
        return TextEdit(self._old.starts[line], end, "")

    def refill(self, unit: Statement, new: Sequence[New]) -> TextEdit:
        """New definitions, or `pass`, in the place of the last unit of a class, which is deleted."""
        indent = unit.indent or ""
        text = self._block(new, indent).removeprefix(indent) if new else "pass"
        return TextEdit(unit.lead, unit.end, text)

    def opened(self, first: Statement, indent: str) -> TextEdit:
        """The statements of a class that stand on the line of its header get a separate line."""
        return TextEdit(first.floor, first.start, self._old.newline + indent)

    def behind(self, before: Statement, new: Sequence[New], after: Statement | None, indent: str) -> TextEdit:
        """New definitions on the lines behind a unit."""
        at = self._old.line_end(before.end)
        lead = self._old.newline * (1 + self._distance(before, new[0][0], indent))
        tail = ""
        if after is not None:
            there = self._old.line_of(after.lead) - self._old.line_of(before.end) - 1
            tail = self._old.newline * max(0, self._distance(new[-1][0], after, indent) - there)
        return TextEdit(at, at, lead + self._block(new, indent) + tail)

    def ahead(self, after: Statement, new: Sequence[New], indent: str) -> TextEdit:
        """New definitions on the lines before the first unit of a scope."""
        at = self._old.starts[self._old.line_of(after.lead)]
        gap = self._old.newline * (1 + self._distance(new[-1][0], after, indent))
        return TextEdit(at, at, self._block(new, indent) + gap)

    def header(self, unit: Statement, old: ast.ClassDef, patch: Statement, new: ast.ClassDef) -> list[TextEdit]:
        """The decorators and bases of a class, where the patch gives others."""
        edits: list[TextEdit] = []
        begin, given = self._keyword(self._old, old), self._keyword(self._new, new)
        if new.decorator_list and _differ(old.decorator_list, new.decorator_list):
            text = self._shifted(patch.start, given, patch.indent, unit.indent or "")
            edits.append(TextEdit(unit.start, begin, text))
        if (new.bases or new.keywords) and _differ([*old.bases, *old.keywords], [*new.bases, *new.keywords]):
            text = self._new.text[given : body_begin(self._new, new)]
            edits.append(TextEdit(begin, body_begin(self._old, old), self._own_breaks(text)))
        return edits

    # ------------------------------------------------------------------------------------------ parts

    def _block(self, new: Sequence[New], indent: str) -> str:
        """Definitions one below the other, each line with its indentation."""
        text = ""
        for place, (unit, code) in enumerate(new):
            if place:
                text += self._old.newline * (1 + self._distance(new[place - 1][0], unit, indent))
            lines = [*self._comments(unit), self._code(unit, indent) if code is None else code]
            text += self._old.newline.join(indent + line for line in lines)
        return text

    def _code(self, unit: Statement, indent: str) -> str:
        return self._shifted(unit.start, unit.end, unit.indent, indent)

    def _comments(self, unit: Statement) -> list[str]:
        """The comments above a definition of the patch, without their indentation."""
        lines = LINE_BREAK.split(self._new.text[unit.lead : unit.start])
        return [line.strip(BLANK) for line in lines if line.strip(BLANK) and not self._drops(line)]

    def _shifted(self, start: int, end: int, indent: str | None, wanted: str) -> str:
        """A piece of the patch with the other indentation in all lines but the first; strings stay as they are."""
        text = self._new.text[start:end]
        if indent in (None, wanted):
            return self._own_breaks(text)
        first, last = self._new.line_of(start), self._new.line_of(end)
        lines = [self._new.text[start : min(end, self._new.line_end(start))]]
        for index in range(first + 1, last + 1):
            begin = self._new.starts[index]
            line = self._new.text[begin : max(begin, min(end, self._new.line_end(begin)))]
            free = index + 1 not in self._strings and line.strip() and line.startswith(indent)
            lines.append(wanted + line[len(indent) :] if free else line)
        return self._old.newline.join(lines)

    def _own_breaks(self, text: str) -> str:
        """The text with the parent's line breaks."""
        return text if self._old.newline == "\n" else text.replace("\n", self._old.newline)

    def _keyword(self, source: ParsedText, node: ast.ClassDef) -> int:
        return source.offset(node.lineno, node.col_offset)

    def _distance(self, one: Statement, other: Statement, indent: str) -> int:
        """The empty lines between two neighbours."""
        wide = (FunctionNode, ast.ClassDef, ast.Expr)
        if not isinstance(one.node, wide) and not isinstance(other.node, wide):
            return 0
        if isinstance(one.node, ast.Expr) and not isinstance(other.node, wide):
            return 1
        return 1 if indent else 2


def _differ(one: Sequence[ast.AST], other: Sequence[ast.AST]) -> bool:
    return [ast.dump(node) for node in one] != [ast.dump(node) for node in other]


# Where a new statement can stand among others so that every name is set before it is used.


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
            (below, found) for below in children((part,)) if isinstance(below, ast.AST) and id(below) not in kept
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


def grouped(scope: Scope, new: Sequence[Statement]) -> list[Group]:
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
