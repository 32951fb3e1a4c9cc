"""What single statements of a patch and of its parent are: imports, constants, placeholders, comments to the reader."""

import ast
import re
from collections.abc import Iterable

from ...core.programs.program_text import HISTORY_NAME, FunctionNode
from ...core.programs.source_units import ParsedText, Statement, bound

OMISSION = re.compile(r"[ \t]*#[ \t]*(?:\.\.\.|…)")  # a comment that stands for code
FORM_MARK = re.compile(
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
            found.update(imports_of(node) or ())
        elif not isinstance(node, FunctionNode | ast.ClassDef | ast.expr):
            waiting += ast.iter_child_nodes(node)
    return found


def imports_of(node: ast.stmt) -> list[Import] | None:
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
    inner = [imports_of(each) if isinstance(each, ast.Import | ast.ImportFrom) else None for each in node.body]
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


def why_entangled(source: ParsedText, unit: Statement, name: str) -> str:
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
    found = FORM_MARK.fullmatch(line)
    return None if found is None else "patch" if found[1].lower() == "patch" else "whole"
