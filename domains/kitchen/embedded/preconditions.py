"""The actions that the state of an object and of the hand allows: AI2-THOR's preconditions, in its words.

They apply to every back end: the embedded simulator checks them before it acts, and the valid-action lists
of observations follow from them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from ..rules import SHUT_TO_RUN, places_of

ABILITIES: Final = frozenset({"openable", "pickupable", "receptacle", "toggleable"})     # the flags that matter here
NOT_HERE: Final = "objectId: {} is not the objectId on any object in the scene!"
NOT_VISIBLE: Final = "Target object not found within the specified visibility."
BEHIND_GLASS: Final = "{} is visible but not interactable"


class Named(Protocol):
    """An object by its id, its type and its flags."""

    @property
    def object_id(self) -> str:
        """AI2-THOR's object id."""

    @property
    def object_type(self) -> str:
        """AI2-THOR's object type, such as "Apple"."""

    @property
    def flags(self) -> frozenset[str]:
        """AI2-THOR's names: openable, pickupable, receptacle, toggleable."""


@dataclass(frozen=True, slots=True)
class Item:
    """The plain implementation of `Named`."""

    object_id: str
    object_type: str
    flags: frozenset[str]


@dataclass(frozen=True, slots=True)
class Condition:
    """The current state of one object."""

    is_open: bool
    is_on: bool
    carried: bool = False       # in the hand, or in the held object


def objection(action: str, target: Named, now: Condition, held: Named | None) -> str:
    """The reason why an object action is not allowed on a target in reach; empty if it is allowed."""
    return _OBJECTIONS[action](target, now, held)


def _to_pickup(target: Named, _: Condition, held: Named | None) -> str:
    if held is not None:
        return "Agent hand has something in it already! Can't pick up anything else"
    if "pickupable" not in target.flags:
        return f"{target.object_id} must have the property CanPickup to be picked up."
    return ""


def _to_put(target: Named, now: Condition, held: Named | None) -> str:
    if held is None:
        return "Can't place an object if Agent isn't holding anything"
    if "receptacle" not in target.flags or now.carried:
        return "This target object is NOT a receptacle!"
    if "openable" in target.flags and not now.is_open:
        return "Target openable Receptacle is CLOSED, can't place if target is not open!"
    if target.object_type not in places_of(held.object_type):
        return f"{held.object_id} cannot be placed in {target.object_id}"
    return ""


def _to_open(target: Named, now: Condition, _: Named | None) -> str:
    if "openable" not in target.flags:
        return f"{target.object_id} is not an Openable object"
    if now.is_open:
        return f"{target.object_id} is already open"
    if target.object_type in SHUT_TO_RUN and now.is_on:
        return "Target must be OFF to open!"
    return ""


def _to_close(target: Named, now: Condition, _: Named | None) -> str:
    if "openable" not in target.flags:
        return f"{target.object_id} is not an Openable object"
    return "" if now.is_open else f"{target.object_id} is already closed"


def _to_toggle_on(target: Named, now: Condition, _: Named | None) -> str:
    if "toggleable" not in target.flags:
        return f"{target.object_id} is not a toggleable object"
    if now.is_on:
        return f"{target.object_id} is already toggled on"
    if target.object_type in SHUT_TO_RUN and now.is_open:
        return "Target must be closed to Toggle On!"
    return ""


def _to_toggle_off(target: Named, now: Condition, _: Named | None) -> str:
    if "toggleable" not in target.flags:
        return f"{target.object_id} is not a toggleable object"
    return "" if now.is_on else f"{target.object_id} is already toggled off"


_OBJECTIONS: Final[Mapping[str, Callable[[Named, Condition, Named | None], str]]] = {
    "open_object": _to_open,
    "close_object": _to_close,
    "pickup_object": _to_pickup,
    "put_object": _to_put,
    "toggle_on": _to_toggle_on,
    "toggle_off": _to_toggle_off,
}
