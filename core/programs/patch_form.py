"""Whether a block of code is a whole program or a patch of its parent."""

import ast
import re
from collections.abc import Iterable
from typing import Literal

from .program_text import HISTORY_NAME, FunctionNode, children
from .source_units import ParsedText, Statement, bound, imported_name

# What single statements of a patch and of its parent are: imports, constants, placeholders, comments to the reader.


OMISSION = re.compile(r"[ \t]*#[ \t]*(?:\.\.\.|…)")  # a comment that stands for code
_MARK = re.compile(
    r"[ \t]*#[ \t]*(whole program|patch)(?:[ \t]+of[ \t]+(?:parent[ \t]+)?`?([AB])`?)?[ \t]*[.:]?[ \t]*", re.IGNORECASE
)

Import = tuple[str | None, int, str, str | None]
"""A module (None for `import x`), the level of a relative import, the name and its alias."""


def imports(holder: ast.Module | ast.ClassDef) -> set[Import]:
    """All imports of a scope, those in `if` and `try` blocks among them."""
    found: set[Import] = set()
    waiting: list[ast.AST] = [*holder.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(imported(node) or ())
        elif not isinstance(node, FunctionNode | ast.ClassDef | ast.expr):
            waiting += ast.iter_child_nodes(node)
    return found


def imported(node: ast.stmt) -> list[Import] | None:
    """What a statement imports; None if it does something else. A block `if TYPE_CHECKING:` of imports is one."""
    if isinstance(node, ast.Import):
        return [(None, 0, alias.name, alias.asname) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.module or "", node.level, alias.name, alias.asname) for alias in node.names]
    if not isinstance(node, ast.If) or node.orelse:
        return None
    test = node.test
    if (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) != "TYPE_CHECKING":
        return None
    inner = [imported(each) if isinstance(each, ast.Import | ast.ImportFrom) else None for each in node.body]
    return None if None in inner else [each for imports in inner for each in imports or ()]


def constants(units: Iterable[Statement]) -> dict[str, list[str]]:
    """The owners of each constant of a module: "" for the module, and the names of its classes."""
    found: dict[str, list[str]] = {}
    for unit in units:
        nodes = [("", unit.node)]
        if isinstance(unit.node, ast.ClassDef):
            nodes = [(unit.node.name, member) for member in unit.node.body]
        for owner, node in nodes:
            for name in (bound(node) or ()) if isinstance(node, ast.Assign | ast.AnnAssign) else ():
                found.setdefault(name, []).append(owner)
    return found


def entangled(source: ParsedText, unit: Statement, name: str) -> str:
    """Why a name of the parent cannot be named alone."""
    line = source.line_of(unit.start) + 1
    others = sorted(unit.names - {name})
    if unit.plain and others:
        return f"since line {line} of the program sets {', '.join(others[:4])} together with it"
    return f"since line {line} of the program sets it inside of another statement ({type(unit.node).__name__})"


def is_text(node: ast.stmt) -> bool:
    """A docstring, or another bare string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def is_filler(node: ast.stmt) -> bool:
    """A docstring, `pass` or `...`, which define nothing."""
    return isinstance(node, ast.Pass) or is_text(node) or _is_ellipsis(node)


def is_history(node: ast.stmt) -> bool:
    """Whether a statement only sets or extends HISTORY, which is not the model's to keep in a patch."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id == HISTORY_NAME
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == HISTORY_NAME
    return isinstance(node, ast.Assign | ast.AnnAssign) and bound(node) == frozenset({HISTORY_NAME})


def has_stub(node: ast.stmt) -> bool:
    """Whether a function has `...` among its statements."""
    return isinstance(node, FunctionNode) and any(_is_ellipsis(statement) for statement in node.body)


def is_aside(line: str) -> bool:
    """A comment to the reader of the patch: what it leaves out, or which form it has."""
    return bool(OMISSION.match(line)) or marked_form(line) is not None


