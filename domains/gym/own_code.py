"""What an environment's own source says: what its constants mean, what success is, what its actions are called.

The code is parsed, never run. For the helper process only.
"""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import EnumMeta
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...core.text import one_line

MOST_COMMENT: Final = 90        # characters of what a comment says of a constant
MOST_CODE: Final = 500          # of the code that decides on success
_COMMENTED: Final = re.compile(
    r"^\s*((?:self\.)?\w+(?:, (?:self\.)?\w+)*)\s*(?::[^=#\n]+)?=[^=#\n][^#\n]*#\s*(\w[^\n]+)$", re.MULTILINE)
_NO_WORDS: Final = re.compile(r"(noqa|type:|pylint|todo|fixme)|.*\w\.[a-z]\w*$", re.IGNORECASE)    # tools, broken ends


def classes_of(bare: Any) -> list[type]:
    """The classes of an environment, the nearest first, without Gymnasium's and Python's own."""
    return [each for each in type(bare).__mro__ if each.__module__ not in ("gymnasium.core", "builtins", "typing")]


@lru_cache(maxsize=32)
def _parsed(cls: type) -> ast.ClassDef | None:
    with suppress(OSError, TypeError, SyntaxError, ValueError):
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        return body[0] if body and isinstance(body[0], ast.ClassDef) else None
    return None


def _functions(bare: Any) -> Iterator[ast.FunctionDef]:
    for tree in map(_parsed, classes_of(bare)):
        yield from (each for each in (tree.body if tree is not None else []) if isinstance(each, ast.FunctionDef))


