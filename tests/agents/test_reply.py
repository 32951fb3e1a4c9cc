"""Each kind of bad reply is distinguished; no reply raises an exception."""

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.agents import judging, writing
from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.judging import JudgePanel
from memento.agents.reply import MAX_REPLY, TOO_LONG, read_program, split, summary_line, within_limit
from memento.core.events import ProposalFailed
from memento.core.faults import FaultKind
from memento.core.ports import Reply
from memento.core.programs.program_text import MAX_FAULT, MAX_SUMMARY
from memento.core.values import Program
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import (
    BRIEF,
    CONTRACT,
    EVALUATOR_CONTRACT,
    POLICY,
    Scripted,
    judge_order,
    propose_evaluator,
)

BARE = "class CartPolicy:\n    def reset(self): pass\n    def compute_action(self, obs): return [0.0]\n"


def reply(text: str, stop: str = "end") -> Reply:
    return Reply(text=text, model="m", stop=stop)


def block(text: str = BARE, language: str = "python", fence: str = "```") -> str:
    return f"{fence}{language}\n{text}{fence}\n"


def test_a_good_reply() -> None:
    reading = read_program(reply(f"Thinking.\n\nSummary: gain up\n\n{block()}"), CONTRACT)
    assert reading.fault is None
    assert reading.program is not None
    assert reading.program.text == BARE
    assert reading.summary == "gain up"


def test_the_summary_line_counts_before_a_history_in_the_program() -> None:
    assert read_program(reply(f"Summary: gain up\n{block(POLICY.text)}"), CONTRACT).summary == "gain up"
    assert read_program(reply(block(POLICY.text)), CONTRACT).summary == "gain 0.5 -> 0.8"


BAD = {
    "empty": (reply(""), FaultKind.EMPTY),
    "blank": (reply(" \n\t\n"), FaultKind.EMPTY),
    "refused": (reply("I cannot help with that.", "refusal"), FaultKind.REFUSED),
    "refused with a program": (reply(block(), "refusal"), FaultKind.REFUSED),
    "truncated": (reply("Summary: x\n```python\nclass Cart", "length"), FaultKind.TRUNCATED),
    "truncated after the program": (reply(block(), "length"), FaultKind.TRUNCATED),
    "block left open": (reply(f"```python\n{BARE}"), FaultKind.TRUNCATED),
    "broken off": (reply(block(), "error"), FaultKind.MODEL_FAILED),
    "prose only": (reply("I would raise the gain."), FaultKind.NO_PROGRAM),
    "program without a fence": (reply(BARE), FaultKind.NO_PROGRAM),
    "another language": (reply(block(language="diff")), FaultKind.NO_PROGRAM),
    "two programs": (reply(block() + "or\n" + block(BARE + "x = 1\n")), FaultKind.MANY_PROGRAMS),
    "two blocks, no program": (reply(block("x = 1\n") + block("y = 2\n")), FaultKind.MANY_PROGRAMS),
    "two blocks without a language": (
        reply(block(language="") + block(BARE + "x = 1\n", language="")), FaultKind.MANY_PROGRAMS,
    ),
    "not Python": (reply(block("class CartPolicy\n    pass\n")), FaultKind.NOT_PYTHON),
    "placeholder": (reply(block("class CartPolicy:\n    # rest unchanged\n")), FaultKind.NOT_PYTHON),
    "null byte": (reply(block(BARE + "\x00\n")), FaultKind.NOT_PYTHON),
    "empty program": (reply("```python\n```"), FaultKind.BROKEN_CONTRACT),
    "no class": (reply(block("x = 1\n")), FaultKind.BROKEN_CONTRACT),
    "nested too deeply": (reply(block(f"{BARE}x = {'{0: ' * 100}1{'}' * 100}\n")), FaultKind.NOT_PYTHON),
    "longer than is kept": (within_limit(reply(block(BARE + "# text\n" * 200_000))), FaultKind.TRUNCATED),
    "too long": (reply(block(BARE + "#" * 100_000 + "\n")), FaultKind.BROKEN_CONTRACT),
}


