"""Each kind of bad reply is distinguished; no reply raises an exception."""

import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.agents import judging, writing
from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.fences import split
from memento.agents.judging import JudgePanel
from memento.agents.reply import MAX_REPLY, TOO_LONG, read_program, summary_line, within_limit
from memento.core.events import ProposalFailed
from memento.core.faults import FaultKind
from memento.core.ports import Reply
from memento.core.programs.program_text import MAX_FAULT, MAX_SUMMARY, digest
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

pytestmark = pytest.mark.quick

BARE = "class CartPolicy:\n    def reset(self): pass\n    def compute_action(self, obs): return [0.0]\n"

USING = BARE.replace("[0.0]", "[GAIN * scaled(0.0)]")

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
    "another language": (reply(block("+gain = 1\n-gain = 2\n", language="diff")), FaultKind.NO_PROGRAM),
    "two programs without a fence": (reply(f"{BARE}\nor\n\n{BARE}x = 1\n"), FaultKind.NO_PROGRAM),
    "two programs under other labels": (
        reply(block(language="a") + block(BARE + "x = 1\n", "b")), FaultKind.NO_PROGRAM,
    ),
    "two helpers of one name": (
        reply(block(USING) + block("GAIN = 1\n") + block("GAIN = 2\n") + block(BARE)), FaultKind.MANY_PROGRAMS,
    ),
    "cut off below a docstring": (
        reply("```python\n" + BARE + '    def more(self):\n        """\n```\n'), FaultKind.NOT_PYTHON,
    ),
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


def lines(text: str, lead: str) -> str:
    return "".join(f"{lead}{line}\n" for line in text.splitlines())


DOCUMENTED = BARE.replace("Policy:\n", 'Policy:\n    """As in\n\n    ```\n    act()\n    ```\n    """\n')
FORMS = {   # in which a model may give one right program
    "python": block(),
    "py": block(language="py"),
    "python3": block(language="python3"),
    "a capital": block(language="Python"),
    "capitals and words after the language": block(language="Python title=policy.py"),
    "the name of a file after the language": block(language="python:policy.py"),
    "a path after the language": block(language="python:src/policy.py"),
    "a version": block(language="python3.11"),
    "a version after a blank": block(language="Python 3.11"),
    "py3": block(language="py3"),
    "the name of a file": block(language="policy.py"),
    "a path": block(language="src/my_policy.py"),
    "a path with lines": block(language="policy.py:1-3"),
    "a name after a sign": block(language="python=policy.py"),
    "a name after a bar": block(language="python|policy.py"),
    "ipython": block(language="ipython"),
    "ipython3": block(language="ipython3"),
    "an attribute of Pandoc": block(language="{.python}"),
    "attributes of Pandoc": block(language="{.python .numberLines}"),
    "a notebook's cell": block(language="{python}"),
    "a class of HTML": block(language="language-python"),
    "no language": block(language=""),
    "text": block(language="text"),
    "plaintext": block(language="plaintext"),
    "code": block(language="code"),
    "another language": block(language="javascript"),
    "a blank before the language": block(language=" python"),
    "tildes": block(fence="~~~"),
    "a longer fence": block(fence="`````"),
    "apostrophes": block(fence="'''"),
    "carriage returns": block().replace("\n", "\r\n"),
    "no line break at the end": block().rstrip(),
    "the end on a line of code": f"```python\n{BARE.rstrip()}```\n",
    "code on the first line": f"```python import math\n{BARE}```\n",
    "a byte order mark": f"\ufeff{block()}",
    "indented as in a list": "1. here\n" + lines(block(), "   "),
    "indented by four": "- here\n\n" + lines(block(), "    "),
    "indented by a tab": "- here\n\n" + lines(block(), "\t"),
    "in an item of a list": "- " + lines(block(), "  ").lstrip(),
    "in a quote": lines(block(), "> "),
    "indented inside of the fence": f"```python\n{lines(BARE, '    ')}```\n",
    "blanks that do not break": block(BARE.replace("    ", "\u00a0\u00a0\u00a0\u00a0")),
    "blocks in other languages": "```text\nplan\n```\n" + block() + "```json\n{}\n```\n",
    "a sketch before the program": block("state = 'grasp'  # a sketch\n") + block(),
    "an example after the program": block() + "Use it so:\n" + block("policy = CartPolicy()\npolicy.reset()\n"),
    "the same program twice": block() + "once more:\n" + block(),
    "the same program with a comment": block("# a comment\n" + BARE) + "once more:\n" + block(),
    "after a draft that was thought": f"<think>\n{block(BARE + 'x = 1')}</think>\n{block()}",
    "in a block of Markdown": f"````markdown\n# Policy\n{block()}````\n",
    "as lines that are added": f"```diff\n{lines(BARE, '+')}```\n",
    "no fence": f"Summary: a change\n\n{BARE}",
    "in tags": f"<code>\n{BARE}</code>\n",
    "without its end, in tags": f"<program>\n{BARE}",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_one_right_program_is_read_in_every_form(text: str) -> None:
    reading = read_program(reply(text), CONTRACT)
    assert reading.fault is None and reading.program is not None
    assert digest(reading.program) == digest(Program(BARE))


def test_a_fence_inside_of_a_docstring_is_no_end() -> None:
    reading = read_program(reply(block(DOCUMENTED) + "Good luck.\n"), CONTRACT)
    assert reading.program == Program(DOCUMENTED)


HELPER = "import math\n\nGAIN = 2\n\ndef scaled(x):\n    return math.sqrt(x)\n"


@pytest.mark.parametrize("text", [
    block(HELPER) + "and\n" + block(USING), block(USING) + "and\n" + block(HELPER),
    block("GAIN = 2\n") + block("import math\n") + block("def scaled(x):\n    return math.sqrt(x)\n") + block(USING),
])
def test_blocks_that_belong_together_are_one_program(text: str) -> None:
    reading = read_program(reply(text), CONTRACT)
    assert reading.fault is None and reading.program is not None
    names: dict[str, Any] = {}
    exec(reading.program.text, names)
    assert names["CartPolicy"]().compute_action(None) == [0.0]


def test_a_base_in_a_block_of_its_own_belongs_to_the_class() -> None:
    base = "class Base:\n    def reset(self): pass\n"
    own = "class CartPolicy(Base):\n    def compute_action(self, obs): return [0.0]\n"
    assert read_program(reply(block(base) + block(own)), CONTRACT).fault is None


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
