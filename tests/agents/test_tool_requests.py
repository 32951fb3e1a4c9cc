"""Calls of tools in replies: what is read from them, and why some cannot be carried out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.tool_requests import MAX_CODE, read_request
from memento.core.ports import Form, Reply
from memento.core.programs.program_text import MAX_PROGRAM
from memento.core.turns import COMPUTE, LOOK, SUBMIT, TRY, ToolRequest
from memento.core.values import Program

from ..support.prompt_samples import CONTRACT, POLICY

PATCH = "```python\n# patch\nclass CartPolicy:\n    GAIN = 1.2\n```\n"
WHOLE = f"```python\n{POLICY.text}```\n"


DRAFTS = (Program(POLICY.text + "FIRST = 1\n"), Program(POLICY.text + "SECOND = 2\n"))


def read(text: str, *, stop: str = "end", form: Form = "patch") -> ToolRequest | None:
    return read_request(Reply(text=text, model="m", stop=stop), CONTRACT, [POLICY], MAX_PROGRAM, form, DRAFTS)


def test_a_draft_is_a_whole_program_or_a_patch_of_the_parent() -> None:
    whole = read(f"I try it.\n\n**Tool:** `try_program`\nEpisode: 2\n\n{WHOLE}", form="whole")
    assert whole == ToolRequest(tool=TRY, program=POLICY, number=2)
    patched = read(f"Tool: try_program\n\n{PATCH}")
    assert patched is not None and patched.program is not None and patched.problem == ""
    assert "GAIN = 1.2" in patched.program.text and "self.steps += 1" in patched.program.text
    assert patched.number == 0


def test_the_parent_or_an_earlier_draft_is_rolled_out_again_by_name() -> None:
    assert read("Tool: try_program\nEpisode: 1\nDraft: parent") == ToolRequest(tool=TRY, program=POLICY, number=1)
    assert read("Tool: try_program\nEpisode: 1\nDraft: 2") == ToolRequest(tool=TRY, draft=2, number=1)


@pytest.mark.parametrize("form", ["patch", "whole"])
def test_a_patch_changes_an_earlier_draft_whatever_the_form_of_a_submission_is(form: Form) -> None:
    tried = read(f"Tool: try_program\nEpisode: 1\nDraft: 2\n\n{PATCH}", form=form)
    submitted = read(f"Tool: submit\nDraft: 2\nSummary: more gain\n\n{PATCH}", form=form)
    for request in (tried, submitted):
        assert request is not None and request.program is not None and request.problem == ""
        assert "GAIN = 1.2" in request.program.text and "SECOND = 2" in request.program.text
    parent = read(f"Tool: try_program\nDraft: parent\n\n{PATCH}", form=form)
    assert parent is not None and parent.program is not None
    assert "GAIN = 1.2" in parent.program.text and "SECOND" not in parent.program.text


def test_rows_and_code_name_a_recording() -> None:
    assert read("Tool: look_closer\nRecording: parent 3\nFrom: 10\nTo: 40\nFields: x, cube_pos[0,2]") == ToolRequest(
        tool=LOOK, whose="parent", number=3, first=10, last=40, fields=("x", "cube_pos[0,2]")
    )
    code = read("Tool: compute\nRecording: Draft 1\n```python\nprint(1)\n```\n")
    assert code is not None and code.program is not None
    assert (code.tool, code.whose, code.number, code.program.text) == (COMPUTE, "draft", 1, "print(1)\n")


def test_a_reply_without_a_call_is_a_submission_and_a_draft_can_be_named() -> None:
    assert read(f"Summary: gain up\n\n{WHOLE}") is None
    assert read(f"Tool: submit\nSummary: gain up\n\n{WHOLE}") is None
    assert read("Tool: submit\nDraft: 2\nSummary: the second") == ToolRequest(tool=SUBMIT, whose="draft", number=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tool: fly\n", "unknown tool 'fly'"),
        ("Tool: try_programs\n", "did you mean 'try_program'?"),
        ("Tool: compute\nRecording: parent 0\nTool: try_program\n", "more than one tool"),
        ("Tool: try_program\nEpisode: first\n" + WHOLE, "`Episode:` holds no number"),
        ("Tool: try_program\nEpisode: -1\n" + WHOLE, "`Episode:` holds no number"),
        ("Tool: try_program\nNo code.", "no Python block"),
        (f"Tool: try_program\nDraft: 3\n\n{PATCH}", "there is no draft 3 to change"),
        (f"Tool: submit\nDraft: 3\nSummary: s\n\n{PATCH}", "there is no draft 3 to change"),
        ("Tool: try_program\nDraft: 0", "`Draft:` names a draft that was tried"),
        ("Tool: try_program\nDraft: best", "`Draft:` names a draft that was tried"),
        ("Tool: try_program\n```python\nclass CartPolicy(:\n```\n", "cannot be tried: "),
        ("Tool: look_closer\n", "name a recording"),
        ("Tool: look_closer\nRecording: final 0\n", "name a recording"),
        ("Tool: look_closer\nRecording: parent 0\nFrom: 9\nTo: 3", "numbers of steps"),
        ("Tool: look_closer\nRecording: parent 0\nFields: " + ", ".join("abcdefghij"), "10 fields are too many"),
        ("Tool: compute\nRecording: parent 0\n", "no Python block"),
        ("Tool: compute\nRecording: parent 0\n```python\na\n```\n```python\nb\n```\n", "2 Python blocks"),
        (f"Tool: compute\nRecording: parent 0\n```python\n{'#' * MAX_CODE}\n```\n", "send at most 8,000"),
        ("Tool: submit\nDraft: the best\n", "`Draft:` holds no number"),
    ],
)
def test_what_is_wrong_with_a_call_is_told(text: str, words: str) -> None:
    request = read(text)
    assert request is not None and words in request.problem


@pytest.mark.parametrize(("stop", "words"), [("length", "cut off"), ("refusal", "refused"), ("too-long", "more than")])
def test_a_reply_that_was_stopped_asks_for_nothing(stop: str, words: str) -> None:
    request = read(f"Tool: try_program\n{WHOLE}", stop=stop)
    assert request is not None and words in request.problem and request.program is None


LINES = st.sampled_from([
    "Tool: try_program", "Tool: look_closer", "tool : COMPUTE", "Tool: submit", "Episode: 99999999999", "Draft: 0",
    "Recording: parent 999999", "From: x", "To: 5", "Fields: [[,,]] a[0", "```python", "```", "print(1)", "# patch",
    "Summary: s", "\ud800", "Tool:", "```python\nclass CartPolicy: pass\n```",
])


@given(st.lists(LINES | st.text(max_size=30), max_size=12))
def test_no_reply_breaks_the_reader(lines: list[str]) -> None:
    request = read("\n".join(lines))
    assert request is None or request.problem or request.tool in (TRY, LOOK, COMPUTE, SUBMIT)
