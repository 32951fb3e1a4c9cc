"""The tools of a conversation as a service's own tools, and a service's call of one in the plain form of a reply. Pure.

Conversations know one form of a call only, lines and a code block (`agents/tool_requests.py`). A call in a service's
form is written in it as soon as it arrives, so everything behind the client, the log and the replay among it, is the
same for all services.

Imports pydantic-ai, which takes seconds: only `connection.py` imports this.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import INVALID_JSON_KEY

from ..core.text import fenced_text, one_line
from ..core.turns import COMPUTE, LOOK, SUBMIT, TRY

MAX_ARGUMENT = 1000  # characters of an argument that is no code
MAX_NAME = 60
MAX_UNREAD = 2000  # characters of arguments that are no JSON object

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 0}
_STEP = {"type": "integer", "description": "a step; below 0 from the end: -30 is 30 steps before the last row"}
_RECORDING = {**_TEXT, "description": "whose recording and which, such as `parent 0` or `draft 1`"}
_LINES = ("episode", "recording", "from", "to", "fields", "draft", "note", "summary")
_CODE = ("program", "code")
_PYTHON_FENCE = re.compile(r"^( {0,3}(?:`{3,}|~{3,}))[ \t]*(?:python3?|py)\b", re.IGNORECASE | re.MULTILINE)
_WRAPPED = re.compile(r"\s*(`{3,}|~{3,})[^\n`]*\n(.*)\n[ \t]*\1\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTool:
    """One tool as it is described to services: its name, what it does, and the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


def _tool(name: str, description: str, required: Sequence[str], **arguments: Mapping[str, Any]) -> ServiceTool:
    named = {argument.strip("_"): schema for argument, schema in arguments.items()}
    schema = {"type": "object", "properties": named, "required": list(required), "additionalProperties": False}
    return ServiceTool(name=name, description=description, schema=schema)


_DRAFT = {**_TEXT, "description": "the whole program or the patch, in the form of the prompt, without a fence"}
TOOLS = (
    _tool(
        TRY, "Roll a draft out in one practice episode.", [], program=_DRAFT, episode=_NUMBER,
        draft={**_TEXT, "description": "`parent` or the number of a draft: tried again, or changed by a patch"},
    ),
    _tool(
        LOOK, "Show rows of a recording; without `fields`, list its arrays.", ["recording"], recording=_RECORDING,
        from_=_STEP, to=_STEP, fields={**_TEXT, "description": "names of arrays, such as `name, other[2]`"},
    ),
    _tool(
        COMPUTE, "Run a few lines of Python with numpy over a recording, and answer with what they print.",
        ["recording", "code"], recording=_RECORDING, code=_TEXT,
    ),
    _tool(
        SUBMIT, "Submit a program, or a draft that was tried. It ends the conversation.", ["summary"], program=_DRAFT,
        draft={**_NUMBER, "description": "the number of a draft that was tried; `program` may be a patch of it"},
        summary={**_TEXT, "description": "the summary line of the prompt"},
        note={**_TEXT, "description": "the note of the prompt, if it asks for one"},
    ),
)


def plain_form(said: str, calls: Sequence[tuple[str, str]]) -> str:
    """What a model said, and then its calls, each a name and its arguments as JSON text, in the form of the prompt.

    A Python block in what it said loses its language, so that the call's code is the only program of the reply.
    """
    if not calls:
        return said
    return "\n\n".join(filter(None, (_PYTHON_FENCE.sub(r"\1text", said).rstrip(), *(_call(*call) for call in calls))))


def _call(name: str, arguments: str) -> str:
    lines = [f"Tool: {one_line(name, MAX_NAME)}"]
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict) and given.keys() == {INVALID_JSON_KEY}:
        arguments = str(given[INVALID_JSON_KEY])    # how the client library passes on what is no JSON
        given = None
    if not isinstance(given, dict):
        unread = fenced_text(arguments[:MAX_UNREAD])
        return "\n".join([*lines, "(The arguments of this call are no JSON object.)", "", unread])
    lines += [f"{key.capitalize()}: {_words(given[key])}" for key in _LINES if given.get(key) is not None]
    others = [one_line(str(key), MAX_NAME) for key in given if key not in (*_LINES, *_CODE)]
    if others:
        lines.append(f"(This tool has no argument {', '.join(others[:8])}.)")
    code = next((given[key] for key in _CODE if given.get(key) is not None), None)
    return "\n".join(lines if code is None else [*lines, "", fenced_text(_without_fence(str(code)), "python")])


def _words(value: object) -> str:
    return one_line(", ".join(map(str, value)) if isinstance(value, list) else str(value), MAX_ARGUMENT)


def _without_fence(code: str) -> str:
    """The code itself, where a model put it into a fence."""
    found = _WRAPPED.fullmatch(code)
    return found[2] if found else code
