"""What can be read from the text of a generated program with `ast` alone; the program is never executed."""

import ast
import hashlib
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar

from ..faults import Fault, FaultKind
from ..text import one_line
from ..values import Program

MAX_PROGRAM = 64_000  # characters of a policy; a parent goes into a prompt whole
MAX_EVALUATOR = 24_000  # characters of an evaluator; a judge's prompt holds the whole pool
MAX_NESTING = 90  # levels of the syntax tree; printing it takes up to 6 Python frames for each, and there are 1,000
MAX_INTEGER_BITS = 4096  # a longer literal cannot be printed back
MAX_SUMMARY = 240  # characters of an edit summary
MAX_FAULT = 300  # characters of a fault's message

FUNCTIONS = 512  # of which it is remembered what their texts say
LONG_FUNCTION = 6_000  # characters; a longer one is read each time

HISTORY_NAME = "HISTORY"
HISTORY_METHOD = "hill_climb_history"
BODIES = ("body", "orelse", "finalbody")  # the fields of a node that hold statements

_UNSAID = ("kind", "type_comment", "type_ignores", "type_params")  # differ between Pythons; say nothing here

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
HistoryNode = ast.Assign | ast.AnnAssign
T = TypeVar("T")


def parse(program: Program, limit: int = MAX_PROGRAM) -> ast.Module | Fault:
    """The syntax tree of `program`, not to be changed, or a Fault that says why there is none.

    Never raises, whatever the text.
    """
    if len(program.text) > limit:
        size = f"the program has {len(program.text):,} characters; {limit:,} are allowed"
        return Fault(kind=FaultKind.BROKEN_CONTRACT, message=size)
    return _tree(program)


@lru_cache(maxsize=4)  # a reply is checked, read and compared with its parents; trees are large
def _tree(program: Program) -> ast.Module | Fault:
    return _parse_fresh(program)


