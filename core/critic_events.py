"""The order to a critic, and the fact that answers it."""

from dataclasses import dataclass

from .critique import Sheet
from .events import Fact, Order
from .values import Call, Episode, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Criticise(Order):
    """Draw a sheet of one recorded episode, and ask the critic what went wrong. Answered by Criticised."""

    candidate: str
    episode: Episode
    score: Score | None = None  # None: no evaluator has scored it yet
    fitness: str = ""  # what f_e measures, as in Propose
    split: str = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Criticised(Fact):
    """What a critic said about an episode. Without words, `problem` says why, unless no critic was asked.

    `sheet` is None if the episode could not be drawn; then nobody was asked. `off`: the critic takes no pictures, so
    it is not asked again in this run.
    """

    candidate: str
    episode: int
    sheet: Sheet | None
    words: str = ""
    problem: str = ""
    call: Call | None = None  # None if no critic answered
    off: bool = False

    @property
    def unanswered(self) -> bool:
        """Whether a critic was asked and its call failed for good."""
        return self.sheet is not None and self.call is None and bool(self.problem)