def marked_form(line: str) -> str | None:
    """"whole" or "patch" for the comment line that says which of them a block is."""
    found = _MARK.fullmatch(line)
    return None if found is None else "patch" if found[1].lower() == "patch" else "whole"


Form = Literal["whole", "patch", "either"]
"""What a reply holds: a whole program, a patch, or what its block names: a whole program unless it says patch."""


def named_parent(text: str) -> int:
    """The place of the parent that a block patches by its first line, such as `# patch of B`; the first by default."""
    found = _MARK.fullmatch(text.lstrip("\r\n").partition("\n")[0].rstrip("\r"))
    return 1 if found is not None and (found[2] or "").upper() == "B" else 0


_LOOKUPS = frozenset({"getattr", "globals", "vars", "locals", "eval", "exec"})
_ATTRIBUTES = ("__dict__", "__getattribute__")


def split_mark(text: str) -> tuple[Form | None, str]:
    """The form that the first line of a block names, if it does, and the text of the block without that line."""
    bare = text.lstrip("\r\n")
    line, _, rest = bare.partition("\n")
    form = marked_form(line.rstrip("\r"))
    if form is None:
        return None, text
    return ("whole", rest) if form == "whole" else ("patch", rest)


def form_of(block: ast.Module, parent: ast.Module) -> Form | None:
    """The form of a block that keeps the contract by itself; None if both readings make sense and differ.

    It is a whole program if it uses nothing that only the parent defines: no name of its module, no attribute of its
    objects. Otherwise it is a patch. Where it looks names up while it runs (`getattr`, `globals`), what it uses cannot
    be seen; then it is unclear if the parent has functions that the block lacks.
    """
    names, attributes = _defined(parent.body), _attributes_set(parent)
    own_names, own_attributes = _defined(block.body) | _set_anywhere(block), _attributes_set(block)
    read, attributes_read, looks_up = _read(block)
    if read & (names - own_names) or attributes_read & (attributes - own_attributes):
        return "patch"
    if looks_up and _functions(parent) - _functions(block):
        return None
    return "whole"


def _defined(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that a module's definitions set, those in its `if`, `try` and `with` blocks among them."""
    found: set[str] = set()
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        names = bound(node) if isinstance(node, ast.stmt) else None
        if names is not None:
            found |= names
        elif not isinstance(node, ast.expr):
            waiting += [below for below in children((node,)) if isinstance(below, ast.AST)]
    return frozenset(found)


def _nodes(tree: ast.AST) -> Iterable[ast.AST]:
    level: list[ast.AST] = [tree]
    while level:
        yield from level
        level = [node for node in children(level) if isinstance(node, ast.AST)]


def _set_anywhere(tree: ast.Module) -> frozenset[str]:
    """Every name that is set somewhere in a program: variables, arguments, imports."""
    found: set[str] = set()
    for node in _nodes(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(imported_name(node))
        elif isinstance(node, FunctionNode | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            found.add(node.name or "_")
    return frozenset(found)


def _attributes_set(tree: ast.Module) -> frozenset[str]:
    """The attributes that a program gives to its objects: members of classes, and `x.name = …`."""
    found: set[str] = set()
    for node in _nodes(tree):
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                found |= bound(statement) or frozenset()
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found.add(node.attr)
    return frozenset(found)


def _read(tree: ast.Module) -> tuple[frozenset[str], frozenset[str], bool]:
    """The names that a program reads, the attributes that it reads of its objects, and whether it looks some up."""
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)} | {"self", "cls"}
    names: set[str] = set()
    attributes: set[str] = set()
    looks_up = False
    for node in _nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
            looks_up |= node.id in _LOOKUPS
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            looks_up |= node.attr in _ATTRIBUTES
            if isinstance(node.value, ast.Name) and node.value.id in classes:
                attributes.add(node.attr)
    return frozenset(names), frozenset(attributes), looks_up


def _functions(tree: ast.Module) -> frozenset[str]:
    return frozenset(node.name for node in _nodes(tree) if isinstance(node, FunctionNode))
