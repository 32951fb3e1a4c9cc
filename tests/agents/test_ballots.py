"""Ballots: no definition is lost, shared ones are shown once, and the values of all evaluators stand side by side."""

import random
import re
from textwrap import indent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.ballots import ballot
from memento.agents.judging import labelling
from memento.agents.side_by_side import Own, Shared, side_by_side
from memento.core.events import Judge, ProposeEvaluator
from memento.core.labels import label
from memento.core.programs.program_text import bare
from memento.core.values import EvaluatorCandidate, Program
from memento.domains.hanoi_kinematic import DOMAIN
from memento.models.offline.evaluators import write_evaluator

from ..support.prompt_samples import judge_order

pytestmark = pytest.mark.quick

LONG = "\n".join(f"    y{number} = x + {number}" for number in range(40)) + "\n    return y7"
bodies = st.sampled_from([f"    return x + {number}" for number in range(3)] + [LONG, LONG.replace("x + 7", "x")])
functions = st.dictionaries(st.sampled_from("abcde"), bodies, max_size=5)
programs = st.lists(st.tuples(functions, functions), min_size=1, max_size=4)


def text_of(top: dict[str, str], members: dict[str, str]) -> str:
    """A program with these functions, and a class with these methods."""
    lines = [f"def {name}(x):\n{body}" for name, body in top.items()]
    lines += ["class Evaluator:", "    size = 1"]
    lines += [f"    def {name}(self, x):\n{indent(body, '    ')}" for name, body in members.items()]
    return "\n".join(lines)


def visible(place: str, shared: tuple[Shared, ...], own: dict[str, Own]) -> str:
    """All that a judge reads of this program: shared and own definitions, and changed ones of another."""
    texts = [section.text for section in shared if place in section.labels] + [own[place].text]
    for name, other, change in own[place].differences:
        assert f"def {name}(" in own[other].text
        texts += [own[other].text, re.sub(r"(?m)^[+ ]", "", change)]
    return "\n".join(texts)


@given(programs)
def test_every_definition_of_every_program_is_shown(drawn: list[tuple[dict[str, str], dict[str, str]]]) -> None:
    texts = {label(place): text_of(*each) for place, each in enumerate(drawn)}
    shared, own = side_by_side(texts)
    for name, (top, members) in zip(texts, drawn, strict=True):
        seen = visible(name, shared, own)
        for body in [*top.values(), *members.values()]:
            assert all(line.strip() in seen for line in body.splitlines())


def test_a_definition_that_differs_a_little_is_shown_as_its_changes() -> None:
    _, own = side_by_side({"A": text_of({"a": LONG}, {}), "B": text_of({"a": LONG.replace("x + 7", "x")}, {})})
    ((name, other, change),) = own["B"].differences
    assert (name, other) == ("a", "A")
    assert [line for line in change.splitlines() if line[0] in "+-"] == ["-    y7 = x + 7", "+    y7 = x"]
    assert "def a" in own["A"].text and "def a" not in own["B"].text


def test_what_depends_on_its_place_stays_in_the_program() -> None:
    """A name that is defined twice, and statements that define nothing."""
    body = "def a(x):\n" + LONG + "\nif True:\n    a = None\ndef a(x):\n    return 0"
    shared, own = side_by_side({"A": body, "B": body})
    assert shared == ()
    assert own["A"].text == own["B"].text
    assert own["A"].text.index("if True") < own["A"].text.rindex("def a")
    assert own["B"].differences == ()


def test_a_program_that_does_not_parse_is_shown_whole() -> None:
    shared, own = side_by_side({"A": "def (", "B": "x = 1"})
    assert (shared, own["A"].text, own["B"].text) == ((), "def (", "x = 1")


def test_a_ballot_of_three_revisions_is_less_than_half_as_long_as_their_programs() -> None:
    reference, shelf = DOMAIN.reference_evaluator(), DOMAIN.shelf()
    parent = EvaluatorCandidate(id="eval/g0/0", generation=0, slot=0, program=reference)
    pool = []
    for slot in range(3):
        order = ProposeEvaluator(
            id=f"eval/g1/{slot}", generation=1, slot=slot, parent=parent, episodes=(), success_rate=0.0
        )
        text, summary = write_evaluator(order, shelf.evaluators, random.Random(slot))
        pool.append(EvaluatorCandidate(
            id=order.id, generation=1, slot=slot, program=Program(text), summary=summary
        ))
    order = Judge(id="eval/g1/judge/0", generation=1, seat=0, pool=tuple(pool), success_rate=0.0)
    seen = labelling(order, 3)
    text = ballot(order, dict(zip(seen.labels, seen.entries, strict=True)))
    assert len(text) < 0.5 * sum(len(bare(entry.program)) for entry in pool)
    assert text.count("class Evaluator") == 1


def test_values_stand_side_by_side_in_the_seats_own_order() -> None:
    order = judge_order(1, 3)
    seen = labelling(order, 7)
    text = ballot(order, dict(zip(seen.labels, seen.entries, strict=True)))
    row = next(line for line in text.splitlines() if line.startswith("probe: idle"))
    assert row.split()[-3:] == [f"{entry.examination.probe_scores[1].fitness:.4f}" for entry in seen.entries]
    counts = next(line for line in text.splitlines() if line.startswith("violated of"))
    assert counts.split()[-3:] == [str(entry.examination.order_violations) for entry in seen.entries]
    assert all(f"{name}: {entry.summary}" in text for name, entry in zip(seen.labels, seen.entries, strict=True))
