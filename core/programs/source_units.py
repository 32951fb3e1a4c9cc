"""The statements of a program as pieces of its text: where each begins and ends, and which names it sets.

Offsets count characters from the beginning of the text. Nothing here raises for a tree that was parsed from its text.
"""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .program_text import FunctionNode, child_nodes

BLANK = " \t\f"
LINE_BREAK = re.compile(r"\r\n|\r|\n")  # what ends a line for Python; str.splitlines knows more
_REST = re.compile(r"[ \t\f]*+(;[ \t\f]*+)?(#[^\r\n]*+)?(?=[\r\n]|\Z)")  # of a line behind its last statement
_COLON = re.compile(r"(?:[^:#]|#[^\r\n]*+)*+:")


class ParsedText:
    """A text with its syntax tree, and the offsets of its lines."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.text = text
        self.tree = tree
        self.starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))]
        first = LINE_BREAK.search(text)
        self.newline = first[0] if first else "\n"

    def offset(self, line: int, column: int) -> int:
        """The offset of a place of the syntax tree, whose columns count bytes of UTF-8."""
        begin = self.starts[line - 1]
        piece = self.text[begin : begin + column]
        if piece.isascii():
            return begin + column
        return begin + len(piece.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def line_of(self, offset: int) -> int:
        """The index of the line (from 0) that holds this offset."""
        return bisect_right(self.starts, offset) - 1

    def line_end(self, offset: int) -> int:
        """Where the line of this offset ends, before its line break."""
        found = LINE_BREAK.search(self.text, offset)
        return found.start() if found else len(self.text)

    def line(self, index: int) -> str:
        """The line with this index, without its line break."""
        return self.text[self.starts[index] : self.line_end(self.starts[index])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of the body of a module or class.

    `plain`: a patch can name it (a function, a class, an import, or an assignment to names). `floor` is where the
    text before it ends, `lead` where the comments directly above it begin, `start` its first character, `code_end`
    the end of its code, and `end` also that of a comment on its last line (of a function: of comments below it that
    are indented like its body). `indent` is None if another statement is before it on its line.
    """

    node: ast.stmt
    names: frozenset[str]
    plain: bool
    floor: int
    lead: int
    start: int
    code_end: int
    end: int
    indent: str | None
    ends_line: bool

    @property
    def alone(self) -> bool:
        """Whether no other statement shares a line with it."""
        return self.indent is not None and self.ends_line

    @property
    def compound(self) -> bool:
        """Whether it is a function, a class or another statement with a body."""
        return hasattr(self.node, "body")


def units_of(source: ParsedText, body: Iterable[ast.stmt], begin: int) -> list[Statement]:
    """The statements of a body whose text begins at `begin`."""
    found: list[Statement] = []
    for node in body:
        found.append(_unit(source, node, begin))
        begin = found[-1].end
    return found


def body_begin(source: ParsedText, node: ast.ClassDef) -> int:
    """The offset behind the colon of a class."""
    header: Sequence[ast.AST] = [*node.bases, *node.keywords, *getattr(node, "type_params", ())]
    ends = [source.offset(part.end_lineno, part.end_col_offset) for part in header]  # type: ignore[attr-defined]
    begin = max([source.offset(node.lineno, node.col_offset), *ends])
    colon = _COLON.match(source.text, begin)
    return colon.end() if colon else begin


def _unit(source: ParsedText, node: ast.stmt, floor: int) -> Statement:
    start = _start(source, node, floor)
    code_end = source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    line = source.line_of(start)
    before = source.text[source.starts[line] : start]
    indent = None if before.strip(BLANK) else before
    rest = _REST.match(source.text, code_end)
    end = rest.end() if rest and (rest[1] or rest[2]) else code_end
    if rest and indent is not None and isinstance(node, FunctionNode | ast.ClassDef):
        end = _inner_comments(source, end, len(indent))
    names = bound(node)
    return Statement(
        node=node, names=_set_inside(node) if names is None else names, plain=names is not None, floor=floor,
        lead=start if indent is None else _lead(source, line, start, indent, floor), start=start,
        code_end=code_end, end=end, indent=indent, ends_line=rest is not None,
    )


def _start(source: ParsedText, node: ast.stmt, floor: int) -> int:
    """The first character of a statement: of its first decorator, where it has one."""
    if not isinstance(node, FunctionNode | ast.ClassDef) or not node.decorator_list:
        return source.offset(node.lineno, node.col_offset)
    line = node.decorator_list[0].lineno - 1
    while not source.line(line).lstrip(BLANK).startswith("@") and source.starts[line] > floor:
        line -= 1
    return source.starts[line] + len(source.line(line)) - len(source.line(line).lstrip(BLANK))


def _lead(source: ParsedText, line: int, start: int, indent: str, floor: int) -> int:
    """Where the comments begin that stand directly above a statement, with its indentation."""
    while line > 0 and source.starts[line - 1] >= floor:
        above = source.line(line - 1)
        if not above.startswith(f"{indent}#"):
            break
        line -= 1
        start = source.starts[line] + len(indent)
    return start


def _inner_comments(source: ParsedText, end: int, column: int) -> int:
    """The end of a function or class, with the comments below it that are indented further than it is."""
    for index in range(source.line_of(end) + 1, len(source.starts)):
        line = source.line(index)
        bare = line.lstrip(BLANK)
        if not bare:
            continue
        if not bare.startswith("#") or len(line) - len(bare) <= column:
            break
        end = source.starts[index] + len(line)
    return end


# ------------------------------------------------------------------------------------------------- names


def bound(node: ast.stmt) -> frozenset[str] | None:
    """The names that a definition sets; None for a statement that is no function, class, import or assignment."""
    if isinstance(node, FunctionNode | ast.ClassDef):
        return frozenset({node.name})
    if isinstance(node, ast.Import | ast.ImportFrom):
        return frozenset(imported_name(alias) for alias in node.names)
    if isinstance(node, ast.AnnAssign):
        return frozenset({node.target.id}) if isinstance(node.target, ast.Name) else None
    if not isinstance(node, ast.Assign):
        return None
    names: set[str] = set()
    waiting: list[ast.expr] = [*node.targets]
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Name):
            names.add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            waiting += target.elts
        elif isinstance(target, ast.Starred):
            waiting.append(target.value)
        else:
            return None
    return frozenset(names) if names else None


def imported_name(alias: ast.alias) -> str:
    """The name that an import sets; `*` for all of a module."""
    return alias.asname or alias.name.partition(".")[0]


def _set_inside(node: ast.stmt) -> frozenset[str]:
    """The names that a statement of another kind may set in its scope, such as an `if` with assignments."""
    names: set[str] = set()
    level: list[ast.AST] = [node]
    while level:
        for part in level:
            if isinstance(part, FunctionNode | ast.ClassDef):
                names.add(part.name)
            elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
                names.add(part.id)
            elif isinstance(part, ast.alias):
                names.add(imported_name(part))
            elif isinstance(part, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and part.name:
                names.add(part.name)
        inner = (part for part in level if not isinstance(part, FunctionNode | ast.ClassDef | ast.Lambda))
        level = [part for part in child_nodes(inner) if isinstance(part, ast.AST)]
    return frozenset(names)
