"""A run at one moment for a display: its view, and the state that its log does not hold. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..core.methods import branches_of
from ..core.operators import OPERATORS
from ..core.order_ids import EVALUATOR, FINAL, INITIAL, JUDGE, SEARCH, OrderId, parse
from ..memory.activity import ActivityNote
from ..memory.run_status import RunStatus
from ..memory.slots import Slot, Slots, new_slot


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSnapshot:
    """A run at one moment. It is immutable: readers in other threads may keep it."""

    folder: Path | None = None
    run: RunStatus = field(default_factory=RunStatus)
    slots: Slots = field(default_factory=Slots)
    live: bool = False                      # whether a process writes it
    requests: tuple[str, ...] = ()          # those that the controller has not read yet
    stopping: str = ""                      # the last request to stop, until it ended
    trouble: str | None = None              # the reason why the log cannot be read
    reading: bool = True                    # whether the log is not yet read to its end
    seq: int = 0                            # the last fact that was read
    last_seq: int = 0                       # the last fact of the log
    note: ActivityNote | None = None        # the current activity

    @property
    def name(self) -> str:
        """The name of the run."""
        return "" if self.folder is None else self.folder.name


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchSlots:
    """The slots of one branch of the current generation. `places` is their final number."""

    label: str
    slots: tuple[Slot, ...]
    places: int
    waits: bool = False     # whether the branch waits for its parents


def search_slots(snapshot: RunSnapshot) -> Iterator[Slot]:
    """The search's slots, including those with an open model call."""
    yield from under_way(snapshot, snapshot.slots.candidates.values())
    yield from (slot for slot in asked_slots(snapshot) if parse(slot.id).stage == SEARCH)


def under_way(snapshot: RunSnapshot, slots: Iterable[Slot]) -> Iterator[Slot]:
    """The slots; one whose first episode is running, for which no fact exists, becomes "rolling"."""
    rolling = {str(order.owner) for order in _open_orders(snapshot) if order.episode is not None}
    for slot in slots:
        begun = slot.state == "proposed" and slot.id in rolling
        yield replace(slot, state="rolling") if begun else slot


def asked_slots(snapshot: RunSnapshot) -> Iterator[Slot]:
    """New slots for the open model calls, and for tunings without a result."""
    for order, at in () if snapshot.note is None else snapshot.note.orders:
        identity = parse(order)
        owner = str(identity.owner)
        if identity.episode is None and identity.part in ("", "ahead") and owner not in snapshot.slots:
            yield new_slot(owner, state="asked" if identity.vector is None else "tuning", at=at)


def trial_slots(snapshot: RunSnapshot, stage: str) -> list[Slot]:
    """The attempts at p_0, or p_0 and the elite in the final measure, including those that have only started."""
    known = {slot.id: slot for slot in under_way(snapshot, [
        *snapshot.slots.others.values(), *snapshot.slots.candidates.values()
    ]) if parse(slot.id).stage == stage}
    for slot in asked_slots(snapshot):
        if parse(slot.id).stage == stage:
            known[slot.id] = slot
    for order in _open_orders(snapshot):
        owner = str(order.owner)
        if order.stage == stage and order.episode is not None and owner not in known:
            known[owner] = new_slot(owner, state="rolling")
    return [*known.values()]


def trials_now(snapshot: RunSnapshot) -> tuple[list[Slot], int]:
    """The slots that are rolled out before or after the search, and the number of episodes of each."""
    if snapshot.run.stage == "final":
        return trial_slots(snapshot, FINAL), snapshot.run.number("final_episodes")
    if snapshot.run.stage in ("", "initial", "baseline"):
        return trial_slots(snapshot, INITIAL), snapshot.run.number("n_roll")
    return [], 0


def still_out(snapshot: RunSnapshot) -> tuple[int, int]:
    """How many episodes, and how many calls of models, are under way."""
    orders = [*_open_orders(snapshot)]
    rollouts = sum(order.episode is not None or order.vector is not None for order in orders)
    return rollouts, len(orders) - rollouts


def evaluator_lanes(snapshot: RunSnapshot) -> list[BranchSlots]:
    """The newest pool of evaluators and its judges."""
    made = [slot for slot in (*under_way(snapshot, snapshot.slots.others.values()), *asked_slots(snapshot))
            if parse(slot.id).stage == EVALUATOR]
    newest = max((slot.generation for slot in made), default=0)
    here = [slot for slot in made if slot.generation == newest]
    number = snapshot.run.number
    return [
        BranchSlots(label="evaluators", slots=tuple(slot for slot in here if slot.branch != JUDGE),
             places=number("evaluator_pool")),
        BranchSlots(label="judges", slots=tuple(slot for slot in here if slot.branch == JUDGE),
             places=number("evaluator_judges")),
    ]


def search_lanes(snapshot: RunSnapshot, slots: Iterable[Slot]) -> list[BranchSlots]:
    """The branches of one generation of the search, from its slots."""
    branches = {branch.word: branch for branch in branches_of(snapshot.run.settings)}
    found: dict[str, list[Slot]] = {}
    for slot in slots:
        found.setdefault("" if "" in branches else slot.branch, []).append(slot)     # "" takes any word
    lanes = []
    for word in dict.fromkeys([*branches, *found]):
        branch = branches.get(word)
        label, places = (word or "slots", 0) if branch is None else (branch.label, branch.slots)
        pairs = branch is not None and all(OPERATORS[each].parents > 1 for each in branch.operators)
        waits = pairs and word not in found
        lanes.append(BranchSlots(label=label, slots=tuple(found.get(word, ())), places=places, waits=waits))
    return lanes


def _open_orders(snapshot: RunSnapshot) -> Iterator[OrderId]:
    """The open rollouts and proposals; scoring is not shown."""
    for order, _ in () if snapshot.note is None else snapshot.note.orders:
        identity = parse(order)
        if identity.part not in ("score", "examine"):
            yield identity
