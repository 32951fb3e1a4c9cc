"""The operators as one table: of each its names, its prompt, its agent, its colour. Methods may bring further ones."""

from collections.abc import Iterable
from dataclasses import dataclass

from .errors import UsageError
from .order_ids import CALIBRATE, CROSS, HILL, MACRO, PROGRAM, TUNE
from .values import Operator

PROPOSERS = "memento.agents.proposers"
REVISER = f"{PROPOSERS}:Reviser"
LAST_COLOUR = 7  # of the colours of charts, of which what is not named has it


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operator. `word` denotes its branch in the ids of orders, `operator` the operator in the log.

    `branch` is a column heading, `proposal` names one of its proposals, `short` is the abbreviation of that,
    and `title` is the name of the operator in a table. `parents` programs are what a proposal begins from.

    `agent` makes its proposals: the class "package.module:Class", which is made of `agents.proposers.Common`, and
    `prompt` is the file that it fills, without its suffix. Both are "" for an operator that asks no model. An operator
    of a method from outside may take the agent `REVISER`, which asks for what its `instruction` says.
    `colour` is its place among the colours of charts, `lane` its column in the picture of a descent.
    """

    operator: Operator
    word: str
    branch: str
    proposal: str
    short: str
    title: str
    parents: int = 1
    prompt: str = ""
    agent: str = ""
    instruction: str = ""
    colour: int = LAST_COLOUR
    lane: int = 1

    @property
    def needs_model(self) -> bool:
        """Whether a model writes its proposals."""
        return bool(self.agent)


class Operations(dict[Operator, Operation]):
    """The table. An operator without a row, as in the log of a method that is not installed, goes by its word."""

    def __missing__(self, operator: Operator) -> Operation:
        return Operation(
            operator=operator, word=operator, branch=operator, proposal=operator, short=operator, title=operator
        )

    def add(self, row: Operation) -> None:
        """Add an operator. Raises UsageError if its name or its word is another one's."""
        if any(row != each and (row.operator == each.operator or row.word == each.word) for each in self.values()):
            raise UsageError(f"the operator {row.operator!r} ({row.word} in ids) is there already: rename it")
        self[row.operator] = row

    def of_word(self, word: str) -> Operator:
        """The operator of a branch in ids of orders: the word itself where no row has it."""
        return next((row.operator for row in self.values() if row.word == word), Operator(word))

    def place(self, operator: Operator) -> int:
        """Its place in the table, which orders the operators of a generation; those without a row come last."""
        return next((place for place, each in enumerate(self) if each is operator), len(self))

    def ordered(self, operators: Iterable[Operator]) -> tuple[Operator, ...]:
        """These operators, each once, in the order of the table; those without a row come last, by their words."""
        return tuple(sorted({*operators}, key=lambda each: (self.place(each), each)))


OPERATORS = Operations({
    row.operator: row
    for row in (
        Operation(
            operator=Operator.INITIAL, word=PROGRAM, branch="random", proposal="independent program",
            short="independent program", title="first prompt", parents=0, prompt="initial-policy",
            agent=f"{PROPOSERS}:Initiator", colour=LAST_COLOUR, lane=0,
        ),
        Operation(
            operator=Operator.HILL_CLIMB, word=HILL, branch="climb", proposal="hill-climb", short="climb",
            title="climb", prompt="hill-climb", agent=f"{PROPOSERS}:HillClimber", colour=0, lane=1,
        ),
        Operation(
            operator=Operator.MACRO, word=MACRO, branch="macro", proposal="macro-mutation", short="macro",
            title="macro-mutation", prompt="macro-mutation", agent=f"{PROPOSERS}:Mutator", colour=1, lane=2,
        ),
        Operation(
            operator=Operator.TUNE, word=TUNE, branch="tune", proposal="tuning", short="tuning", title="tuning",
            colour=3, lane=1,
        ),
        Operation(
            operator=Operator.CROSSOVER, word=CROSS, branch="cross", proposal="crossover", short="crossover",
            title="crossover", parents=2, prompt="crossover", agent=f"{PROPOSERS}:Crosser", colour=2, lane=0,
        ),
        Operation(
            operator=Operator.CALIBRATE, word=CALIBRATE, branch="calibrate", proposal="calibration",
            short="calibration", title="calibration", prompt="calibration",
            agent="memento.agents.calibrating:Calibrator", colour=4, lane=1,
        ),
    )
})
