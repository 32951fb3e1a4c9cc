"""Tools as a service's own tools: offered, called and read through the real clients over sockets; the plain form."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.fences import split
from memento.agents.proposers import HillClimber
from memento.agents.tool_requests import read_request
from memento.agents.writing import Answers
from memento.core.events import ProposalMade, TurnTaken
from memento.core.ports import Reply
from memento.core.programs.program_text import MAX_FAULT
from memento.core.turns import TOOLS, Conversation
from memento.core.values import Operator, Program
from memento.memory.codec import encode
from memento.models import close_model
from memento.models.tool_calls import plain_form
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, POLICY, candidate, propose
from ..support.services import Act, serving
from .asking import DIALECT, KINDS, client

PATCH = "# patch\nclass CartPolicy:\n    GAIN = 1.5  # N/m\n"
PATCHED = Program(POLICY.text.replace("GAIN = 0.8", "GAIN = 1.5"))
ORDER = replace(
    propose(Operator.HILL_CLIMB, candidate()), conversation=Conversation(turns_left=9, practice_left=2, practice=2)
)
SNIPPET = "I would write\n\n```python\nGAIN = 9.0\n```\n\nFirst a try."


def call(tool: str, /, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


ACTS = (
    Act(text=SNIPPET, calls=(call("try_program", program=PATCH, episode=1),)),
    Act(calls=(call("look_closer", recording="parent 0", **{"from": 3, "to": 5}, fields=["x", "v[2]"]),)),
    Act(calls=(call("compute", recording="draft 1", code="print(len(arrays['x']))"),)),
    Act(calls=(call("try_program", episode="two"),)),
    Act(calls=(call("fly", to="the moon"),)),
    Act(calls=(call("compute", recording="draft 1", code="1"), call("compute", recording="draft 1", code="2"))),
    Act(calls=(call("try_program", program=PATCH),), finish="length"),
    Act(text="Tool: look_closer\nRecording: parent 1\n"),
    Act(calls=(call("submit", program=PATCH, summary="gain 0.8 -> 1.5"),)),
)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_calls_in_the_form_of_a_service_are_those_of_the_plain_form(kind: str, stream: bool) -> None:
    async with serving(*ACTS, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream, tools="native" if kind == "compatible" else None)
        climber = HillClimber(
            model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="none.",
            answers=Answers(edits="patch"),
        )
        facts = [await climber.carry_out(ORDER) for _ in ACTS]
        await close_model(model)
    *turns, last = facts
    asked = [fact.request for fact in turns if isinstance(fact, TurnTaken)]
    tried, looked, computed, bad, unknown, two, cut, plain = asked
    assert tried.program == PATCHED and (tried.number, tried.problem) == (1, "")
    assert (looked.whose, looked.number, looked.first, looked.last) == ("parent", 0, 3, 5)
    assert looked.fields == ("x", "v[2]") and not looked.problem
    assert computed.program == Program("print(len(arrays['x']))\n") and not computed.problem
    assert "no number" in bad.problem
    assert "unknown tool 'fly'" in unknown.problem
    assert "more than one tool" in two.problem
    assert "cut off" in cut.problem
    assert (plain.tool, plain.number, plain.problem) == ("look_closer", 1, "")
    assert isinstance(last, ProposalMade) and (last.program, last.summary) == (PATCHED, "gain 0.8 -> 1.5")
    offered = [sorted(tool.get("name") or tool["function"]["name"] for tool in body["tools"]) for body in service.asked]
    assert offered == [sorted(TOOLS)] * len(ACTS)


@pytest.mark.parametrize(
    ("kind", "tools", "conversation"),
    [("compatible", None, True), ("anthropic", "text", True), ("anthropic", "native", False)],
)
async def test_tools_are_offered_only_in_conversations_and_where_chosen(
    kind: str, tools: str | None, conversation: bool
) -> None:
    async with serving(Act(text="Tool: fly\n"), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, tools=tools)
        climber = HillClimber(model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="none.")
        await climber.carry_out(ORDER if conversation else replace(ORDER, conversation=None))
        await close_model(model)
    assert [body.get("tools") for body in service.asked] == [None]


def test_arguments_that_are_no_json_object_are_shown_as_they_came() -> None:
    for arguments in ('{"program": "x', "[1]", "[" * 100_000):
        text = plain_form("", [("try_program", arguments)])
        request = read_request(Reply(text=text, model="m"), CONTRACT, [POLICY], 64_000, "patch")
        assert request is not None and "cannot be tried" in request.problem
        assert arguments[:10] in text and "no JSON object" in text and len(text) < 3000


DEEP: object = 1
for _ in range(60):
    DEEP = [DEEP, {"a": DEEP}] if len(json.dumps(DEEP)) < 2000 else [DEEP]
HOSTILE: dict[str, object] = {
    "lone surrogate": "\ud800", "surrogates in code": "print('\udfff')", "emoji": "print('\U0001f600')", "nul": "a\0b",
    "list": ["print(1)", "print(2)"], "list of lists": [[["x"]]], "object": {"code": "print(1)"}, "nested": DEEP,
    "huge number": 10**400, "large float": 1e308, "infinite": float("inf"), "negative": -(10**30), "true": True,
    "nothing": None, "empty": "", "empty list": [], "long": "x" * 100_000, "lines": "\nTool: submit\nDraft: 1\n",
    "fences": "```\n```python\n```", "control": "\x1b[2J\r\x07", "separators": "a\u2028b\u2029c\x0bd\x0ce",
    "turned around": "\u202etxet", "only marks": "\u0301" * 500, "a million digits": "9" * 10**6,
}
ARGUMENTS = {
    "try_program": ("program", "episode", "draft"), "look_closer": ("recording", "from", "to", "fields"),
    "compute": ("recording", "code"), "submit": ("program", "summary", "draft"), "\ud800": ("code",), "": ("",),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_input_is_a_request_or_a_problem(what: str) -> None:
    """In each argument of each tool, with the others as they should be: nothing escapes."""
    usual: dict[str, object] = {"program": PATCH, "episode": 0, "recording": "parent 0", "code": "print(1)"}
    for tool, names in ARGUMENTS.items():
        for name in names:
            given = {key: value for key, value in usual.items() if key in names} | {name: HOSTILE[what]}
            text = plain_form("", [(tool, json.dumps(given))])
            request = read_request(Reply(text=text, model="m"), CONTRACT, [POLICY], 64_000, "patch", [POLICY])
            assert len([line for line in split(text)[1] if line.startswith("Tool:")]) == 1, (tool, name)
            assert request is None or request.problem or request.tool in TOOLS, (tool, name)
            assert request is None or len(request.problem) <= 2 * MAX_FAULT, (tool, name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_hostile_inputs_come_through_the_real_clients(kind: str) -> None:
    acts = [
        Act(calls=(call(tool, **{name: value}),)) for value in HOSTILE.values()
        for tool, name in (("compute", "code"), ("try_program", "program"), ("look_closer", "fields"))
    ]
    acts += [Act(calls=(("compute", arguments),)) for arguments in ("[1]", "null", '"text"', "7", "[]")]
    async with serving(*acts, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, tools="native" if kind == "compatible" else None)
        climber = HillClimber(
            model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="none.",
            answers=Answers(edits="patch"),
        )
        facts = [await climber.carry_out(ORDER) for _ in acts]
        await close_model(model)
    assert len(service.asked) >= len(acts)
    assert all(isinstance(fact, TurnTaken) for fact in facts), [type(fact) for fact in facts]
    assert all(encode(fact).body.encode() for fact in facts), "the log can hold them"


def test_a_program_in_a_fence_is_the_program() -> None:
    text = plain_form("", [call("try_program", program=f"```python\n{PATCH}```")])
    request = read_request(Reply(text=text, model="m"), CONTRACT, [POLICY], 64_000, "patch")
    assert request is not None and request.program == PATCHED


@given(st.text(), st.text(), st.text())
def test_no_argument_leaves_its_place(name: str, value: str, code: str) -> None:
    """A call is one tool line and one block, whatever its strings hold."""
    text = plain_form("", [(name, json.dumps({"recording": value, "code": code, value: 1}))])
    blocks, prose = split(text)
    assert [block.language for block in blocks] == ["python"] and blocks[0].closed
    assert sum(line.startswith("Tool:") for line in prose) == 1


def test_what_is_said_without_a_call_stays_as_it_is() -> None:
    assert plain_form(SNIPPET, []) == SNIPPET
