"""Any fact in one line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import Fact, GateDecided, HintGiven
from memento.memory.run_view import RunView
from memento.tui.fact_words import fact_words
from memento.tui.lines import lines_of

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
