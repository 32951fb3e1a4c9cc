"""Reads the call of a tool from a reply: a line `Tool: NAME`, lines with its arguments, and a code block where needed.

    Tool: try_program
    Episode: 0

followed by one Python block. A service's own call of a tool arrives in this form (`models/connection.py`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.errors import no_such
from ..core.ports import Form, Reply
from ..core.programs.program_text import MAX_FAULT
from ..core.text import one_line
from ..core.turns import COMPUTE, DRAFT, LOOK, OTHER, PARENT, SUBMIT, TOOLS, TRY, ToolRequest
from ..core.values import Contract, Program
from .fences import split
from .reply import Reading, python_block, read_program, stop_fault

MAX_CODE = 8_000  # characters of the code for `compute`
MAX_FIELDS = 8
MAX_NUMBER = 1_000_000_000
ARGUMENTS = ("tool", "episode", "recording", "from", "to", "fields", "draft")

BAD_STEPS = "`From:` and `To:` are numbers of steps, such as `From: 0` and `To: 100`, or from the end, `From: -30`"

_LINE = re.compile(r"[\s>*_`-]{0,8}([a-z]{2,9})[\s*_`]{0,8}:(.*)", re.IGNORECASE)
_RECORDING = re.compile(rf"({PARENT}|{OTHER}|{DRAFT})[\s,:#]{{0,4}}(\d{{1,6}})", re.IGNORECASE)
_FIELD = re.compile(r"[^\s,;\[\]]{1,80}(?:\[[\d,: ]{1,40}\])?")


def read_request(
    reply: Reply, contract: Contract, parents: Sequence[Program], limit: int, form: Form,
    drafts: Sequence[Program] = (),
) -> ToolRequest | None:
    """What a reply asks of a tool; None for a reply that calls none, and so may be a submission. Never raises.

    `drafts` are those tried so far, which a patch may change. Whatever is wrong with the call is the `problem` of the
    request.
    """
    fault = stop_fault(reply)
    if fault is not None:
        return ToolRequest(problem=fault.message)
    given, problem = _arguments(split(reply.text)[1])
    if problem:
        return ToolRequest(problem=problem)
    if "tool" not in given:
        return None
    tool = given["tool"].strip(" *_`.'\"").lower()
    match tool:
        case "try_program":
            return _try(reply, given, contract, parents, limit, form, drafts)
        case "look_closer":
            return _look(given)
        case "compute":
            return _compute(reply, given)
        case "submit":
            return _submit(reply, given, contract, parents, limit, drafts)
    return ToolRequest(problem=one_line(str(no_such("tool", one_line(tool, 60), TOOLS)), MAX_FAULT))


def _arguments(prose: Sequence[str]) -> tuple[Mapping[str, str], str]:
    """The lines `Name: value` from the first `Tool:` line on, and what is wrong with them."""
    given: dict[str, str] = {}
    for line in prose:
        found = _LINE.match(line)
        name = found[1].lower() if found else ""
        if found is None or name not in ARGUMENTS or (name != "tool" and "tool" not in given):
            continue
        if name == "tool" and "tool" in given:
            return given, "the reply calls more than one tool: call one, and wait for its answer"
        given.setdefault(name, found[2].strip()[:2000])
    return given, ""


def _try(
    reply: Reply, given: Mapping[str, str], contract: Contract, parents: Sequence[Program], limit: int, form: Form,
    drafts: Sequence[Program],
) -> ToolRequest:
    number = _number(given.get("episode", "0"))
    if number is None:
        return ToolRequest(tool=TRY, problem="the line `Episode:` holds no number, as in `Episode: 0`")
    if "draft" in given and not _has_block(reply):
        return _try_again(given["draft"], number, parents)
    if "draft" in given:
        program, problem = _changes(reply, given["draft"], contract, parents, limit, drafts)
    else:
        program, problem = _program(read_program(reply, contract, parents, limit, form))
    if program is None:
        return ToolRequest(tool=TRY, problem=f"the draft cannot be tried: {problem}")
    return ToolRequest(tool=TRY, program=program, number=number)


def _has_block(reply: Reply) -> bool:
    return bool(split(reply.text)[0])


def _program(reading: Reading) -> tuple[Program | None, str]:
    """The program, or why there is none."""
    if reading.program is None or reading.fault is not None:
        return None, "the reply holds no program" if reading.fault is None else reading.fault.message
    return reading.program, ""


def _changes(
    reply: Reply, draft: str, contract: Contract, parents: Sequence[Program], limit: int, drafts: Sequence[Program]
) -> tuple[Program | None, str]:
    """An earlier draft, or the first parent, changed by the block of the reply; or why it cannot be."""
    if draft.strip(" *_`'\"").lower() == PARENT and parents:
        return _program(read_program(reply, contract, parents, limit, "patch"))
    number = _number(draft) or 0
    if not 1 <= number <= len(drafts):
        return None, f"there is no draft {number} to change"
    return _program(read_program(reply, contract, [drafts[number - 1]], limit, "patch"))


def _try_again(draft: str, number: int, parents: Sequence[Program]) -> ToolRequest:
    """A trial of a program that the conversation knows: the first parent as it is, or an earlier draft."""
    if draft.strip(" *_`'\"").lower() == PARENT and parents:
        return ToolRequest(tool=TRY, program=parents[0], number=number)
    earlier = _number(draft)
    if not earlier:
        return ToolRequest(tool=TRY, problem=f"`Draft:` names a draft that was tried, as in `Draft: 1`, or `{PARENT}`")
    return ToolRequest(tool=TRY, draft=earlier, number=number)


def _look(given: Mapping[str, str]) -> ToolRequest:
    request = _of_recording(LOOK, given)
    first, last = _place(given.get("from", "0")), _place(given.get("to", str(MAX_NUMBER)))
    if request.problem:
        return request
    if first is None or last is None or (last < first and (first < 0) == (last < 0)):
        return replace(request, problem=BAD_STEPS)
    fields = tuple(_FIELD.findall(given.get("fields", "")))
    if len(fields) > MAX_FIELDS:
        return replace(request, problem=f"{len(fields)} fields are too many: name at most {MAX_FIELDS}")
    return replace(request, first=first, last=last, fields=fields)


def _compute(reply: Reply, given: Mapping[str, str]) -> ToolRequest:
    request = _of_recording(COMPUTE, given)
    if request.problem:
        return request
    code = python_block(reply)
    if isinstance(code, str):
        return replace(request, problem=code)
    if len(code.text) > MAX_CODE:
        return replace(request, problem=f"the code has {len(code.text):,} characters: send at most {MAX_CODE:,}")
    return replace(request, program=code)


def _submit(
    reply: Reply, given: Mapping[str, str], contract: Contract, parents: Sequence[Program], limit: int,
    drafts: Sequence[Program],
) -> ToolRequest | None:
    """A submission: of a draft that was tried, as it is or with the changes of a patch, if one is named.

    Otherwise it is read like a reply without tools.
    """
    if "draft" not in given:
        return None
    number = _number(given["draft"])
    if number is None:
        return ToolRequest(tool=SUBMIT, problem="the line `Draft:` holds no number, as in `Draft: 1`")
    if not _has_block(reply):
        return ToolRequest(tool=SUBMIT, whose=DRAFT, number=number)
    program, problem = _changes(reply, given["draft"], contract, parents, limit, drafts)
    if program is None:
        return ToolRequest(tool=SUBMIT, problem=f"it cannot be submitted: {problem}")
    return ToolRequest(tool=SUBMIT, whose=DRAFT, number=number, program=program)


def _of_recording(tool: str, given: Mapping[str, str]) -> ToolRequest:
    found = _RECORDING.search(given.get("recording", ""))
    if found is None:
        return ToolRequest(
            tool=tool, problem=f"name a recording, as in `Recording: {PARENT} 0` or `Recording: {DRAFT} 1`"
        )
    return ToolRequest(tool=tool, whose=found[1].lower(), number=int(found[2]))


def _place(text: str) -> int | None:
    """The number of a step; below 0 from the end."""
    sign = -1 if text.strip(" *_`").startswith(("-", "\N{MINUS SIGN}")) else 1
    number = _number(text.strip(" *_`").lstrip("-\N{MINUS SIGN}"))
    return None if number is None else sign * number


def _number(text: str) -> int | None:
    found = re.search(r"\d{1,9}", text)
    return None if found is None or text.lstrip().startswith("-") else min(int(found[0]), MAX_NUMBER)
