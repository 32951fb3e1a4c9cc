"""Whether a block of code is a whole program or a patch of its parent."""

import ast
from collections.abc import Iterable

from ...core.ports import Form
from ...core.programs.program_text import FunctionNode, child_nodes
from ...core.programs.source_units import bound, imported_name
from .patch_statements import FORM_MARK, marked_form


def named_parent(text: str) -> int:
    """The place of the parent that a block patches by its first line, such as `# patch of B`; the first by default."""
    found = FORM_MARK.fullmatch(text.lstrip("\r\n").partition("\n")[0].rstrip("\r"))
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
    names, attributes = defined_names(parent.body), _attributes_set(parent)
    own_names, own_attributes = defined_names(block.body) | names_set(block), _attributes_set(block)
    read, attributes_read, looks_up = _read(block)
    if read & (names - own_names) or attributes_read & (attributes - own_attributes):
        return "patch"
    if looks_up and _functions(parent) - _functions(block):
        return None
    return "whole"


def defined_names(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that a module's definitions set, those in its `if`, `try` and `with` blocks among them."""
    found: set[str] = set()
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        names = bound(node) if isinstance(node, ast.stmt) else None
        if names is not None:
            found |= names
        elif not isinstance(node, ast.expr):
            waiting += [below for below in child_nodes((node,)) if isinstance(below, ast.AST)]
    return frozenset(found)


def _nodes(tree: ast.AST) -> Iterable[ast.AST]:
    level: list[ast.AST] = [tree]
    while level:
        yield from level
        level = [node for node in child_nodes(level) if isinstance(node, ast.AST)]


def names_set(tree: ast.Module) -> frozenset[str]:
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


def names_read(tree: ast.Module) -> frozenset[str]:
    """The names that a program reads."""
    return _read(tree)[0]


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
