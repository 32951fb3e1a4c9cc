"""A program text as named pieces that can be replaced in place: the methods and constants of its class."""

import ast
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

from ...core.programs.program_text import HISTORY_NAME, entries, history_assignment, shape

HISTORY_LIMIT = 24  # older entries are dropped, so that a long history does not outgrow its program


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One replaceable span of a program, in bytes of its UTF-8 text."""

    name: str
    start: int
    end: int
    text: str
    number: int | float | None = None  # the value of a numeric literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """New text for the method, constant or number called `name`, and a short summary of the change.

    `adds` are constants that the new text reads and that a program may lack, as (name, literal) pairs.
    """

    name: str
    text: str
    summary: str
    adds: tuple[tuple[str, str], ...] = ()


class ParsedProgram:
    """A parsed program. Raises SyntaxError if the text is not Python or holds no class.

    `attributes` is every name that `self.<name>` can have: methods, class constants, attributes assigned.
    """

    def __init__(self, text: str, class_name: str) -> None:
        self.text = text
        self._bytes = text.encode()
        self._tree = ast.parse(text)
        self._history = history_assignment(self._tree)
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        classes = [node for node in self._tree.body if isinstance(node, ast.ClassDef)]
        if not classes:
            raise SyntaxError("the program holds no class")
        self._class = next((node for node in classes if node.name == class_name), classes[0])
        self.methods: dict[str, Piece] = {}
        self.constants: dict[str, Piece] = {}
        self._nodes: dict[str, ast.FunctionDef] = {}
        for node in self._class.body:
            if isinstance(node, ast.FunctionDef):
                self.methods[node.name] = self._method(node)
                self._nodes[node.name] = node
        for node in (*self._tree.body, *self._class.body):
            self._note_constant(node)
        self._reads, assigned = self_attributes(self._class)
        self._names = frozenset(node.id for node in ast.walk(self._tree) if is_read(node))
        inside = {name for node in self._class.body for name in _assigned_names(node)}
        self.attributes = frozenset({*self.methods, *inside, *assigned})

    # ------------------------------------------------------------------------------------------ reading

    def _offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def _piece(self, name: str, node: ast.expr) -> Piece:
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = self._offset(node.lineno, node.col_offset)
        end = self._offset(node.end_lineno, node.end_col_offset)
        return Piece(
            name=name, start=start, end=end, text=self._bytes[start:end].decode(), number=number_of(node)
        )

    def _method(self, node: ast.FunctionDef) -> Piece:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        assert node.end_lineno is not None and node.end_col_offset is not None
        start, end = self._offset(first, 0), self._offset(node.end_lineno, node.end_col_offset)
        return Piece(name=node.name, start=start, end=end, text=self._bytes[start:end].decode())

    def _note_constant(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            return
        if isinstance(target, ast.Name) and target.id != HISTORY_NAME and is_literal(value):
            self.constants[target.id] = self._piece(target.id, value)

    @cached_property
    def numbers(self) -> dict[str, Piece]:
        """Floating-point numbers inside methods, for tuning a program without named constants."""
        return dict(self._numbers())

    def _numbers(self) -> Iterator[tuple[str, Piece]]:
        for name, method in self._nodes.items():
            found = [
                node
                for node in ast.walk(method)
                if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value != 0.0
            ]
            for index, node in enumerate(sorted(found, key=lambda node: (node.lineno, node.col_offset))):
                piece = self._piece(f"{name}#{index + 1}", node)
                yield piece.name, piece

    def arguments(self, method: str) -> tuple[str, ...]:
        """The argument names of a method, `self` included."""
        return argument_names(self._nodes[method])

    def shape(self, method: str) -> str:
        """The method's syntax tree without docstring and comments: equal for equal code."""
        return shape(self._nodes[method])

    def reads(self, name: str) -> bool:
        """Whether the program reads `self.<name>` or a bare `<name>` somewhere."""
        return name in self._reads or name in self._names

    def history(self) -> tuple[str, ...]:
        """The edit summaries embedded in the program as a module-level HISTORY, oldest first."""
        return () if self._history is None else entries(self._history)

    # ------------------------------------------------------------------------------------------ writing

    def edited(self, edits: tuple[Edit, ...], summary: str) -> str:
        """The program after `edits`, with `summary` as the last entry of its HISTORY."""
        spans: list[tuple[int, int, str]] = []
        adds: dict[str, str] = {}
        for edit in edits:
            spans.append(self._span(edit))
            adds |= {name: text for name, text in edit.adds if name not in self.attributes}
        if adds:
            at = self._lines[self._first_line() - 1]
            text = "".join(f"{self._indent()}{name} = {value}\n" for name, value in adds.items())
            spans.append((at, at, text))
        spans.append(self._history_span(summary))
        result = self._bytes
        for start, end, text in sorted(spans, key=lambda span: span[:2], reverse=True):
            result = result[:start] + text.encode() + result[end:]
        return result.decode()

    def _indent(self) -> str:
        return " " * self._class.body[0].col_offset

    def _first_line(self) -> int:
        """The line of the first statement of the class after its docstring, where constants are added."""
        body = self._class.body
        if ast.get_docstring(self._class, clean=False) is None:
            first = body[0]
        elif len(body) > 1:
            first = body[1]
        else:
            return (body[0].end_lineno or body[0].lineno) + 1
        decorators = first.decorator_list if isinstance(first, ast.FunctionDef | ast.ClassDef) else []
        return min([first.lineno, *(node.lineno for node in decorators)])

    def _span(self, edit: Edit) -> tuple[int, int, str]:
        piece = self.constants.get(edit.name) or self.numbers.get(edit.name)
        if piece is not None:
            return piece.start, piece.end, edit.text
        text = textwrap.indent(textwrap.dedent(edit.text).strip("\n"), self._indent())
        if edit.name in self.methods:
            piece = self.methods[edit.name]
            return piece.start, piece.end, text
        assert self._class.end_lineno is not None and self._class.end_col_offset is not None
        end = self._offset(self._class.end_lineno, self._class.end_col_offset)
        return end, end, f"\n\n{text}"

    def _history_span(self, summary: str) -> tuple[int, int, str]:
        entries = [*self.history(), summary][-HISTORY_LIMIT:]
        text = f"{HISTORY_NAME} = [\n" + "".join(f"    {entry!r},\n" for entry in entries) + "]"
        node = self._history
        if node is not None:
            assert node.end_lineno is not None and node.end_col_offset is not None
            start = self._offset(node.lineno, node.col_offset)
            return start, self._offset(node.end_lineno, node.end_col_offset), text
        last = 0  # after the docstring and the imports: `from __future__` imports must stay first
        for index, statement in enumerate(self._tree.body):
            docstring = index == 0 and ast.get_docstring(self._tree, clean=False) is not None
            if docstring or isinstance(statement, ast.Import | ast.ImportFrom):
                last = statement.end_lineno or statement.lineno
        at = self._lines[last]
        newline = "" if at == 0 or self._bytes[at - 1 : at] == b"\n" else "\n"
        return at, at, f"{newline}\n{text}\n\n"