def _parse_fresh(program: Program) -> ast.Module | Fault:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as invalid escapes: the text is foreign, the warning not ours
            tree = ast.parse(program.text)
    except SyntaxError as error:
        return _not_python(f"line {error.lineno or 0}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, surrogates, endless nesting
        return _not_python(f"{type(error).__name__}: {error}")
    return _unprintable(tree, lines_of(program)) or tree


def lines_of(program: Program) -> list[str]:
    """The lines of a program as the positions in its tree count them."""
    return program.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class _ByFunction(Generic[T]):
    """What was found of the latest functions, by their texts: most edits leave most functions as they were.

    The text of a function decides its syntax tree but for positions. Functions with decorators, which may begin on
    another line than their `@`, and long ones, which would take much memory, are not remembered.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, str], T] = {}

    def of(self, node: ast.FunctionDef, lines: Sequence[str], variant: int, find: Callable[[], T]) -> T:
        """`find()`, or what it gave for a function of the same text and the same `variant`."""
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        if node.decorator_list or len(text) > LONG_FUNCTION:
            return find()
        key = (variant, text)
        found = self._found.pop(key) if key in self._found else find()
        self._found[key] = found  # the latest one now
        if len(self._found) > FUNCTIONS:
            del self._found[next(iter(self._found))]
        return found


_sound = _ByFunction[bool]()
_said = _ByFunction[str]()


def _unprintable(tree: ast.Module, lines: Sequence[str]) -> Fault | None:
    """Why `tree` could not be walked or printed back, if so.

    Functions of the module and methods of its classes that are sound are not walked again with the rest.
    """
    def sound(function: ast.FunctionDef, depth: int) -> bool:
        return _sound.of(function, lines, depth, lambda: _flaw([function], MAX_NESTING - depth) is None)

    holders: tuple[tuple[int, list[Any]], ...] = (
        (1, tree.body), (2, [one for node in tree.body if type(node) is ast.ClassDef for one in node.body])
    )
    return _flaw([tree], MAX_NESTING, {
        node for depth, nodes in holders for node in nodes if type(node) is ast.FunctionDef and sound(node, depth)
    })


def _flaw(level: list[Any], nesting: int, sound: Container[ast.AST] = ()) -> Fault | None:
    """Why nodes with at most `nesting` levels could not be walked or printed, if so; those that are `sound` can.

    Within the bounds on nesting and integers only f-strings can fail to print, so they alone are printed: printing the
    whole of each reply would take longer than parsing it.
    """
    inside: list[Any] = []  # of f-strings, which are printed with all they hold
    f_strings: list[ast.AST] = []
    for _ in range(nesting):
        for node in (*level, *inside):
            if type(node) is ast.Constant and type(node.value) is int and node.value.bit_length() > MAX_INTEGER_BITS:
                return _not_python(f"an integer of more than {MAX_INTEGER_BITS} bits")
        found = [node for node in level if type(node) is ast.JoinedStr]
        f_strings += found
        inside = child_nodes((*inside, *found))
        level = child_nodes(node for node in level if type(node) is not ast.JoinedStr and node not in sound)
        if not level and not inside:
            return next((text for text in map(unparse, f_strings) if isinstance(text, Fault)), None)
    return _not_python(f"nested more than {MAX_NESTING} levels deep")


_LEAVES = frozenset({
    "arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "n", "op",
    "ops", "rest", "s", "simple", "tag", "type_comment",
})  # fields that hold a word, a number or a node without anything below it
_BELOW: Mapping[type, tuple[str, ...]] = {
    kind: () if kind in (ast.Constant, ast.Global, ast.Nonlocal) else tuple(set(kind._fields) - _LEAVES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def child_nodes(nodes: Iterable[ast.AST]) -> list[Any]:
    """All that lies directly below these nodes, in no order: nodes, and None or words where a field holds such.

    Left out are names, operators and contexts, below which there is nothing. It takes a sixth of the time
    of `ast.iter_child_nodes`.
    """
    found: list[Any] = []
    for node in nodes:
        for name in _BELOW.get(type(node), ()):
            value = getattr(node, name, None)
            if type(value) is list:
                found += value
            elif value is not None:
                found.append(value)
    return found


def unparse(node: ast.AST) -> str | Fault:
    """The text of a syntax tree, or a NOT_PYTHON Fault where Python cannot print it. Never raises.

    Such as an f-string whose expression holds a character that has to be escaped, which Python 3.11 cannot write
    down, or a tree that is nested too deeply for the stack that is left.
    """
    try:
        return ast.unparse(node)
    except Exception as error:  # noqa: BLE001 - the tree is foreign, and the printer promises nothing
        return _not_python(f"it cannot be printed back: {type(error).__name__}: {error}")


def _not_python(message: str) -> Fault:
    return Fault(kind=FaultKind.NOT_PYTHON, message=one_line(message, MAX_FAULT))


@lru_cache(maxsize=256)
def history(program: Program) -> tuple[str, ...]:
    """The edit summaries embedded in `program`, oldest first; empty where there are none.

    Read from a module-level `HISTORY`, a string or a list of strings, or else from a method
    `hill_climb_history()` that returns such a literal. The last entry is the paper's history(p).
    """
    tree = parse(program)
    if isinstance(tree, Fault):
        return ()
    assignment = history_assignment(tree)
    found = () if assignment is None else _bounded_summaries(entries(assignment))
    if found:
        return found
    for holder in tree.body:
        for function in holder.body if isinstance(holder, ast.ClassDef) else ():
            if isinstance(function, ast.FunctionDef) and function.name == HISTORY_METHOD:
                for statement in function.body:
                    if isinstance(statement, ast.Return) and statement.value is not None:
                        found = _bounded_summaries(_strings(statement.value)) or found
    return found


def history_assignment(tree: ast.Module) -> HistoryNode | None:
    """The statement that gives the module its `HISTORY`, the last one; None where there is none."""
    found = None
    for statement in tree.body:
        if isinstance(statement, HistoryNode) and _assigned_history(statement) is not None:
            found = statement
    return found


def entries(assignment: HistoryNode) -> tuple[str, ...]:
    """The edit summaries that a history holds, as they were written, oldest first."""
    return _strings(assignment.value)


def summary_of(program: Program, parents: Sequence[Program], said: str = "") -> str:
    """history(p): one bounded line on what the edit did, never empty.

    `said`, the summary line of the reply; else the last entry of the program's own history, where a program has one
    that is not just copied from a parent; else what the texts show to differ.
    """
    line = one_line(said, MAX_SUMMARY)
    if line:
        return line
    own = history(program)
    return own[-1] if own and all(own != history(parent) for parent in parents) else difference(program, parents)


def difference(program: Program, parents: Sequence[Program]) -> str:
    """One line on which functions differ from the first parent, for edits that do not tell themselves."""
    if not parents:
        return "first program"
    if any(digest(program) == digest(parent) for parent in parents):
        return "no change to the parent's code"
    new, old = _functions(program), _functions(parents[0])
    lists = (
        ("changed", [name for name in new if name in old and new[name] != old[name]]),
        ("added", [name for name in new if name not in old]),
        ("removed", [name for name in old if name not in new]),
    )
    parts = [f"{verb} {', '.join(names)}" for verb, names in lists if names]
    return one_line("; ".join(parts) or "changed statements outside of functions", MAX_SUMMARY)


@lru_cache(maxsize=256)
def digest(program: Program) -> str:
    """The same for programs that do the same by their text: comments, docstrings and history are left out.

    SHA-256 of the normalised syntax tree; of the text itself where it does not parse.
    """
    tree = parse(program)
    return program.digest if isinstance(tree, Fault) else shape(tree, lines=lines_of(program))


def shape(node: ast.AST, *, numbers: bool = True, lines: Sequence[str] = ()) -> str:
    """SHA-256 of a syntax tree without its positions, history and bare strings: equal for equal code.

    Without `numbers` all numbers, their signs and flags are alike. With the `lines` of its text, functions that were
    read before are not read again.
    """
    text = f"{_said_by(node, numbers, lines)}\x00"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=256)
def structure(program: Program) -> str:
    """The same for programs that differ in numbers alone, such as a tuned copy; of others as `digest`."""
    tree = parse(program)
    return program.digest if isinstance(tree, Fault) else shape(tree, numbers=False, lines=lines_of(program))


@lru_cache(maxsize=64)
def bare(program: Program) -> str:
    """The program printed again without comments, docstrings and history, so that it cannot plead for itself.

    Empty where the program does not parse or cannot be printed, which no contract check lets through.
    """
    tree = parse(program)
    own = _parse_fresh(program) if isinstance(tree, ast.Module) else tree  # the shared tree is not to be changed
    text = own if isinstance(own, Fault) else unparse(_without_talk(own))
    return "" if isinstance(text, Fault) else text


def _assigned_history(statement: ast.stmt) -> ast.expr | None:
    targets: Sequence[ast.expr] = ()
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = (statement.target,)
    else:
        return None
    return statement.value if any(isinstance(t, ast.Name) and t.id == HISTORY_NAME for t in targets) else None


def _strings(value: ast.expr | None) -> tuple[str, ...]:
    """The strings of a literal string, list or tuple; others are passed over."""
    items = value.elts if isinstance(value, ast.List | ast.Tuple) else (value,)
    return tuple(item.value for item in items if isinstance(item, ast.Constant) and isinstance(item.value, str))


def _bounded_summaries(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text on one bounded line; empty ones are passed over."""
    lines = (one_line(text, MAX_SUMMARY) for text in texts)
    return tuple(line for line in lines if line)


def _without_talk(tree: ast.Module) -> ast.Module:
    """`tree` itself, with history and bare strings (docstrings among them) taken out of every body."""
    for node in ast.walk(tree):
        for name in BODIES:
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, _plain(node, name))
    return tree


