"""Notes: what the writers of earlier programs of a lineage left for later ones, in a line `Note:` of replies."""

import re
from collections.abc import Sequence

from ..core.events import Fact, ProposalMade, Propose
from ..core.operators import OPERATORS
from ..core.order_ids import is_ahead, owner_of, parse
from ..core.ports import Prompts
from ..core.text import fenced_text, one_line
from ..core.values import Operator
from .fences import split

MAX_WORDS = 60
MAX_NOTE = 480  # characters of a note, whatever its words
MOST_SHOWN = 12

_NOTE = re.compile(r"[\s>*_#-]{0,8}note[\s*_]{0,8}:(.*)", re.IGNORECASE)


def note_of(text: str) -> str:
    """The note of a reply: what follows "Note:" on the last line outside of code that says so, bounded; "" without one.

    The last line counts, since a reply may reason first.
    """
    said = [found[1] for line in split(text)[1] if (found := _NOTE.match(line))]
    words = one_line(said[-1].strip(" *_`"), 4 * MAX_NOTE).split() if said else []
    short = " ".join(words[:MAX_WORDS])
    return one_line(short + (" …" if len(words) > MAX_WORDS else ""), MAX_NOTE)


class Notes:
    """The notes of all proposals so far. It listens to the run's facts.

    A prompt shows those of proposals that its order names, all of which were answered before it. So prompts do not
    depend on the order in which answers arrive.
    """

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    def on_fact(self, fact: Fact) -> None:
        """Apply a committed fact."""
        if isinstance(fact, ProposalMade) and fact.order is not None:
            slot = owner_of(fact.order)
            if not (is_ahead(fact.order) and slot in self._notes):  # the answer to a withdrawn order, which came late
                self._notes[slot] = fact.note

    def of(self, order: Propose) -> tuple[tuple[str, str], ...]:
        """The notes for the prompt of this order, newest first, each with where it comes from: of the edits that led to
        its parents, and of those that were tried from them and did not stay."""
        named: dict[str, tuple[Operator, str]] = {
            one.candidate: (one.operator, "not kept") for one in (*order.tried, *order.rejections)
        }
        named |= {one.id: (one.operator, "kept") for parent in order.parents for one in parent.lineage}
        found: list[tuple[tuple[int, int, int], str, str]] = []
        for name, (operator, fate) in named.items():
            note = self._notes.get(name)
            if note:
                place = parse(name)
                what = "first program" if operator is Operator.INITIAL else OPERATORS[operator].proposal
                where = f"g{place.generation} {what}, {fate}"
                found.append(((place.generation, OPERATORS.place(operator), place.slot), where, note))
        return tuple((where, note) for _, where, note in sorted(found, reverse=True)[:MOST_SHOWN])


def notes_text(prompts: Prompts, notes: Sequence[tuple[str, str]]) -> str:
    """The part of a prompt that shows notes, newest first; "" without any."""
    if not notes:
        return ""
    lines = "\n".join(f"{where}: {one_line(note, MAX_NOTE)}" for where, note in notes)
    return prompts.fill("notes", notes=fenced_text(lines))
