"""Tools as a service's own tools: offered, called and read through the real clients over sockets; the plain form."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.proposers import HillClimber
from memento.agents.reply import split
from memento.agents.tool_requests import read_request
from memento.agents.writing import Answers
from memento.core.events import ProposalMade, TurnTaken
from memento.core.ports import Reply
from memento.core.turns import TOOLS, Conversation
from memento.core.values import Operator, Program
from memento.models import close_model
from memento.models.connection import plain_form
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
