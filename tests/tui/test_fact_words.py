"""Any fact in one line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import CandidateScored, Fact, GateDecided, HintGiven, IslandsChanged, Migrated
from memento.core.values import CandidateState, Operator, Program
from memento.memory.run_view import RunView, view_of_facts
from memento.tui.fact_words import fact_words
from memento.tui.lines import lines_of
from memento.tui.snapshot import BranchSlots
from memento.tui.words import lane_words

from ..support.strategies import FACT_CLASSES, PATIENT, instances


@pytest.mark.parametrize("cls", FACT_CLASSES, ids=lambda cls: cls.__name__)
@settings(PATIENT, max_examples=6)
@given(st.data())
def test_every_fact_has_words(cls: type[Fact], data: st.DataObject) -> None:
    """A new fact without words is an error, not an empty line."""
    fact = data.draw(instances(cls))
    assert isinstance(fact_words(fact), str)
    if fact.line_begins is not None:
        (line,) = lines_of(fact, RunView(), now=None)
        assert line == f"   {fact.line_begins}  {fact_words(fact)}"


def test_a_fact_without_words_is_found() -> None:
    with pytest.raises(TypeError, match="the fact Fact has no words"):
        fact_words(Fact())
    assert fact_words(HintGiven(text="faster")) == "text faster"


@pytest.mark.parametrize(
    ("passed", "audited", "begins"), [(True, False, None), (False, False, None), (False, True, "g1/macro/0")]
)
def test_only_a_stop_that_is_checked_has_a_line(passed: bool, audited: bool, begins: str | None) -> None:
    """The line of the candidate covers the others."""
    fact = GateDecided(
        candidate="g1/macro/0", passed=passed, audited=audited, fitness=0.2, parents=("init/0",),
        parent_fitnesses=(0.5,),
    )
    assert fact.line_begins == begins
    assert bool(lines_of(fact, RunView(), now=None)) == (begins is not None)


def test_lines_and_lanes_name_the_island() -> None:
    scored = [
        CandidateScored(candidate=CandidateState(
            id=f"i{island}/g1/macro/0", program=Program("x"), operator=Operator.MACRO, generation=1, slot=0, fitness=0.5
        ))
        for island in (1, 2)
    ]
    changed = IslandsChanged(generation=1, elites=("i1/g1/macro/0", "init/0"), fitnesses=(0.5, 0.25), slots=(3, 2))
    view = view_of_facts([*scored, changed])
    (line,) = lines_of(scored[1], view, now=None)
    assert line.startswith("   i2/g1/macro/0  macro 1  F 0.500")
    (line,) = lines_of(changed, view, now=None)
    assert line == (
        "   g1: island 1  F 0.500  i1/g1/macro/0, 3 slots in g1; island 2  F 0.250  init/0, 2 slots in g1"
    )
    (line,) = lines_of(Migrated(generation=4, candidate="i1/g1/macro/0", source=1, target=2), view, now=None)
    assert line == "   g4: i1/g1/macro/0 is a parent of the crossovers of island 2"
    lane = BranchSlots(label="macro", slots=tuple(view.slots.candidates.values()), places=4)
    assert "".join(text for text, _ in lane_words(lane, 3, width=6)).startswith("macro 1:o 2:o  best 0.500")
