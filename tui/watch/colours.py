"""The colours of `memento watch`, by role; and values as coloured text; what may be drawn at all. Pure."""

from collections.abc import Iterable, Mapping

from textual.content import Content

from ...core.faults import kind_words
from ...core.text import number, version_words
from ...memory.slots import Slot
from .. import words
from ..words import MARKS, Styled, fault_words

GOOD, BAD, DIM, WARN, LOUD, ACCENT = (
    "$text-success", "$text-error", "$foreground 60%", "$text-warning", "bold", "$text-accent"
)
ROLES: Mapping[str, str] = {
    words.PLAIN: "", words.DIM: DIM, words.LOUD: LOUD, words.ACCENT: ACCENT, words.GOOD: GOOD, words.BAD: BAD,
    words.WARN: WARN, words.BEST: f"bold {GOOD}", words.WORST: f"bold {BAD}",
}
ELITE, SUCCESS, CANDIDATE = GOOD, ACCENT, DIM       # the curves of one run
RUNS = (GOOD, ACCENT, WARN, BAD, "$text-primary", "$text-secondary")    # the curves of several runs
HEADING = f"bold {ACCENT}"


def content_of(pairs: Iterable[Styled]) -> Content:
    """Texts with roles as one line."""
    return Content.assemble(*((text, ROLES[role]) if ROLES[role] else text for text, role in pairs))


def mark(state: str) -> Content:
    """The one-letter mark of a slot's state."""
    return content_of([MARKS.get(state, MARKS["scored"])])


def fitness_of(slot: Slot) -> Content:
    """F of a slot; its upper bound if racing pruned it."""
    if slot.state == "pruned" and slot.bound is not None:
        return Content.styled(f"≤{number(slot.bound)}", DIM)
    return Content(number(slot.fitness))


def difference(value: float | None) -> Content:
    """A difference, green if it is a gain."""
    if value is None:
        return Content.styled("–", DIM)
    return Content.styled(f"{value:+.3f}", GOOD if value > 0.0005 else BAD if value < -0.0005 else DIM)


def state_of_slot(slot: Slot) -> str:
    """A slot's state in words."""
    state = kind_words(slot.fault) if slot.state == "stopped" and slot.fault is not None else slot.state
    state += version_words(slot.version)
    return f"{state}, as {slot.same_as}" if slot.same_as is not None else state


def why_failed(slot: Slot) -> str:
    """The kind of a failure and its message, in a line."""
    return fault_words(slot.fault)


def stack(lines: Iterable[Content]) -> Content:
    """The lines one below the other."""
    return Content("\n").join([*lines])
