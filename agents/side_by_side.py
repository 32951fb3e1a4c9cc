"""Programs next to each other without their common parts: each definition that several share is shown once.

Units are the statements of a module and of its classes. A unit is shared if its text is the same in several programs
and its name is defined only once in each of them, so that no order of definitions is lost.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff

LEAST_SAVED = 120   # characters that a shared section must save: it has a heading
LEAST_DIFFERED = 400    # characters of a definition that is worth showing as a difference
MOST_DIFFERENT = 0.5    # of its length: a longer difference is harder to read than the definition


@dataclass(frozen=True, slots=True)
class NamedStatement:
    """One statement: the head of its class ("" in the module), the name that it defines, its text."""

    scope: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Definitions that exactly these programs have in common."""

    labels: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What only one program has: whole definitions, and definitions that differ a little from another's.

    `differences` holds (name of the definition, label of the other program, unified difference).
    """

    text: str
    differences: tuple[tuple[str, str, str], ...] = ()


def side_by_side(programs: Mapping[str, str]) -> tuple[tuple[Shared, ...], dict[str, Own]]:
    """The shared definitions, the most widely shared first, and each program's own ones, by label.

    `programs` are texts by label, in the order in which they are shown. One that does not parse is shown whole.
    """
    units = {label: parsed for label, text in programs.items() if (parsed := _units(text)) is not None}
    fixed = {key for each in units.values() for key in _defined_twice(each)}
    holders: dict[NamedStatement, list[str]] = {}
    for label, each in units.items():
        for unit in dict.fromkeys(each):
            if unit.name and (unit.scope, unit.name) not in fixed:
                holders.setdefault(unit, []).append(label)
    groups: dict[tuple[str, ...], list[NamedStatement]] = {}
    for unit, labels in holders.items():
        if len(labels) > 1:
            groups.setdefault(tuple(labels), []).append(unit)
    worth = {
        labels: group for labels, group in groups.items()
        if sum(len(unit.text) for unit in group) * (len(labels) - 1) > LEAST_SAVED
    }
    hidden = {(label, unit) for labels, group in worth.items() for label in labels for unit in group}
    shared = tuple(
        Shared(labels=labels, text=_text_of_units(group))
        for labels, group in sorted(worth.items(), key=lambda item: -len(item[0]))
    )
    own = {label: Own(text=text) for label, text in programs.items() if label not in units}
    shown: dict[tuple[str, str], tuple[str, NamedStatement]] = {}
    for label, each in units.items():
        left = [unit for unit in each if (label, unit) not in hidden]
        own[label] = _own_code(label, left, shown, fixed)
    return shared, own


def _own_code(
    label: str, units: Sequence[NamedStatement], shown: dict[tuple[str, str], tuple[str, NamedStatement]],
    fixed: set[tuple[str, str]]
) -> Own:
    """A program's own units; one that resembles a unit in `shown` becomes a difference, the others join `shown`."""
    whole, differences = [], []
    for unit in units:
        key = unit.scope, unit.name
        change = _difference(shown[key][1], unit) if key in shown and key not in fixed else ""
        if change:
            differences.append((unit.name, shown[key][0], change))
            continue
        whole.append(unit)
        if unit.name:
            shown.setdefault(key, (label, unit))
    return Own(text=_text_of_units(whole), differences=tuple(differences))


def _difference(old: NamedStatement, new: NamedStatement) -> str:
    """The changed lines of a definition; "" where they are no shorter to read than the definition."""
    if len(new.text) < LEAST_DIFFERED:
        return ""
    lines = [*unified_diff(old.text.splitlines(), new.text.splitlines(), lineterm="", n=1)][2:]
    text = "\n".join(lines)
    return text if len(text) <= MOST_DIFFERENT * len(new.text) else ""


def _units(text: str) -> list[NamedStatement] | None:
    try:
        tree = ast.parse(text)
        return [unit for node in tree.body for unit in _of_statement(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_statement(node: ast.stmt) -> Iterator[NamedStatement]:
    if not isinstance(node, ast.ClassDef):
        yield NamedStatement("", _name(node), ast.unparse(node))
        return
    head = ast.unparse(ast.ClassDef(**{**{f: getattr(node, f) for f in node._fields}, "body": [ast.Pass()]}))
    head = head.rpartition("\n")[0]
    for member in node.body:
        yield NamedStatement(head, _name(member), ast.unparse(member))


def _name(node: ast.stmt) -> str:
    """What a statement defines; "" for a statement whose place matters."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Tuple(elts=names)]):
            return ", ".join(name.id for name in names if isinstance(name, ast.Name))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return "import " + ", ".join(alias.asname or alias.name for alias in names)
    return ""


def _defined_twice(units: Sequence[NamedStatement]) -> set[tuple[str, str]]:
    keys = [(unit.scope, unit.name) for unit in units]
    return {key for key in keys if keys.count(key) > 1}


def _text_of_units(units: Sequence[NamedStatement]) -> str:
    """Units as Python text; members of a class stand under its head."""
    parts: list[str] = []
    scope = ""
    for unit in units:
        if unit.scope != scope:
            scope = unit.scope
            if scope:
                parts.append(f"\n{scope}")
        block = "\n".join(f"    {line}" if line else line for line in unit.text.splitlines()) if scope else unit.text
        gap = "\n" if "\n" in unit.text else ""
        parts.append(f"{gap}{block}")
    return "\n".join(parts).strip("\n")
