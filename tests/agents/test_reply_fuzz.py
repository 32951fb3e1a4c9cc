"""No reply raises, whatever it holds: the whole way from its text to the prompts of the next orders and to the log."""

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memento.core.programs.program_text import MAX_NESTING, child_nodes

from ..benchmarks.fuzz_replies import DOMAIN, Readers, Tally, below, read_one
from ..benchmarks.hostile_replies import NASTY, WORDS, Drawn
from ..support.hostile_texts import HOSTILE

READERS = Readers(DOMAIN)
POLICY = READERS.policies[0].text
EVALUATOR = READERS.evaluators[0].text
SHORT = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])

names = st.sampled_from(["x", "self", "é", "ﬁ", "_", "HISTORY", "Evaluator"])
odd = st.text(st.sampled_from("ab'\"{}\\\xa0\u200d\x07\ud800\n\r\x0c`"), max_size=6)
leaves = st.one_of(
    names, st.integers().map(str), st.floats().map(repr), odd.map(repr), st.complex_numbers().map(repr),
    odd.map(lambda text: f"f'{{{text}!r}}'"), odd.map(lambda text: "f\"{'" + text + "'}\""), st.sampled_from(WORDS),
)  # fmt: skip
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"),
        st.tuples(inner, inner).map(lambda pair: f"{{{pair[0]}: {pair[1]}}}"),
        st.tuples(inner, st.sampled_from(["+", "or", "if x else", "<", ":=", "**", "."]), inner).map(" ".join),
        inner.map(lambda part: f"f({part}, *{part}, k={part})"),
        inner.map(lambda part: f"lambda a={part}: ({part})"),
        inner.map(lambda part: f"f'{{{part}:>{{{part}}}}}'"),
        inner.map(lambda part: f"[y for y in {part} if {part}]"),
    ),
    max_leaves=12,
)
statements = st.one_of(
    expressions,
    expressions.map(lambda text: f"@{text}\ndef f(a: {text} = {text}): pass"),
    expressions.map(lambda text: f"class C({text}): x: {text}"),
    expressions.map(lambda text: f"match {text}:\n    case {text}: pass"),
    expressions.map(lambda text: f"try: {text}\nexcept {text} as e: raise\nfinally: {text}"),
    st.tuples(names, expressions).map(" = ".join),
)


def read(program: str, *, evaluator: bool) -> str:
    drawn = Drawn(how="test", text=f"Summary: x\n`````python\n{program}\n`````\n", stop="end")
    return below(150, READERS, drawn, evaluator=evaluator)


@pytest.mark.slow
@given(st.integers(0, 2**60))
@SHORT
def test_a_drawn_reply_is_read_without_harm(seed: int) -> None:
    tally = Tally()
    read_one(READERS, seed, tally)
    assert tally.broken == {}


@pytest.mark.slow
@given(st.lists(statements, min_size=1, max_size=3).map("\n".join), st.booleans())
@SHORT
def test_a_program_of_any_grammar_is_read_without_harm(lines: str, evaluator: bool) -> None:
    read(f"{EVALUATOR if evaluator else POLICY}\n{lines}\n", evaluator=evaluator)


@given(st.text(max_size=200) | st.lists(st.sampled_from([*NASTY, *WORDS]), max_size=60).map("".join), st.sampled_from(
    ["end", "end", "length", "refusal", "error", "\ud800"]
))
@SHORT
def test_any_text_is_a_reply(text: str, stop: str) -> None:
    below(0, READERS, Drawn(how="test", text=text, stop=stop), evaluator=False)


@pytest.mark.slow
@pytest.mark.parametrize("evaluator", [False, True], ids=["policy", "evaluator"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_programs_are_read_without_harm(text: str, evaluator: bool) -> None:
    read(f"{EVALUATOR if evaluator else POLICY}\n{text}\n", evaluator=evaluator)


NESTS = {  # what stands before the nest, each level's two sides, and what stands after it
    "dict": ("x = ", "{0: ", "}", ""),
    "list": ("x = ", "[", "]", ""),
    "or": ("x = ", "(a or ", ")", ""),
    "or and": ("x = ", "(a or (b and ", "))", ""),
    "sum": ("x = ", "1 + ", "", ""),
    "mapping pattern": ("match x:\n  case ", "{'a': ", "}", ": pass"),
    "sequence pattern": ("match x:\n  case ", "[", "]", ": pass"),
    "decorator": ("@", "f(", ")", "\ndef g(): pass"),
    "f-string": ("x = f'{", "[", "]", "}'"),
    "annotation": ("x: ", "a[", "]", ""),
}


def nest(name: str, levels: int) -> str:
    before, begin, end, after = NESTS[name]
    return f"{before}{begin * levels}1{end * levels}{after}"


def depth(text: str) -> int:
    level, levels = [ast.parse(text)], 0
    while level:
        level, levels = child_nodes(level), levels + 1
    return levels


@pytest.mark.slow
@pytest.mark.parametrize("name", NESTS)
def test_the_deepest_programs_that_are_taken_are_read_below_a_deep_stack(name: str) -> None:
    """At the limit of nesting, with Python's own limit of recursion and 350 frames of a run above."""
    deepest = max(levels for levels in range(1, MAX_NESTING) if depth(nest(name, levels)) <= MAX_NESTING)
    for evaluator in (False, True):
        real = EVALUATOR if evaluator else POLICY
        drawn = Drawn(how="test", text=f"```python\n{real}\n{nest(name, deepest)}\n```\n", stop="end")
        assert below(350, READERS, drawn, evaluator=evaluator) == "program"
        assert read(f"{real}\n{nest(name, deepest + 1)}\n", evaluator=evaluator) == "not-python"