def _plain(node: ast.AST, name: str) -> list[ast.stmt]:
    """The body `name` of a node without history and bare strings; a body that held nothing else is a `pass`."""
    body: list[ast.stmt] = getattr(node, name)
    kept = [statement for statement in body if not _is_talk(statement, node)]
    if body and not kept and name != "orelse" and not isinstance(node, ast.Module):
        return [ast.Pass()]
    return kept


def _is_talk(statement: ast.stmt, holder: ast.AST) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return isinstance(statement.value.value, str)
    if isinstance(holder, ast.Module):
        return _assigned_history(statement) is not None
    return isinstance(holder, ast.ClassDef) and isinstance(statement, FunctionNode) and statement.name == HISTORY_METHOD


def _said_by(root: ast.AST, numbers: bool, lines: Sequence[str] = ()) -> str:
    """An unambiguous flat text of a syntax tree, without recursion into anything but a function of these `lines`."""
    found: list[str] = []
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        kind = type(item)
        names = _NAMES.get(kind)
        if not numbers and _is_number(item):
            found.append("a number")
        elif kind is ast.FunctionDef and lines:
            found.append(_said.of(item, lines, numbers, partial(_said_by, item, numbers)))
        elif names is not None:
            found.append(kind.__name__)
            for name in names:
                value = getattr(item, name, None)
                stack.append(_plain(item, name) if name in BODIES and type(value) is list else value)
        elif kind is list:
            found.append(f"[{len(item)}")
            stack += reversed(item)
        else:
            found.append(f"{kind.__name__}:{item!r}")
    return "\x00".join(found)


