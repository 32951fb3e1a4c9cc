"""What an operator is called, wherever it is named: in ids, in headings, in lines and in tables."""

from collections.abc import Mapping
from dataclasses import dataclass

from .order_ids import CROSS, HILL, MACRO, PROGRAM
from .values import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorNames:
    """The names of one operator. `word` is that of its branch in the ids of orders.

    `branch` is a column heading, `proposal` what one of its proposals is, `short` the same in a few letters,
    and `title` the name of the operator in a table.
    """

    word: str
    branch: str
    proposal: str
    short: str
    title: str


OPERATORS: Mapping[Operator, OperatorNames] = {
    Operator.INITIAL: OperatorNames(
        word=PROGRAM, branch="random", proposal="independent program", short="independent program",
        title="first prompt",
    ),
    Operator.HILL_CLIMB: OperatorNames(
        word=HILL, branch="climb", proposal="hill-climb", short="climb", title="climb"
    ),
    Operator.MACRO: OperatorNames(
        word=MACRO, branch="macro", proposal="macro-mutation", short="macro", title="macro-mutation"
    ),
    Operator.CROSSOVER: OperatorNames(
        word=CROSS, branch="cross", proposal="crossover", short="crossover", title="crossover"
    ),
}
OPERATOR_OF_WORD: Mapping[str, Operator] = {names.word: operator for operator, names in OPERATORS.items()}
