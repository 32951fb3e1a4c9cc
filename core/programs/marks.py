"""Which functions and branches of a program ran: marks in its syntax tree, and what a set of marks says.

A mark is a statement at the beginning of a body, `__ran__[7] = 1`, which costs some 20 ns. So it serves every episode
on every Python alike. A tracer would slow a program by several times, and might make it miss its limit of CPU time.
The process that runs the program sets the marks; the trusted side reads the same places from the same text. Standard
library only: the process of a program imports it.
"""

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

NAME = "__ran__"  # the bytes that the marks set, one for each place; in the program's own globals
MOST = 2_000  # places of a program that are marked, the first ones
WORDS = 60  # characters of a condition

_Body = list[ast.stmt]


class MarkedBody(NamedTuple):
    """A body of a program: its function, what of it, and its line."""

    function: str  # such as "Policy.lift"; "" outside of functions
    branch: str  # such as "if tries > 3"; "" for the function as a whole
    line: int


def with_marks(text: str, filename: str) -> tuple[ast.Module, int] | None:
    """The program with marks, and how many; None where it has no place or uses the name itself. Raises SyntaxError."""
    if NAME in text:
        return None
    tree = ast.parse(text, filename)
    bodies = [body for (_, body), _ in zip(_bodies(tree), range(MOST), strict=False)]
    for number, body in enumerate(bodies):
        at = 1 if _is_docstring(body[0]) and len(body) > 1 else 0
        body.insert(at, _mark(number, body[at]))
    return (tree, len(bodies)) if bodies else None


@lru_cache(maxsize=64)  # a parent is in the prompts of each of its children
def places_of(text: str) -> tuple[MarkedBody, ...]:
    """The places that `marked` marks, in the same order; none where the text does not parse or cannot be marked."""
    if NAME in text:
        return ()
    try:
        return tuple(place for (place, _), _ in zip(_bodies(ast.parse(text), named=True), range(MOST), strict=False))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def never_ran(text: str, masks: Sequence[str]) -> tuple[MarkedBody, ...]:
    """The places that none of these episodes reached, each mask in hexadecimal; those within others are left out.

    None are known, and none named, where there is no mask, or one does not fit the program.
    """
    places = places_of(text)
    size = (len(places) + 7) // 8
    try:
        rows = [bytes.fromhex(mask) for mask in masks]
    except ValueError:
        return ()
    if not places or not rows or any(len(row) != size for row in rows):
        return ()
    ran = [any(row[at // 8] >> at % 8 & 1 for row in rows) for at in range(len(places))]
    found: list[MarkedBody] = []
    idle = "\0"  # the latest function that did not run, before all that is in it
    for place, there in zip(places, ran, strict=True):
        if there or place.function == idle or place.function.startswith(f"{idle}."):
            continue
        found.append(place)
        idle = idle if place.branch else place.function
    return tuple(found)


def mask_of(marks: bytes | bytearray) -> str:
    """The marks as a mask in hexadecimal, one bit for each."""
    row = bytearray((len(marks) + 7) // 8)
    for at, mark in enumerate(marks):
        if mark:
            row[at // 8] |= 1 << at % 8
    return row.hex()


def _bodies(tree: ast.Module, *, named: bool = False) -> Iterator[tuple[MarkedBody, _Body]]:
    """Each function and branch with its body, in the order of the text; if `named`, with its condition in words."""
    stack: list[tuple[str, str, ast.AST]] = [("", "", tree)]
    while stack:
        holder, function, node = stack.pop()
        if isinstance(node, ast.ClassDef):
            holder = f"{holder}{node.name}."
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function = f"{holder}{node.name}"
            holder = f"{function}."
            yield MarkedBody(function, "", node.lineno), node.body
        else:
            for kind, conditions, body in _branches(node):
                words = " ".join([kind, " in ".join(map(_words, conditions))]).rstrip() if named else kind
                yield MarkedBody(function, words, body[0].lineno), body
        below = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
        stack += [(holder, function, child) for child in reversed(below)]


def _branches(node: ast.AST) -> Iterator[tuple[str, list[ast.AST], _Body]]:
    if isinstance(node, ast.If):
        yield "if", [node.test], node.body
        if node.orelse and not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
            yield "else of if", [node.test], node.orelse
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield "for", [node.target, node.iter], node.body
    elif isinstance(node, ast.While):
        yield "while", [node.test], node.body
    elif isinstance(node, ast.ExceptHandler):
        yield "except", [node.type] if node.type else [], node.body
    elif isinstance(node, ast.match_case):
        yield "case", [node.pattern], node.body


def _words(node: ast.AST | None) -> str:
    if node is None:
        return ""
    try:
        text = " ".join(ast.unparse(node).split())
    except Exception:  # noqa: BLE001 - the tree is foreign, and the printer promises nothing
        return "…"
    return text if len(text) <= WORDS else f"{text[: WORDS - 1]}…"


def _is_docstring(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _mark(number: int, before: ast.stmt) -> ast.stmt:
    target = ast.Subscript(value=ast.Name(id=NAME, ctx=ast.Load()), slice=ast.Constant(value=number), ctx=ast.Store())
    mark = ast.Assign(targets=[target], value=ast.Constant(value=1))
    return ast.fix_missing_locations(ast.copy_location(mark, before))
