"""The text of a merge: which characters of the parent a definition of the patch takes the place of."""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ...core.programs.program_text import FunctionNode, child_nodes
from ...core.programs.source_units import BLANK, LINE_BREAK, ParsedText, Statement, body_begin


class TextEdit(NamedTuple):
    """A replacement of text[start:end]."""

    start: int
    end: int
    text: str


New = tuple[Statement, str | None]
"""A definition of the patch, and its code where that is not its own text."""


def with_edits(text: str, edits: Iterable[TextEdit]) -> str:
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
        level = [node for node in child_nodes(inner) if isinstance(node, ast.AST)]
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

    def class_opening(self, first: Statement, indent: str) -> TextEdit:
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
            text = self._with_indent(patch.start, given, patch.indent, unit.indent or "")
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
        return self._with_indent(unit.start, unit.end, unit.indent, indent)

    def _comments(self, unit: Statement) -> list[str]:
        """The comments above a definition of the patch, without their indentation."""
        lines = LINE_BREAK.split(self._new.text[unit.lead : unit.start])
        return [line.strip(BLANK) for line in lines if line.strip(BLANK) and not self._drops(line)]

    def _with_indent(self, start: int, end: int, indent: str | None, wanted: str) -> str:
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
