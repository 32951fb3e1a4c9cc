"""Reads a model's reply to a program prompt: one fenced Python block, a program or a patch, and a one-line summary."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ..core.faults import Fault, FaultKind
from ..core.ports import THOUGHT_ONLY, UNUSABLE, Form, Reply
from ..core.programs.program_text import MAX_FAULT, MAX_PROGRAM, MAX_SUMMARY, digest, parse, summary_of
from ..core.text import one_line
from ..core.values import Contract, Program
from .contract_check import check
from .fences import Block, likely_blocks, split
from .programs.patch_form import form_of, named_parent, split_mark
from .programs.patches import merge
from .programs.pieces import joined, with_pieces

MAX_REPLY = 1_000_000  # characters of a reply that are kept
TOO_LONG = "too-long"  # the stop of a reply that was longer
UNCLEAR_FORM = (
    "the block can be a whole program or a patch, since it looks names up as it runs and lacks functions of the "
    "parent: begin it with the line `# whole program` or `# patch`"
)

_SUMMARY = re.compile(r"[\s>*_#-]{0,8}summary[\s*_]{0,8}:(.*)", re.IGNORECASE)
# Faults of a reply in which a program may still be, in another form than the prompt asks for.
_UNREAD = frozenset({
    FaultKind.NO_PROGRAM, FaultKind.MANY_PROGRAMS, FaultKind.NOT_PYTHON, FaultKind.BROKEN_CONTRACT, FaultKind.TRUNCATED,
})


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
    one of them must hold a program; a block that defines what this one uses belongs to it. Where they hold none, what
    a person would find counts (`likely_blocks`), if it is one program that keeps the contract.
    """
    blocks, prose = split(reply.text)
    said = summary_line(prose)
    stopped = stop_fault(reply)
    if stopped is not None:
        return Reading(program=None, summary=said, fault=stopped)
    patched = form != "whole" and bool(parents)
    parent = parents[0] if patched else None

    def read(block: Block) -> Reading:
        base = _merged_patch(block, parents) if patched and (block.is_python or not block.language) else None
        return _read_block(block, contract, limit, base, marked=form == "either")

    python = _python_blocks(reply.text, blocks)
    if isinstance(python, Fault):
        reading = Reading(program=None, fault=python)
    else:
        reading = _only_one([*map(read, python)], parent)
    if reading.fault is not None and reading.fault.kind in _UNREAD:
        python = likely_blocks(reply.text)
        reading = _likely(python, read, parent, contract, limit) or reading
    if reading.fault is None and not isinstance(python, Fault) and not patched:
        reading = _whole(reading, python, contract, limit)
    if reading.program is None or (reading.fault is not None and reading.fault.kind is FaultKind.NOT_PYTHON):
        return replace(reading, summary=said)
    return replace(reading, summary=summary_of(reading.program, parents, said))


def _likely(
    blocks: Sequence[Block], read: Callable[[Block], Reading], parent: Program | None, contract: Contract, limit: int
) -> Reading | None:
    """The one program that keeps the contract in these blocks, or in all of them together; None for none or several."""
    sound = _sound(map(read, blocks), parent)
    if len(sound) == 1:
        return sound[0]
    whole = None if sound or parent is not None or len(blocks) < 2 else joined([Program(each.text) for each in blocks])
    return None if whole is None or check(whole, contract, limit) is not None else Reading(program=whole)


def _whole(reading: Reading, blocks: Sequence[Block], contract: Contract, limit: int) -> Reading:
    """The program of one of the blocks with the others that it needs."""
    if len(blocks) < 2:
        return reading
    texts = [Program(split_mark(block.text)[1]) for block in blocks]
    if reading.program not in texts:
        return reading
    whole = with_pieces(texts, texts.index(reading.program))
    return reading if check(whole, contract, limit) is not None else replace(reading, program=whole)


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
    sound = _sound(readings, parent)
    if len(sound) == 1:
        return sound[0]
    what = "a program" if parent is None else "a program or a patch"
    last = readings[-1].fault
    held = f"{len(sound)} of them hold {what}" if sound else f"none of them holds {what}"
    why = f" (the last: {last.message})" if last is not None and not sound else ""
    fault = _fault(FaultKind.MANY_PROGRAMS, f"the reply has {len(readings)} Python blocks, and {held}; send one{why}")
    return Reading(program=None, fault=fault)


def _sound(readings: Iterable[Reading], parent: Program | None) -> list[Reading]:
    """The readings with a program that keeps the contract; of several that do the same by their text the last."""
    found = {
        digest(each.program): each for each in readings
        if each.fault is None and each.program is not None and each.program != parent
    }
    return [*found.values()]


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
    python = [block for block in blocks if block.is_python]
    python = python or [block for block in blocks if not block.language]
    if not python:
        labels = ", ".join(sorted({block.language for block in blocks}))
        which = f" (its blocks say {labels})" if labels else ""
        return _fault(FaultKind.NO_PROGRAM, f"the reply has no Python block{which}: {text[: 4 * MAX_FAULT]}")
    return python


def _fault(kind: FaultKind, message: str) -> Fault:
    return Fault(kind=kind, message=one_line(message, MAX_FAULT))