if sys.version_info < (3, 12):  # which prints these
    BAD["cannot be printed back"] = (reply(block(BARE + "x = f\"{'5\xa0mm'}\"\n")), FaultKind.NOT_PYTHON)
    BAD["decorator that cannot be printed back"] = (
        reply(block("class CartPolicy:\n    @keep(f\"{'5\xa0mm'}\")\n    def reset(self): pass\n")),
        FaultKind.NOT_PYTHON,
    )


@pytest.mark.parametrize(("bad", "kind"), BAD.values(), ids=BAD.keys())
def test_bad_replies_are_told_apart(bad: Reply, kind: FaultKind) -> None:
    reading = read_program(bad, CONTRACT)
    assert reading.fault is not None
    assert reading.fault.kind is kind
    assert reading.fault.message


GOOD = {
    "a sketch before the program": block("state = 'grasp'  # a sketch\n") + block(),
    "the same program twice": block() + "once more:\n" + block(),
    "blocks in other languages": "```text\nplan\n```\n" + block() + "```json\n{}\n```\n",
    "one block without a language": block(language=""),
    "py": block(language="py"),
    "capitals and words after the language": block(language="Python title=policy.py"),
    "tildes": block(fence="~~~"),
    "carriage returns": block().replace("\n", "\r\n"),
    "indented as in a list": "1. here\n" + "".join(f"   {line}\n" for line in block().splitlines()),
    "no line break at the end": block().rstrip(),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_good_replies_in_other_dress(text: str) -> None:
    reading = read_program(reply(text), CONTRACT)
    assert reading.fault is None
    assert reading.program is not None
    assert reading.program.text == BARE


def test_a_longer_fence_holds_shorter_ones() -> None:
    program = BARE + 'NOTE = """\n```\n"""\n'
    reading = read_program(reply(block(program, fence="````")), CONTRACT)
    assert reading.program is not None
    assert reading.program.text == program


@pytest.mark.parametrize(
    "line", ["Summary: x = 1", "**Summary:** x = 1", "## summary : x = 1", "> - *SUMMARY*: `x = 1`"]
)
def test_summary_lines(line: str) -> None:
    assert summary_line(["In summary, nothing.", line, "Summary: second"]) == "x = 1"


def test_a_summary_inside_of_the_program_is_none() -> None:
    text = block("# Summary: pretended\n" + BARE)
    assert read_program(reply(text), CONTRACT).summary == "first program"


def test_a_failed_reply_keeps_its_summary() -> None:
    text = "Summary: brake earlier\n" + block("class CartPolicy: pass\n")
    reading = read_program(reply(text), CONTRACT)
    assert reading.fault is not None
    assert reading.summary == "brake earlier"


pieces = st.sampled_from(
    ["```", "````", "~~~", "python", "\n", " ", "Summary:", "class CartPolicy:", "\r", "x = 1", "\x00", "\ud800", "`"]
)
texts = st.text() | st.lists(pieces, max_size=60).map("".join)


@given(texts, st.sampled_from(["end", "length", "refusal", "error", "whatever"]))
@settings(deadline=None)
def test_no_reply_raises(text: str, stop: str) -> None:
    reading = read_program(reply(text, stop), CONTRACT)
    assert (reading.fault is None) <= (reading.program is not None and stop == "end")
    assert len(reading.summary) <= MAX_SUMMARY
    if reading.fault is not None:
        assert len(reading.fault.message) <= MAX_FAULT
        assert reading.fault.message.isprintable()


@given(texts)
def test_no_line_is_lost_in_splitting(text: str) -> None:
    blocks, prose = split(text)
    lines = text.replace("\r\n", "\n").split("\n")
    fences = 2 * len(blocks) - sum(not found.closed for found in blocks)
    assert len(prose) + fences + sum(found.text.count("\n") for found in blocks) == len(lines)


@pytest.mark.parametrize(
    "text", ["```" + "a" * 500_000 + "`", "`" * 500_000, "```python\n" * 100_000, "Summary:" * 100_000, " " * 500_000]
)
def test_long_replies_take_no_longer_than_their_length(text: str) -> None:
    """A pattern that backtracks from every position would exceed the test's time limit."""
    assert read_program(reply(text), CONTRACT).fault is not None


def test_a_reply_that_is_too_long_is_kept_to_the_limit() -> None:
    assert within_limit(reply("x" * MAX_REPLY)) == reply("x" * MAX_REPLY)
    long = within_limit(reply("x" * (MAX_REPLY + 1)))
    assert long == reply("x" * MAX_REPLY, TOO_LONG)
    first = read_program(long, CONTRACT)
    assert first.fault is not None
    assert first.fault.message == "the reply has more than 1,000,000 characters"
    assert read_program(within_limit(long), CONTRACT) == first, "a replay reads it again"


@pytest.mark.parametrize(
    "line",
    ["```" + " " * 300_000 + "`", "~" * 300_000 + "`", "```" + "\t\x0b" * 150_000 + "`", "`" * 300_000 + " `",
     "```python" + " " * 300_000 + "`", " " * 300_000 + "summary", "summary" + "*" * 300_000, "    `" * 60_000],
    ids=lambda line: repr(line[:12]),
)  # fmt: skip
def test_reading_takes_linear_time(line: str) -> None:
    began_s = time.process_time()
    split(f"{line}\n{block()}{line}\n```\n{line}\n```\n")
    summary_line([line])
    assert time.process_time() - began_s < 3


@pytest.mark.slow
async def test_a_defect_in_reading_spends_the_slot_and_keeps_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(writing, "read_program", broken)
    monkeypatch.setattr(judging, "read_verdict", broken)
    model, prompts = Scripted(lambda ask: "the reply"), PromptFolder()
    evolver = EvaluatorEvolver(model=model, prompts=prompts, brief=BRIEF, contract=EVALUATOR_CONTRACT)
    failed = await evolver.carry_out(propose_evaluator(None))
    assert isinstance(failed, ProposalFailed)
    assert (failed.fault.kind, failed.call.reply.text) == (FaultKind.NOT_PYTHON, "the reply")
    assert failed.fault.message == "the reply cannot be read: RecursionError: too deep"
    vote = await JudgePanel(models=[model], prompts=prompts, brief=BRIEF, run_seed=7).carry_out(judge_order())
    assert (vote.choice, vote.reason) == (None, "abstained: it cannot be read: RecursionError")
    assert [call.reply.text for call in (*vote.earlier, vote.call)] == ["the reply"] * 2


ONE = Program("class CartPolicy:\n    GAIN = 1\n\n    def reset(self):\n        pass\n\n"
              "    def compute_action(self, obs):\n        return [self.GAIN]\n")
TWO = Program(ONE.text.replace("GAIN = 1", "GAIN = 2\n    BIAS = 3"))


@pytest.mark.parametrize(("code", "merged"), [
    (f"# whole program\n{TWO.text}", TWO.text),
    (TWO.text, TWO.text),
    ("# patch\nclass CartPolicy:\n    GAIN = 9\n", ONE.text.replace("GAIN = 1", "GAIN = 9")),
    ("# patch of A\nclass CartPolicy:\n    GAIN = 9\n", ONE.text.replace("GAIN = 1", "GAIN = 9")),
    ("# Patch of parent B.\nclass CartPolicy:\n    GAIN = 9\n", TWO.text.replace("GAIN = 2", "GAIN = 9")),
])
def test_a_revision_is_a_whole_program_or_a_patch_of_the_parent_that_it_names(code: str, merged: str) -> None:
    said = reply(f"Summary: GAIN\n```python\n{code}```\n")
    reading = read_program(said, CONTRACT, [ONE, TWO], form="either")
    assert reading.fault is None and reading.program == Program(merged)
    only = read_program(said, CONTRACT, [ONE], form="either")
    assert only.fault is None, "with one parent its letter does not matter"