def meanings(bare: Any) -> dict[str, str]:
    """What comments at the end of a line say of the name that gets its value there."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(each.__module__ for each in classes_of(bare)):
        with suppress(OSError, TypeError, KeyError):
            for match in _COMMENTED.finditer(inspect.getsource(sys.modules[name])):
                for target in () if _NO_WORDS.match(match[2].strip()) else match[1].split(", "):
                    said = one_line(match[2].strip().rstrip("."), MOST_COMMENT)
                    found.setdefault(target.removeprefix("self."), said)
    return found


def constant_attributes(bare: Any) -> set[str]:
    """The attributes that the code of its classes sets to values written there, and to nothing else."""
    values: dict[str, list[ast.expr | None]] = {}
    for function in _functions(bare):
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(
                node, ast.AnnAssign | ast.AugAssign | ast.For) else []
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            for target, given in (pair for each in targets for pair in _pairs(each, value)):
                if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                    values.setdefault(target.attr, []).append(given)
    known: set[str] = set()
    for _ in range(3):      # a constant may be made of constants
        known |= {name for name, given in values.items() if all(_is_constant(each, known) for each in given)}
    return known


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple | ast.List):
        inner = value.elts if isinstance(value, ast.Tuple | ast.List) else [None] * len(target.elts)
        for each, given in zip(target.elts, inner, strict=False):
            yield from _pairs(each, given)
    else:
        yield target, value


def _is_constant(value: ast.expr | None, known: set[str]) -> bool:
    """Whether it is made of numbers, `pi`, names in capitals, constant attributes and numpy's or math's functions."""
    match value:
        case ast.Constant():
            return value.value is not None
        case ast.Name():
            return value.id.isupper()
        case ast.Attribute(value=ast.Name(id="self")):
            return value.attr in known or value.attr.isupper()
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math")):
            return True
        case ast.UnaryOp():
            return _is_constant(value.operand, known)
        case ast.BinOp():
            return _is_constant(value.left, known) and _is_constant(value.right, known)
        case ast.Tuple() | ast.List():
            return all(_is_constant(each, known) for each in value.elts)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy" | "math"))):
            return all(_is_constant(each, known) for each in value.args)
    return False


def success_code(bare: Any, key: str) -> str:
    """The code that gives `info` its entry `key`, with what it names, and the values of its numbers; "" for none."""
    for function in _functions(bare):
        for node in ast.walk(function):
            value = _given(node, key)
            value = _resolved(value, function) if isinstance(value, ast.Name) else value
            if value is not None and not isinstance(value, ast.Constant):
                parts = [f"`{key}` is `{ast.unparse(value)}`", *_named_in(bare, value, function, set(), 3)]
                text = ", where ".join([parts[0], " and ".join(parts[1:])] if parts[1:] else parts)
                return "" if len(text) > MOST_CODE else text
    return ""


def _resolved(name: ast.Name, function: ast.FunctionDef) -> ast.expr:
    """What a local name is given, if it is given one thing alone."""
    given = [each.value for each in ast.walk(function) if isinstance(each, ast.Assign)
             for target in each.targets if isinstance(target, ast.Name) and target.id == name.id]
    return given[0] if len(given) == 1 else name


def _given(node: ast.AST, key: str) -> ast.expr | None:
    """What a node of code assigns to a key of a dict, by a literal, an index, or a keyword of `dict`."""
    def is_key(each: ast.expr | None) -> bool:
        return isinstance(each, ast.Constant) and each.value == key

    match node:
        case ast.Dict():
            return next((value for name, value in zip(node.keys, node.values, strict=True) if is_key(name)), None)
        case ast.Assign(targets=[ast.Subscript(slice=place)]) if is_key(place):
            return node.value
        case ast.Call(func=ast.Name(id="dict")):
            return next((each.value for each in node.keywords if each.arg == key), None)
    return None


def _named_in(bare: Any, value: ast.expr, function: ast.FunctionDef, done: set[str], depth: int) -> Iterator[str]:
    """What local names, methods and numbers of the environment in an expression stand for."""
    for node in ast.walk(value):
        if not isinstance(node, ast.Name | ast.Attribute) or depth == 0 or (name := ast.unparse(node)) in done:
            continue
        if isinstance(node, ast.Name):
            given = _resolved(node, function)
            if given is not node:
                done.add(name)
                yield f"`{name}` is `{ast.unparse(given)}`"
                yield from _named_in(bare, given, function, done, depth - 1)
        elif isinstance(node.value, ast.Name) and node.value.id == "self":
            done.add(name)
            held = getattr(bare, node.attr, None)
            methods = [each for each in _functions(bare) if each.name == node.attr]
            if isinstance(held, int | float | np.floating) and not isinstance(held, bool):
                yield f"`{name}` is {held:.6g}"
            elif methods:
                returns = [each.value for each in ast.walk(methods[0]) if isinstance(each, ast.Return) and each.value]
                yield f"`{node.attr}` returns {' or '.join(f'`{ast.unparse(each)}`' for each in returns)}"
                for each in returns:
                    yield from _named_in(bare, each, methods[0], done, depth - 1)


def action_names(env: Any, count: int) -> list[str]:
    """What the choices 0 to `count` - 1 of an action are called: by a method, an Enum or a dataclass of the code.

    Empty where nothing names them.
    """
    bare = env.unwrapped
    with suppress(Exception):
        called = [str(each) for each in bare.get_action_meanings()]     # as Atari's environments have it
        if len(called) == count:
            return called
    modules = [vars(sys.modules[each.__module__]) for each in classes_of(bare)[:2] if each.__module__ in sys.modules]
    held: list[tuple[str, Any]] = [*vars(bare).items(), *(pair for each in modules for pair in each.items())]
    for name, value in held:
        if "action" not in name.lower() or name.startswith("__"):
            continue
        values = _named_values(value)
        if sorted(values) == [*range(count)]:
            return [values[place] for place in range(count)]
    return []


def _named_values(value: Any) -> dict[int, str]:
    """The whole numbers of an Enum, a dataclass or a dict, with their names."""
    pairs: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, EnumMeta):
        members: Mapping[str, Any] = value.__members__
        pairs = [(name, member.value) for name, member in members.items()]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = [(each.name, getattr(value, each.name)) for each in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        pairs = [(name, number) for number, name in value.items()] if all(
            isinstance(each, str) for each in value.values()) else [*value.items()]
    return {int(number): str(name) for name, number in pairs
            if isinstance(number, int | np.integer) and not isinstance(number, bool) and isinstance(name, str)}


def plain_dataclasses(bare: Any) -> dict[str, dict[str, Any]]:
    """The dataclass instances that an environment holds in public, such as a mapping of its rewards, as plain dicts."""
    return {name: dataclasses.asdict(value) for name, value in vars(bare).items()
            if dataclasses.is_dataclass(value) and not isinstance(value, type)
            and name != "spec" and not name.startswith("_")}
