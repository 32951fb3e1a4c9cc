"""The named numbers of a program: where they are in its text, in which range, and the text with other values. Pure.

Found are numbers, and tuples, lists and arrays of floats, that a module or a class of the module gives a name once:

    GAIN = 0.4              # tune: 0.1..3.0    the range that the program itself names
    PHASES = (0.0, 1.5)     # each number is a constant: PHASES[0], PHASES[1]
    MODE = 3                # tune: off         left as it is

Without such a comment a number may become four times as large or as small, and two kinds are left as they are, since
they are rarely quantities: integers next to zero, which mostly are indices or signs, and rows that hold anything but
floats, which mostly are records.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..faults import Fault
from ..values import Program
from .program_text import parse
from .source_units import ParsedText

MOST = 40  # constants of a program that are tuned, the first ones of its text
FACTOR = 4.0  # of a range that the program does not name
DIGITS = 4  # significant ones, so that a tuned program stays readable
WIDE = 100.0  # ratio of the ends of a range from which its middle is the geometric one
_ARRAYS = frozenset({"array", "asarray"})  # functions of numpy whose first argument is searched
MOST_INTEGER = 10**9  # larger ones are seeds and masks, not quantities
LEAST_INTEGER = 4  # smaller ones are indices and signs

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"#\s*tune:\s*({_NUMBER})\s*\.\.\s*({_NUMBER})")
_OFF = re.compile(r"#\s*tune:\s*off\b")

Kind = Literal["float", "int", "bool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """One number of a program's text, from `start` to `end`; a bool is 0 or 1.

    A position in [0, 1] stands for a value from `low` to `high`, evenly or, if `geometric`, by a constant ratio.
    """

    name: str
    kind: Kind
    value: float
    low: float
    high: float
    geometric: bool
    start: int
    end: int
    named: bool = False  # the program names its range

    @property
    def position(self) -> float:
        """The position of the program's own value."""
        if self.kind == "bool":
            return 0.75 if self.value else 0.25
        if self.geometric:
            return math.log(self.value / self.low) / math.log(self.high / self.low)
        return (self.value - self.low) / (self.high - self.low)

    def at(self, position: float) -> float:
        """The value at a position: rounded for an integer, with few digits for a float."""
        if self.kind == "bool":
            return float(position >= 0.5)
        if self.geometric:
            value = self.low * (self.high / self.low) ** position
        else:
            value = self.low + (self.high - self.low) * position
        return float(round(value)) if self.kind == "int" else float(f"{value:.{DIGITS}g}")


def constants_of(program: Program) -> tuple[Constant, ...]:
    """The constants of a program in the order of its text; none if it does not parse."""
    tree = parse(program)
    if isinstance(tree, Fault):
        return ()
    source = ParsedText(program.text, tree)
    found = [constant for body in _bodies(tree) for constant in _of_body(source, body)]
    return tuple(sorted(found, key=lambda each: each.start))


def tunable_constants(program: Program) -> tuple[Constant, ...]:
    """The constants that the program reads somewhere, at most `MOST`: the others cannot change what it does."""
    tree = parse(program)
    read = frozenset() if isinstance(tree, Fault) else frozenset(_read_names(tree))
    return tuple(each for each in constants_of(program) if each.name.partition("[")[0] in read)[:MOST]


def with_values(program: Program, constants: Sequence[Constant], values: Sequence[float]) -> Program:
    """The program with other values: only the numbers change, and a number that keeps its value keeps its text."""
    text = program.text
    for constant, value in sorted(zip(constants, values, strict=True), key=lambda pair: -pair[0].start):
        if value != constant.value:
            text = text[: constant.start] + literal(constant, value) + text[constant.end :]
    return Program(text)


def literal(constant: Constant, value: float) -> str:
    """A value as it is written in a program: an integer stays an integer, a float a float."""
    if constant.kind == "bool":
        return str(bool(value))
    return str(int(value)) if constant.kind == "int" else repr(value)


def _read_names(tree: ast.Module) -> Iterator[str]:
    """Names that are read, as variables, as attributes, or by a text such as that of `getattr`."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                yield name
            case ast.Constant(value=str() as name):
                yield name


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The bodies of the module and of its classes; the members of an enumeration are names, not quantities."""
    yield tree.body
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not any("Enum" in ast.dump(base) for base in node.bases):
            yield node.body


def _of_body(source: ParsedText, body: list[ast.stmt]) -> Iterator[Constant]:
    named = [pair for statement in body if (pair := _assignment(statement)) is not None]
    times = Counter(name for name, _ in named)
    for name, value in named:
        if times[name] == 1 and not name.startswith("__"):
            yield from _numbers(source, name, value)


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """Name and value of an assignment to one name."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            return name, value
    return None


def _numbers(source: ParsedText, name: str, node: ast.expr) -> Iterator[Constant]:
    """The numbers of a value: itself, or those of a tuple, a list or an array of literals."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            record = any(_is_leaf(part) and not _is_float(part) for part in parts)
            for place, part in enumerate(parts):
                for each in _numbers(source, f"{name}[{place}]", part):
                    if each.named or not (record and _is_leaf(part)):
                        yield each
        case ast.Call(func=ast.Name(id=word) | ast.Attribute(attr=word), args=[first, *_]) if word in _ARRAYS:
            yield from _numbers(source, name, first)
        case _:
            constant = _constant(source, name, node)
            if constant is not None:
                yield constant


def _is_leaf(node: ast.expr) -> bool:
    return not isinstance(node, ast.Tuple | ast.List | ast.Call)


def _is_float(node: ast.expr) -> bool:
    return isinstance(_literal_value(node), float)


def _constant(source: ParsedText, name: str, node: ast.expr) -> Constant | None:
    value = _literal_value(node)
    if value is None or not math.isfinite(value) or (isinstance(value, int) and abs(value) > MOST_INTEGER):
        return None
    start = source.offset(node.lineno, node.col_offset)
    end = source.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
    comment = source.text[end : source.line_end(end)]
    if _OFF.search(comment):
        return None
    kind: Kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    if kind == "bool":
        return Constant(
            name=name, kind=kind, value=float(value), low=0.0, high=1.0, geometric=False, start=start, end=end
        )
    given = _named_range(comment, float(value))
    if given is None and kind == "int" and abs(value) < LEAST_INTEGER:
        return None
    low, high, geometric = given or _range(float(value), kind)
    found = Constant(
        name=name, kind=kind, value=float(value), low=low, high=high, geometric=geometric, start=start, end=end,
        named=given is not None,
    )
    return found if math.isfinite(low) and math.isfinite(high) and low < high else None


def _literal_value(node: ast.expr) -> bool | int | float | None:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)) if value is not True:
            return -value
    return None


def _named_range(comment: str, value: float) -> tuple[float, float, bool] | None:
    """The range in a comment, widened to the value itself."""
    found = _RANGE.search(comment)
    if found is None:
        return None
    low, high = sorted((float(found[1]), float(found[2])))
    low, high = min(low, value), max(high, value)
    return low, high, low > 0 and high >= WIDE * low


def _range(value: float, kind: Kind) -> tuple[float, float, bool]:
    """A range for a value that the program names none for."""
    if value == 0:
        return -1.0, 1.0, False
    near, far = value / FACTOR, value * FACTOR
    if kind == "int":
        near = float(int(near))
    return (near, far, near > 0) if value > 0 else (far, near, False)
