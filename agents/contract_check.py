"""Whether a program keeps its contract: the class and its methods, seen from the text alone. Pure."""

import ast
from collections.abc import Mapping, Sequence

from ..core.faults import Fault, FaultKind
from ..core.programs.program_text import MAX_FAULT, MAX_PROGRAM, FunctionNode, child_nodes, parse, unparse
from ..core.text import one_line
from ..core.values import Contract, Program

_Method = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef))  # what they hold is theirs
_YIELDS = frozenset((ast.Yield, ast.YieldFrom))


def check(program: Program, contract: Contract, limit: int = MAX_PROGRAM) -> Fault | None:
    """Why `program` is no program for `contract`, if so: NOT_PYTHON, or BROKEN_CONTRACT with one sentence.

    It may have `limit` characters. The class must stand at module level and have every method of the
    contract, inherited ones from classes of the same module included, callable with the contract's number
    of positional arguments after self, neither async nor a generator nor a property. The class must be
    constructible as the contract says: without arguments, unless `__init__` is among its methods.
    """
    tree = parse(program, limit)
    if isinstance(tree, Fault):
        return tree
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if contract.class_name not in classes:
        there = ", ".join(classes) or "no class"
        return _broken_contract(f"the class {contract.class_name} is not defined at module level; there is {there}")
    functions = {node.name: node for node in tree.body if isinstance(node, FunctionNode)}
    members: dict[str, ast.AST] = {}
    for holder in reversed(_lineage(contract.class_name, classes)):
        members.update(_members(holder, functions))
    wanted = dict(contract.methods)
    if "__init__" in members:
        wanted.setdefault("__init__", 0)
    for name, arguments in wanted.items():
        flaw = _flaw(members.get(name), arguments)
        if flaw:
            return _broken_contract(f"{contract.class_name}.{name} {flaw}")
    return None


def _broken_contract(message: str) -> Fault:
    return Fault(kind=FaultKind.BROKEN_CONTRACT, message=one_line(message, MAX_FAULT))


def _lineage(name: str, classes: Mapping[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """The class and its bases of the same module, nearest first; a circle of bases ends where it closes."""
    lineage: list[ast.ClassDef] = []
    waiting = [name]
    while waiting:
        holder = classes.get(waiting.pop(0))
        if holder is not None and holder not in lineage:
            lineage.append(holder)
            waiting.extend(base.id for base in holder.bases if isinstance(base, ast.Name))
    return lineage


def _members(holder: ast.ClassDef, functions: Mapping[str, ast.AST]) -> dict[str, ast.AST]:
    """What the body of a class binds to names; a name set to a function of the module or class stands for it."""
    members: dict[str, ast.AST] = {}
    for statement in holder.body:
        if isinstance(statement, FunctionNode):
            members[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            value: ast.AST = statement.value
            if isinstance(value, ast.Name):
                value = members.get(value.id) or functions.get(value.id) or value
            members.update((target.id, value) for target in statement.targets if isinstance(target, ast.Name))
    return members


def _flaw(member: ast.AST | None, arguments: int) -> str | None:
    """What is wrong with a method that must take `arguments` positional arguments after self, if anything.

    A member whose code cannot be seen (such as the result of a call) is left to the run.
    """
    if member is None:
        return "is missing"
    if isinstance(member, ast.Constant):
        return "is not a method"
    if not isinstance(member, _Method):
        return None
    if isinstance(member, ast.AsyncFunctionDef):
        return "is async; it must be a plain method"
    decorators = _decorators(member)
    if decorators & {"property", "cached_property"}:
        return "is a property; it must be a plain method"
    if _yields(member):
        return "is a generator; it must return its result"
    if decorators - {"staticmethod", "classmethod", "override"}:
        return None  # another decorator may change what it takes
    given = arguments if "staticmethod" in decorators else arguments + 1
    return _arity_flaw(member.args, given, arguments)


def _decorators(method: _Method) -> set[str]:
    nodes: Sequence[ast.expr] = [] if isinstance(method, ast.Lambda) else method.decorator_list
    return {str(unparse(node)).rpartition(".")[2] for node in nodes}


def _arity_flaw(spec: ast.arguments, given: int, arguments: int) -> str | None:
    positional = len(spec.posonlyargs) + len(spec.args)
    needed = positional - len(spec.defaults)
    required_names = [
        name.arg for name, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if default is None
    ]
    if required_names:
        return f"requires the keyword argument {required_names[0]}"
    if needed <= given and (given <= positional or spec.vararg is not None):
        return None
    words = "no argument" if arguments == 0 else f"{arguments} argument{'s' * (arguments > 1)}"
    return f"must take {words} after self"


def _yields(method: _Method) -> bool:
    """Whether the method itself (not a function inside it) yields."""
    level = child_nodes([method])
    while level:
        kinds = set(map(type, level))
        if kinds & _YIELDS:
            return True
        kept = level if kinds.isdisjoint(_SCOPES) else [node for node in level if type(node) not in _SCOPES]
        level = child_nodes(kept)
    return False