_NAMES: Mapping[type, tuple[str, ...]] = {
    kind: tuple(name for name in reversed(kind._fields) if name not in _UNSAID)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}  # the fields of a node that say something, the last first


def _is_number(item: object) -> bool:
    """Whether a node is a number or a flag, with its sign."""
    if isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.USub | ast.UAdd):
        item = item.operand
    return isinstance(item, ast.Constant) and isinstance(item.value, int | float | complex)


@lru_cache(maxsize=64)  # a parent is compared with each of its children
def _functions(program: Program) -> Mapping[str, str]:
    """Shape of every function by its name within its class, in the order of the text."""
    tree = parse(program)
    if isinstance(tree, Fault):
        return {}
    found: dict[str, str] = {}
    for node in _plain(tree, "body"):
        if isinstance(node, FunctionNode):
            found[node.name] = shape(node)
        elif isinstance(node, ast.ClassDef):
            methods = [method for method in _plain(node, "body") if isinstance(method, FunctionNode)]
            found.update((method.name, shape(method)) for method in methods)
    return found


@lru_cache(maxsize=64)
def parts_of(program: Program) -> Mapping[str, str]:
    """Shape of every part by its path: `Policy.act` for a method, `GAIN` or `Policy.GAIN` for a constant.

    The path of a class is that of what else its body holds; that of the module is `MODULE`.
    """
    tree = parse(program)
    found: dict[str, list[str]] = {}
    for node in [] if isinstance(tree, Fault) else _plain(tree, "body"):
        if isinstance(node, ast.ClassDef):
            for each in _plain(node, "body"):
                for path in _paths(each):
                    found.setdefault(f"{node.name}.{path}" if path else node.name, []).append(shape(each))
        else:
            for path in _paths(node):
                found.setdefault(path or MODULE, []).append(shape(node))
    return {path: " ".join(shapes) for path, shapes in found.items()}


MODULE = "the module"  # the path of what is in no other part, such as imports


def _paths(node: ast.stmt) -> Sequence[str]:
    """The names that a statement defines; "" alone if it defines none."""
    if isinstance(node, FunctionNode | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)] or [""]


def changed_parts(old: Program, new: Program) -> tuple[str, ...]:
    """The paths of the parts in which two programs differ, in the order of their texts."""
    before, after = parts_of(old), parts_of(new)
    return tuple(path for path in {**before, **after} if before.get(path) != after.get(path))
