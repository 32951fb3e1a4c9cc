"""Reads a model's reply to a program prompt: one fenced Python block, a program or a patch, and a one-line summary."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..core.faults import Fault, FaultKind
from ..core.ports import THOUGHT_ONLY, UNUSABLE, Form, Reply
from ..core.programs.program_text import (
    MAX_FAULT,
    MAX_PROGRAM,
    MAX_SUMMARY,
    FunctionNode,
    child_nodes,
    parse,
    summary_of,
    unparse,
)
from ..core.text import one_line
from ..core.values import Contract, Program
from .programs.patch_form import form_of, named_parent, split_mark
from .programs.patches import merge

# Whether a program keeps its contract: the class and its methods, seen from the text alone.


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


MAX_REPLY = 1_000_000  # characters of a reply that are kept
TOO_LONG = "too-long"  # the stop of a reply that was longer
UNCLEAR_FORM = (
    "the block can be a whole program or a patch, since it looks names up as it runs and lacks functions of the "
    "parent: begin it with the line `# whole program` or `# patch`"
)

_FENCE = re.compile(r"( {0,3})(`{3,}+|~{3,}+)[ \t]*+([^`\s]*+)(?:\s[^`]*+)?")  # possessive, so linear in the line
_SUMMARY = re.compile(r"[\s>*_#-]{0,8}summary[\s*_]{0,8}:(.*)", re.IGNORECASE)
_PYTHON = ("python", "python3", "py")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its language word in lower case ("" where there is none) and its text."""

    language: str
    text: str
    closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reply holds: a program that keeps the contract, or the fault that says why it does not."""

    program: Program | None
    summary: str = ""
    fault: Fault | None = None


def within_limit(reply: Reply) -> Reply:
    """The reply, or the beginning of one that is longer than MAX_REPLY, whose stop then says so."""
    return reply if len(reply.text) <= MAX_REPLY else replace(reply, text=reply.text[:MAX_REPLY], stop=TOO_LONG)


def read_program(
    reply: Reply,
    contract: Contract,
    parents: Sequence[Program] = (),
    limit: int = MAX_PROGRAM,
    form: Form = "whole",
) -> Reading:
    """The program of a reply and its edit summary, or a Fault of the kind that fits. Never raises.

    With the form "patch", a block may be a patch of the first parent; the program is then the merged one. With
    "either" it may be one of any parent, which its first line then says; else a block that keeps the contract is a
    whole program.

    A refused, cut off or broken off reply is never a program, whatever it holds. Of the fenced blocks the
    Python ones count; where none says its language, those without a language do. Where several count, exactly
    one of them must hold a program.
    """
    blocks, prose = split(reply.text)
    said = summary_line(prose)
    python = stop_fault(reply) or _python_blocks(reply.text, blocks)
    if isinstance(python, Fault):
        return Reading(program=None, summary=said, fault=python)
    patched = form != "whole" and bool(parents)
    parent = parents[0] if patched else None
    reading = _only_one([
        _read_block(block, contract, limit, _merged_patch(block, parents) if patched else None, marked=form == "either")
        for block in python
    ], parent)
    if reading.program is None or (reading.fault is not None and reading.fault.kind is FaultKind.NOT_PYTHON):
        return replace(reading, summary=said)
    return replace(reading, summary=summary_of(reading.program, parents, said))


def _merged_patch(block: Block, parents: Sequence[Program]) -> Program:
    """The parent that a block patches, if it is a patch."""
    place = named_parent(block.text)
    return parents[place] if place < len(parents) else parents[0]


def _read_block(
    block: Block, contract: Contract, limit: int, parent: Program | None, *, marked: bool = False
) -> Reading:
    """What a block holds; with a parent it may be a patch of it, unless its first line says otherwise.

    If patches are `marked`, what keeps the contract without a mark is a whole program.
    """
    mark, text = split_mark(block.text)
    program = Program(text)
    fault = check(program, contract, limit)
    if parent is None or mark == "whole" or (fault is not None and fault.kind is FaultKind.NOT_PYTHON):
        return Reading(program=program, fault=fault)
    form: Form | None = mark or "patch"
    if mark is None and fault is None:
        form = "whole" if marked else _form(program, parent)
    if form == "whole":
        return Reading(program=program)
    if form is None:
        return Reading(program=None, fault=_fault(FaultKind.BAD_PATCH, UNCLEAR_FORM))
    merged = merge(parent, program, limit)
    if isinstance(merged, Fault):
        return Reading(program=None, fault=merged)
    return Reading(program=merged, fault=check(merged, contract, limit))


def _form(program: Program, parent: Program) -> Form | None:
    block, old = parse(program), parse(parent)
    return "whole" if isinstance(block, Fault) or isinstance(old, Fault) else form_of(block, old)


def _only_one(readings: Sequence[Reading], parent: Program | None) -> Reading:
    """The one reading with a program that keeps the contract; of a single block whatever it holds.

    Of several blocks, one that only repeats a part of the parent does not count.
    """
    if len(readings) == 1:
        return readings[0]
    sound = {reading.program: reading for reading in readings if reading.fault is None and reading.program != parent}
    if len(sound) == 1:
        return next(iter(sound.values()))
    what = "a program" if parent is None else "a program or a patch"
    last = readings[-1].fault
    held = f"{len(sound)} of them hold {what}" if sound else f"none of them holds {what}"
    why = f" (the last: {last.message})" if last is not None and not sound else ""
    fault = _fault(FaultKind.MANY_PROGRAMS, f"the reply has {len(readings)} Python blocks, and {held}; send one{why}")
    return Reading(program=None, fault=fault)


def split(text: str) -> tuple[list[Block], list[str]]:
    """The fenced blocks of a Markdown text (CommonMark's rule for fences) and the lines outside of them."""
    blocks: list[Block] = []
    prose: list[str] = []
    inside: list[str] | None = None
    indent, fence, language = 0, "", ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if inside is None:
            opening = _FENCE.fullmatch(line)
            if opening:
                indent, fence, language = len(opening[1]), opening[2], opening[3].strip("{}.").lower()
                inside = []
            else:
                prose.append(line)
        elif _closes(line, fence):
            blocks.append(Block(language=language, text=_joined_lines(inside), closed=True))
            inside = None
        elif indent:
            lead = len(line) - len(line.lstrip(" "))
            inside.append(line[min(indent, lead) :])
        else:
            inside.append(line)
    if inside is not None:
        blocks.append(Block(language=language, text=_joined_lines(inside), closed=False))
    return blocks, prose


def summary_line(prose: Sequence[str]) -> str:
    """What follows "Summary:" on the first line that says so, on one bounded line; "" without one."""
    for line in prose:
        found = _SUMMARY.match(line)
        if found:
            return one_line(found[1].strip(" *_`"), MAX_SUMMARY)
    return ""


def python_block(reply: Reply) -> Program | str:
    """The one Python block of a reply, or what is wrong with its blocks."""
    python = _python_blocks(reply.text, split(reply.text)[0])
    if isinstance(python, Fault):
        return python.message
    return Program(python[0].text) if len(python) == 1 else f"the reply has {len(python)} Python blocks: send one"


def stop_fault(reply: Reply) -> Fault | None:
    """Why the reply as a whole does not count, if so."""
    if reply.stop == "refusal":
        return _fault(FaultKind.REFUSED, f"the model refused: {reply.text}" if reply.text else "the model refused")
    if reply.stop == "length":
        return _fault(FaultKind.TRUNCATED, "the reply was cut off at the model's length limit")
    if reply.stop == TOO_LONG:
        return _fault(FaultKind.TRUNCATED, f"the reply has more than {MAX_REPLY:,} characters")
    if reply.stop == THOUGHT_ONLY:
        return _fault(FaultKind.EMPTY, (
            "the reply is empty: the model only reasoned and gave no answer (raise its limit of output or its context, "
            "or turn its reasoning parser or its thinking off)"
        ))
    if reply.stop == UNUSABLE:
        return _fault(FaultKind.MODEL_FAILED, reply.text)
    if reply.stop != "end":
        return _fault(FaultKind.MODEL_FAILED, f"the model stopped early ({reply.stop})")
    if not reply.text.strip():
        return _fault(FaultKind.EMPTY, "the reply is empty")
    return None


def _python_blocks(text: str, blocks: Sequence[Block]) -> list[Block] | Fault:
    if blocks and not blocks[-1].closed:
        return _fault(FaultKind.TRUNCATED, "the last code block is not closed")
    python = [block for block in blocks if block.language in _PYTHON]
    python = python or [block for block in blocks if not block.language]
    if not python:
        return _fault(FaultKind.NO_PROGRAM, f"the reply has no Python block: {text[: 4 * MAX_FAULT]}")
    return python


def _closes(line: str, fence: str) -> bool:
    if fence not in line:  # so for nearly every line
        return False
    bare = line.strip(" \t")
    return len(bare) >= len(fence) and set(bare) == {fence[0]} and len(line) - len(line.lstrip(" ")) <= 3


def _joined_lines(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _fault(kind: FaultKind, message: str) -> Fault:
    return Fault(kind=kind, message=one_line(message, MAX_FAULT))