# --------------------------------------------------------------------------------------- syntax questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """One parsed alternative of a method part."""

    name: str
    text: str
    title: str                       # the first line of its docstring
    shape: str
    arguments: tuple[str, ...]
    reads: frozenset[str]            # self.<name> that it reads and does not assign itself


def alternative_of(text: str) -> Alternative:
    """Parse the source of one method, indented or not. Raises SyntaxError if it is not one method."""
    body = ast.parse(textwrap.dedent(text).strip("\n")).body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise SyntaxError("an alternative of a method must be exactly one method")
    node = body[0]
    doc = (ast.get_docstring(node) or "").strip().splitlines()
    reads, assigned = self_attributes(node)
    return Alternative(
        name=node.name,
        text=text,
        title=doc[0].rstrip(".") if doc else "another way",
        shape=shape(node),
        arguments=argument_names(node),
        reads=reads - assigned,
    )


def fits(alternative: Alternative, source: ParsedProgram, known: Mapping[str, str]) -> bool:
    """Whether a method can be used in a program: same arguments, and every attribute that it reads exists.

    `known` are constants that may be added (name to literal).
    """
    if alternative.name in source.methods:
        if source.arguments(alternative.name) != alternative.arguments:
            return False
    elif not source.reads(alternative.name):
        return False
    return alternative.reads <= source.attributes | known.keys()


def number_of(node: ast.expr) -> int | float | None:
    """The value of a numeric literal with an optional sign; None for anything else."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value = node.value
        assert isinstance(value, int | float)
        return sign * value
    return None


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is a literal of numbers, strings and the like."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


def argument_names(node: ast.FunctionDef) -> tuple[str, ...]:
    """The names of all arguments of a function, in order."""
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return tuple(argument.arg for argument in every)


def is_read(node: ast.AST) -> TypeGuard[ast.Name]:
    """Whether a node is a bare name that is read."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def self_attributes(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """Names read and names assigned as `self.<name>` anywhere below a node."""
    names: tuple[set[str], set[str]] = set(), set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self":
            names[isinstance(inner.ctx, ast.Store)].add(inner.attr)
    return frozenset(names[0]), frozenset(names[1])


def _assigned_names(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    yield from (target.id for target in targets if isinstance(target, ast.Name))
