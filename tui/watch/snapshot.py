"""What the screens show: a run's view, with what its log does not hold. And the words they share. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from textual.content import Content

from ...core.order_ids import slot_of
from ..activity import ActivityNote
from ..lines import one_line
from .view import RunView, Slot, branch_of, owner_of

MARKS: Mapping[str, tuple[str, str]] = {
    "asked": ("?", "$text-accent"), "proposed": ("p", "$text-accent"), "rolling": ("~", "$text-warning"),
    "scored": ("o", ""), "accepted": ("+", "bold $text-success"), "rejected": ("-", "$text-error"),
    "cut": ("<", "$foreground 60%"), "failed": ("x", "bold $text-error"), "voted": ("v", "$text-success"),
    "withdrawn": ("/", "$foreground 60%"), "": ("·", "$foreground 60%"),
}
LEGEND = "? asked  p proposed  ~ rolling out  o scored  + accepted  - rejected  < cut  x failed  / withdrawn"
GOOD, BAD, DIM, WARN, LOUD = "$text-success", "$text-error", "$foreground 60%", "$text-warning", "bold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """A run as it is seen at a moment."""

    folder: Path
    view: RunView = field(default_factory=RunView)
    live: bool = False                      # whether a process writes it
    asked: tuple[str, ...] = ()             # requests that the controller has not taken up yet
    trouble: str | None = None              # why the log cannot be read just now
    reading: bool = True                    # the log is not yet read to its end
    last_seq: int = 0
    note: ActivityNote | None = None        # what is under way

    @property
    def state(self) -> str:
        """How the run stands, in a word."""
        status = self.view.status
        if not self.live and status in ("new", "running", "paused"):
            return "starting" if self.reading else "killed"
        return "out of budget" if status == "budget" else status


def elapsed_s(sight: Sight, *, now: float) -> float:
    """How long the run was worked on, up to now where somebody works on it."""
    view = sight.view
    working = sight.live and view.status == "running" and view.last is not None
    return view.active_s + (max(0.0, now - view.last) if working and view.last is not None else 0.0)


def slots_of(sight: Sight) -> Iterator[Slot]:
    """The search's slots, with those that a model was asked for and has not answered."""
    yield from as_noted(sight, sight.view.candidates.values())
    yield from (slot for slot in asked_of(sight) if slot.id[:1] == "g")


def as_noted(sight: Sight, slots: Iterable[Slot]) -> Iterator[Slot]:
    """The slots; one whose first episode is under way, which no fact tells, is rolling out."""
    orders = () if sight.note is None else sight.note.orders
    rolling = {owner_of(order) for order, _ in orders if owner_of(order) != slot_of(order)}
    for slot in slots:
        begun = slot.state == "proposed" and slot.id in rolling
        yield replace(slot, state="rolling") if begun else slot


def asked_of(sight: Sight) -> Iterator[Slot]:
    """What a model was asked for and has not answered yet."""
    for order, at in () if sight.note is None else sight.note.orders:
        slot = slot_of(order)
        known = slot in sight.view.candidates or slot in sight.view.others
        if not known and owner_of(order) == slot:
            generation, branch, place = branch_of(slot)
            yield Slot(id=slot, state="asked", generation=generation, branch=branch, place=place, at=at)


def mark(state: str) -> Content:
    """The one-letter mark of a slot's state."""
    letter, style = MARKS.get(state, ("o", ""))
    return Content.styled(letter, style) if style else Content(letter)


def number(value: float | None, *, unknown: str = "–") -> str:
    """A fitness, or a dash where it is not known."""
    return unknown if value is None else f"{value:.3f}"


def fitness_of(slot: Slot) -> Content:
    """F of a slot; what it is at most, where racing cut it."""
    if slot.state == "cut" and slot.bound is not None:
        return Content.styled(f"≤{slot.bound:.3f}", DIM)
    return Content(number(slot.fitness))


def share(value: float | None) -> str:
    """A share in percent, or a dash."""
    return "–" if value is None else f"{100 * value:.0f} %"


def signed(value: float | None) -> Content:
    """A difference, green where it is a gain."""
    if value is None:
        return Content.styled("–", DIM)
    return Content.styled(f"{value:+.3f}", GOOD if value > 0.0005 else BAD if value < -0.0005 else DIM)


def cost(value: float | None) -> str:
    """An amount, or that it is not known."""
    return "price unknown" if value is None else f"${value:.2f}"


def clock(seconds: float) -> str:
    """1:02:03, or 2:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def coarse(seconds: float) -> str:
    """No more digits than can be believed."""
    if seconds < 90:
        return f"{max(1, round(seconds / 10)) * 10} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def why_failed(slot: Slot) -> str:
    """The kind of a failure and its message, in a line."""
    if slot.fault is None:
        return ""
    message = one_line(slot.fault.message, 200)
    return f"{slot.fault.kind.value}: {message}" if message else slot.fault.kind.value


def what_became(slot: Slot) -> str:
    """A slot's state in words, with its episodes where they are being rolled out."""
    return f"{slot.state}, as {slot.same_as}" if slot.same_as is not None else slot.state


def stack(lines: Iterable[Content]) -> Content:
    """The lines one below the other."""
    return Content("\n").join([*lines])
