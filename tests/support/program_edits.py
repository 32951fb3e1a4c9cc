"""Draws edits of real programs: the edited text, made line by line, and the patch that a model would send for it.

The edited text is made without the code under test: lines are found with `ast` and changed as lines of text.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random

DRESS = '''
if TYPE_CHECKING:
    from collections.abc import Sequence

    NOTE: "Sequence[str]"
WIDTH = 3; HEIGHT = 4  # both on one line
REACH = 0.5 + \\
    0.25
naïve_größe = 1.5  # a name that is not ASCII: 5 µm
LEFT = RIGHT = (
    1.0,
    2.0,  # the second
)
BANNER = """
    two lines, # not a comment
def neither(): a function
"""
'''


@dataclass(kw_only=True)
class Edit:
    """An edit under way: the text so far, and the lines of the patch for the module ("") and for each class."""

    text: str
    patch: dict[str, list[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    imports: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def replace(self, first: int, last: int, new: list[str]) -> None:
        """Put lines in the place of the lines first to last (from 1)."""
        lines = self.lines
        lines[first - 1 : last] = new
        self.text = "\n".join(lines)

    def say(self, owner: str, lines: list[str]) -> None:
        self.patch.setdefault(owner, []).extend(lines)

    @property
    def patch_text(self) -> str:
        parts = ["# patch", *self.imports, *self.patch.get("", [])]
        for owner, lines in self.patch.items():
            if owner:
                parts += ["", f"class {owner}:", *lines]
        return "\n".join(parts) + "\n"


def dressed(text: str) -> str:
    """The program with statements of many forms behind its imports."""
    tree = ast.parse(text)
    last = max(node.end_lineno or 0 for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    lines = text.split("\n")
    lines[last:last] = ["from typing import TYPE_CHECKING", *DRESS.strip("\n").split("\n")]
    return "\n".join(lines)


def draw_edit(random: Random, text: str) -> Edit:
    """An edit of one to three definitions."""
    edit = Edit(text=text)
    wanted = random.choice([1, 1, 1, 2, 3])
    while len(edit.kinds) < wanted:
        kind = random.choice([*KINDS])
        if KINDS[kind](random, edit):
            edit.kinds.append(kind)
            parsed(edit.text)
    return edit


# --------------------------------------------------------------------------------------------- finding


@lru_cache(maxsize=8)
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _classes(edit: Edit) -> list[ast.ClassDef]:
    return [node for node in parsed(edit.text).body if isinstance(node, ast.ClassDef)]


def _members(edit: Edit, kinds: tuple[type, ...]) -> list[tuple[str, ast.stmt]]:
    """The statements of the module and of its classes, with their owners, that are alone on their lines."""
    module = parsed(edit.text)
    found = [("", node) for node in module.body if isinstance(node, kinds)]
    for owner in _classes(edit):
        found += [(owner.name, node) for node in owner.body if isinstance(node, kinds)]
    return [(owner, node) for owner, node in found if not edit.used & _names(node) and _alone(edit, node)]


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def _alone(edit: Edit, node: ast.stmt) -> bool:
    rest = edit.lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode().strip()
    before = edit.lines[node.lineno - 1].encode()[: node.col_offset].decode().strip()
    return not before and (not rest or rest.startswith("#"))


def _pick(random: Random, edit: Edit, *kinds: type) -> tuple[str, ast.stmt] | None:
    found = _members(edit, kinds)
    return random.choice(found) if found else None


def _span(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)]), node.end_lineno


def _put(edit: Edit, owner: str, node: ast.stmt, new: list[str]) -> bool:
    """Replace the lines of a statement, in the text and in the patch."""
    first, last = _span(node)
    if edit.lines[first - 1 : last] == new:
        return False
    edit.replace(first, last, new)
    edit.say(owner, new)
    edit.used |= _names(node)
    return True


def _body(edit: Edit, node: ast.FunctionDef) -> tuple[list[str], int, str] | None:
    """The lines of a function, the place of its first statement among them, and the indentation there."""
    first, last = _span(node)
    statement = node.body[1] if len(node.body) > 1 and ast.get_docstring(node) else node.body[0]
    lines = edit.lines[first - 1 : last]
    place = _span(statement)[0] - first
    indent = re.match(r"[ \t]*", lines[place])[0]
    return (lines, place, indent) if statement.lineno > node.lineno and len(indent) > node.col_offset else None


# ------------------------------------------------------------------------------------------------ kinds


def _constant(random: Random, edit: Edit) -> bool:
    picked = _pick(random, edit, ast.Assign, ast.AnnAssign)
    if picked is None:
        return False
    first, last = _span(picked[1])
    text = "\n".join(edit.lines[first - 1 : last])
    numbers = [found for found in re.finditer(r"\b\d+(?:\.\d+)?\b", text) if "#" not in text[: found.start()]]
    if not numbers:
        return False
    place = random.choice(numbers)
    new = f"{text[: place.start()]}{random.randrange(1, 99)}{text[place.end() :]}"
    return _put(edit, *picked, new.split("\n"))


def _comment_of_constant(random: Random, edit: Edit) -> bool:
    picked = _pick(random, edit, ast.Assign)
    if picked is None:
        return False
    first, last = _span(picked[1])
    lines = edit.lines[first - 1 : last]
    end = lines[-1].encode()[: picked[1].end_col_offset].decode()
    return _put(edit, *picked, [*lines[:-1], end + random.choice(["", "  # schätzung", "  # x; y = 3"])])


def _in_function(line: str) -> Callable[[Random, Edit], bool]:
    """A kind that puts a line, or several, before the first statement of a function."""

    def change(random: Random, edit: Edit) -> bool:
        picked = _pick(random, edit, ast.FunctionDef)
        found = None if picked is None else _body(edit, picked[1])
        if found is None:
            return False
        lines, place, indent = found
        return _put(edit, *picked, [*lines[:place], *(indent + new for new in line.split("\n")), *lines[place:]])

    return change


def _decorator(random: Random, edit: Edit) -> bool:
    picked = _pick(random, edit, ast.FunctionDef)
    if picked is None:
        return False
    first, last = _span(picked[1])
    lines = edit.lines[first - 1 : last]
    indent = " " * picked[1].col_offset
    if picked[1].decorator_list and random.random() < 0.5:
        return _put(edit, *picked, lines[picked[1].lineno - first :])
    return _put(edit, *picked, [f"{indent}@(lambda f:  # a@b", f"{indent}  f)", *lines])


def _comment_above(random: Random, edit: Edit) -> bool:
    picked = _pick(random, edit, ast.FunctionDef)
    if picked is None:
        return False
    first, last = _span(picked[1])
    indent = " " * picked[1].col_offset
    if edit.lines[first - 2].strip().startswith("#"):
        return False
    note = f"{indent}# why: größer is better"
    return _put(edit, *picked, [note, *edit.lines[first - 1 : last]])


def _shared_line(random: Random, edit: Edit) -> bool:
    if "WIDTH = 3; HEIGHT = 4" not in edit.text:
        return False
    name, old = random.choice([("WIDTH", "WIDTH = 3"), ("HEIGHT", "HEIGHT = 4")])
    if name in edit.used:
        return False
    edit.used.add(name)
    edit.text = edit.text.replace(old, f"{name} = 7", 1)
    edit.say("", [f"{name} = 7"])
    return True


def _delete(random: Random, edit: Edit) -> bool:
    picked = _pick(random, edit, ast.FunctionDef)
    if picked is None:
        return False
    owner, node = picked
    holder = next((each for each in _classes(edit) if each.name == owner), None)
    if holder is not None and len(holder.body) == 1:
        return False
    first, last = _span(node)
    while edit.lines[first - 2].strip().startswith("#"):
        first -= 1
    while first > 1 and not edit.lines[first - 2].strip():
        first -= 1
    edit.replace(first, last, [])
    edit.say("", [f"# delete: {owner}.{node.name}" if owner else f"# delete: {node.name}"])
    edit.used.add(node.name)
    return True


def _new_method(random: Random, edit: Edit) -> bool:
    owner = random.choice(_classes(edit))
    name = f"_new_{len(edit.used)}"
    if owner.name in edit.used:
        return False
    new = [f"    def {name}(self, x=1):", '        """New', "  é.", '        """', "        return [x for x in (x,)]"]
    edit.replace(owner.end_lineno + 1, owner.end_lineno, ["", *new])
    edit.say(owner.name, new)
    edit.used |= {owner.name, name}
    return True


def _new_attribute(random: Random, edit: Edit) -> bool:
    owner = random.choice(_classes(edit))
    if owner.name in edit.used:
        return False
    at = owner.lineno
    gap: list[str] = []
    for place, node in enumerate(owner.body):
        if isinstance(node, ast.FunctionDef):
            break
        if isinstance(node, ast.Assign | ast.AnnAssign) or (place == 0 and ast.get_docstring(owner)):
            at, gap = node.end_lineno, [] if isinstance(node, ast.Assign | ast.AnnAssign) else [""]
    if at == owner.lineno:
        return False
    name = f"NEW_{len(edit.used)}"
    new = [f"    {name} = (1, 2)  # of the class"]
    edit.replace(at + 1, at, [*gap, *new])
    edit.say(owner.name, new)
    edit.used |= {owner.name, name}
    return True


def _new_constant(random: Random, edit: Edit) -> bool:
    if any(name.startswith("LIMIT_") for name in edit.used):
        return False
    at = 0
    for node in parsed(edit.text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            break
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom):
            at = node.end_lineno
    name = f"LIMIT_{len(edit.used)}"
    new = [f"{name} = {{'a': 1,", "    'b': 2}"]
    edit.replace(at + 1, at, new)
    edit.say("", new)
    edit.used.add(name)
    return True


def _new_import(random: Random, edit: Edit) -> bool:
    if edit.imports:
        return False
    at = max(node.end_lineno or 0 for node in parsed(edit.text).body if isinstance(node, ast.Import | ast.ImportFrom))
    edit.replace(at + 1, at, ["from bisect import insort"])
    edit.imports = ["from typing import TYPE_CHECKING", "from bisect import insort"]
    return True


KINDS: dict[str, Callable[[Random, Edit], bool]] = {
    "constant": _constant,
    "comment of a constant": _comment_of_constant,
    "statement": _in_function("unused = 'größe'; other = 2"),
    "comment inside": _in_function("# look: def f(): pass"),
    "nested function": _in_function("def inner(a, *, b=1):\n    return (a +\n  b)"),
    "continuation": _in_function("joined = 1 + \\\n  2"),
    "string": _in_function('text = """\n  at column 2\nat column 0\n"""'),
    "decorator": _decorator,
    "comment above": _comment_above,
    "shared line": _shared_line,
    "delete": _delete,
    "new method": _new_method,
    "new attribute": _new_attribute,
    "new constant": _new_constant,
    "new import": _new_import,
}
