"""What proposers get beyond the paper's prompts."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .critic.sheets import SheetFolder
from .hints import Hints
from .notes import Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Aids:
    """The aids of all proposers of a run: the hints of the person who runs it, and the notes of earlier proposers.

    Without `notes`, no proposer leaves a note or sees one. With `sheets` the sheets of a critic go with prompts.
    `budget` says what is left of the run's budgets, for conversations; "" without budgets.
    """

    hints: Hints = field(default_factory=Hints)
    notes: Notes | None = None
    sheets: SheetFolder | None = None
    budget: Callable[[], str] = lambda: ""
