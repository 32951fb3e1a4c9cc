"""What orders and facts have in common: their ids, and what a fact says of itself to those that handle all facts."""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from ..faults import Fault
from ..order_ids import parse
from ..values import Call, Episode, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A task that is carried out once; `id` identifies it within the run."""

    id: str

    def failed(self, problem: str) -> "Fact | None":
        """The fact that spends the order's slot where its agent failed on the text of a model: no reply may end a run.

        None for an order whose agent reads no reply.
        """
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw(Order):
    """Cancel the open order `target` (racing, speculation, stop). Needs no answer."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An event; `order` is the id of the order that caused it, if any.

    The members below are what the log, the views, the tape and the displays need to know of a fact. A new fact
    overrides those that differ for it.
    """

    order: str | None = None

    interim: ClassVar[bool] = False
    """It leaves its order open: the fact that answers the order follows, and repeats its calls."""
    replayed: ClassVar[bool] = False
    """A replay of the run needs it, or compares itself with it; so a tape holds it."""
    practice: ClassVar[bool] = False
    """Its rollout tried a draft: it is no candidate's, and nothing else repeats its result."""

    # Calls of models:

    @property
    def calls(self) -> tuple[Call, ...]:
        """The answered calls that it reports, oldest first."""
        return ()

    @property
    def role(self) -> str:
        """The role of these calls, as in Ask.role."""
        return parse(self.order or "").role

    @property
    def reply_fault(self) -> Fault | None:
        """The problem with the last reply, or that there was none."""
        return None

    @property
    def call_failure(self) -> str | None:
        """Why the call after `calls` failed for good, which fails again in a replay."""
        return None

    @property
    def unanswered(self) -> bool:
        """Whether the last question got no answer, so that its usage is unknown."""
        return False

    @property
    def withdraws_call(self) -> bool:
        """Whether the call of its order was withdrawn before its answer, so that its usage is unknown."""
        return False

    @property
    def hints_known(self) -> int:
        """How many hints the prompt of its order took into account."""
        return 0

    # Rollouts and their recordings:

    @property
    def rollout(self) -> Episode | None:
        """The episode that its order rolled out, if the run counts and keeps it."""
        return None

    @property
    def recorded(self) -> tuple[Episode, ...]:
        """The episodes whose recordings the run has from now on."""
        return () if self.rollout is None else (self.rollout,)

    @property
    def done_with(self) -> tuple[str, ...]:
        """The ids of rollouts whose recordings nobody needs any more: this fact has their results."""
        return ()

    @property
    def scored(self) -> tuple[str, Score] | None:
        """The id of the one rollout that it scores, and the score."""
        return None

    @property
    def drawn(self) -> tuple[str, str] | None:
        """The id of the rollout that it has pictures of, and the name of their file."""
        return None

    def portable(self) -> Self:
        """The fact without what names the machine, as a tape holds it."""
        return self

    # Displays:

    @property
    def line_begins(self) -> str | None:
        """How its line for a reader who follows the run begins, before its words; None if a display decides on that."""
        return None


def without_node(episode: Episode) -> Episode:
    """The episode without the name of the node that it was rolled out on."""
    return replace(episode, notes=replace(episode.notes, node=None))
