"""The table of operators is open: a word without a row has names, and a further row neither takes nor changes one."""

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest
from memento.core.errors import UsageError
from memento.core.operators import OPERATORS, Operation
from memento.core.values import Operator

SIMPLIFY = Operation(
    operator=Operator("simplify"), word="simplify", branch="simplify", proposal="simplification", short="simpler",
    title="simplification", agent="package.module:Simplifier",
)


@pytest.fixture
def added() -> Iterator[Operation]:
    OPERATORS.add(SIMPLIFY)
    yield SIMPLIFY
    del OPERATORS[SIMPLIFY.operator]


def test_equal_words_are_one_operator_in_every_process() -> None:
    assert Operator("hill-climb") is Operator.HILL_CLIMB == "hill-climb"
    assert pickle.loads(pickle.dumps(Operator("simplify"))) is Operator("simplify")


def test_a_word_without_a_row_goes_by_itself_and_comes_last() -> None:
    row = OPERATORS[Operator("unheard-of")]
    assert row.title == row.word == "unheard-of" and not row.needs_model
    assert OPERATORS.of_word("unheard-of") is Operator("unheard-of") not in OPERATORS
    assert OPERATORS.ordered([Operator("unheard-of"), Operator.CROSSOVER, Operator.MACRO]) == (
        Operator.MACRO, Operator.CROSSOVER, Operator("unheard-of"),
    )


def test_a_further_operator_has_its_row(added: Operation) -> None:
    assert OPERATORS[Operator("simplify")].needs_model and OPERATORS.of_word("simplify") is added.operator
    OPERATORS.add(added)  # again: a module may be imported twice


@pytest.mark.parametrize("change", [{"operator": Operator.MACRO}, {"word": "macro"}])
def test_no_row_takes_the_name_or_the_word_of_another(change: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="is there already"):
        OPERATORS.add(replace(SIMPLIFY, **change))
