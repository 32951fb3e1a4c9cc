"""The hints of the person who runs a search, for the prompts of its proposers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.events import Fact, HintGiven
from ..core.order_ids import ahead_id, is_ahead, slot_of
from ..core.ports import Prompts
from ..core.text import one_line

MAX_HINT = 600  # characters of a hint
MOST_QUOTED = 8  # the latest hints, which prompts quote


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedHints:
    """The hints of a recorded run, oldest first, and how many of them the prompt of each order took into account."""

    texts: tuple[str, ...] = ()
    known: Mapping[str, int] = field(default_factory=dict)


def recorded_hints(facts: Iterable[Fact]) -> RecordedHints:
    """The hints in the log of a run, for its replay."""
    texts: list[str] = []
    known: dict[str, int] = {}
    for fact in facts:
        if isinstance(fact, HintGiven):
            texts.append(fact.text)
        elif fact.hints_known and fact.order is not None:
            known[fact.order] = fact.hints_known
    return RecordedHints(texts=tuple(texts), known=known)


class Hints:
    """The hints given so far. It listens to the run's facts.

    Each order quotes the hints that are known when its prompt is made, and its fact counts them. In a replay,
    `recorded` says how many these were, since the time at which a person gave them cannot be repeated.
    """

    def __init__(self, recorded: RecordedHints | None = None) -> None:
        self._known = None if recorded is None else recorded.known
        self._texts: list[str] = []

    def on_fact(self, fact: Fact) -> None:
        """Apply a committed fact."""
        if isinstance(fact, HintGiven):
            self._texts.append(fact.text)

    def of(self, order: str) -> tuple[str, ...]:
        """The hints for the prompt of this order, oldest first."""
        if self._known is None:
            return tuple(self._texts)
        other = slot_of(order) if is_ahead(order) else ahead_id(order)
        return tuple(self._texts[: self._known.get(order, self._known.get(other, 0))])


def hints_text(prompts: Prompts, hints: Sequence[str]) -> str:
    """The part of a prompt that quotes the latest hints; "" without hints."""
    if not hints:
        return ""
    lines = "\n".join(f"- {one_line(hint, MAX_HINT)}" for hint in hints[-MOST_QUOTED:])
    return prompts.fill("hints", hints=lines) + "\n"
