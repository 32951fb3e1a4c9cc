"""The names of the operators in ids, headings, lines and tables."""

from collections.abc import Mapping
from dataclasses import dataclass

from .order_ids import CALIBRATE, CROSS, HILL, MACRO, PROGRAM, TUNE
from .values import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorNames:
    """The names of one operator. `word` denotes its branch in the ids of orders.

    `branch` is a column heading, `proposal` names one of its proposals, `short` is the abbreviation of that,
    and `title` is the name of the operator in a table.
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
    Operator.TUNE: OperatorNames(
        word=TUNE, branch="tune", proposal="tuning", short="tuning", title="tuning"
    ),
    Operator.CROSSOVER: OperatorNames(
        word=CROSS, branch="cross", proposal="crossover", short="crossover", title="crossover"
    ),
    Operator.CALIBRATE: OperatorNames(
        word=CALIBRATE, branch="calibrate", proposal="calibration", short="calibration", title="calibration"
    ),
}
OPERATOR_OF_WORD: Mapping[str, Operator] = {names.word: operator for operator, names in OPERATORS.items()}
