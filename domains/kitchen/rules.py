"""Rules of the kinds of object: where items may be put, how things open, and the categories of failures."""

from enum import IntEnum
from typing import Final

TARGETS: Final = ("Apple", "Bread", "Microwave", "Fridge")

TRANSPARENT: Final = frozenset({"Window", "ShowerGlass"})      # transparent, but block interaction
HOLLOW: Final = frozenset({"Floor", "Shelf", "ShelvingUnit", "SinkBasin", "Sink"})     # a box full of air
ENCLOSING: Final = frozenset({"Fridge", "Microwave"})           # all eight corners of an item put in must be inside
INSIDE: Final = frozenset({
    "Fridge", "Microwave", "Cabinet", "Drawer", "SinkBasin", "Sink", "GarbageCan", "Bowl", "Pot", "Pan", "Cup", "Mug",
    "Safe", "Shelf",
})      # receptacles that hold things at the bottom of their box; others hold them on top
SHUT_TO_RUN: Final = frozenset({"Microwave"})   # opens only when off, runs only when closed
HINGED: Final = frozenset({"Fridge", "Microwave", "Cabinet"})
SLIDING: Final = frozenset({"Drawer"})

_TOPS = frozenset({"CounterTop", "DiningTable", "SideTable", "CoffeeTable", "Desk"})
_BIN = frozenset({"GarbageCan"})
_BASIN = frozenset({"SinkBasin", "Sink"})
_SMALL_FOOD = _TOPS | _BIN | _BASIN | {"Fridge", "Microwave", "Pot", "Pan", "Bowl", "Plate"}
_VESSEL = _TOPS | _BASIN | {"Cabinet", "Shelf", "Fridge", "Microwave"}
_THING = _TOPS | _BIN | _BASIN | {"Cabinet", "Drawer", "Shelf"}
_PLACES: Final = {
    **dict.fromkeys(("Apple", "Tomato", "Potato", "Egg"), _SMALL_FOOD),
    "Bread": _TOPS | _BIN | {"Fridge", "Microwave"},
    "Lettuce": _TOPS | _BIN | _BASIN | {"Fridge"},
    **dict.fromkeys(("Bowl", "Plate", "Cup", "Mug"), _VESSEL),
    "Mug": _VESSEL | {"CoffeeMachine"},
    **dict.fromkeys(("Pot", "Pan", "Kettle"), _VESSEL | {"StoveBurner"}),
    **dict.fromkeys(("Bottle", "WineBottle", "Glassbottle"), _THING | {"Fridge"}),
}


def places_of(item_type: str) -> frozenset[str]:
    """The types of receptacle that take an item of this type."""
    return frozenset(_PLACES.get(item_type, _THING))


class ErrorCategory(IntEnum):
    """The reason why a step failed (paper, appendix, observation space). NONE: it succeeded."""

    NONE = 0
    BLOCKED = 1         # movement into structure, an object or an open door
    COLLISION = 2       # the held item, or a moving door, would hit something
    NOT_VISIBLE = 3
    NOT_REACHABLE = 4   # visible, but behind glass
    PRECONDITION = 5    # the state of the object or of the hand does not allow it
    FAILED = 6
    EXCEPTION = 7       # the simulator refused the action itself

    @property
    def word(self) -> str | None:
        """The form in observations: a lower-case word, None for no error."""
        return None if self is ErrorCategory.NONE else self.name.lower()


_SIGNS: Final = (
    (ErrorCategory.EXCEPTION, ("exception", "invalid action", "ambiguous action", "missing argument")),
    (ErrorCategory.COLLISION, ("collide", "failed to open/close successfully", "clip into", "held item")),
    (ErrorCategory.BLOCKED, ("is blocking",)),
    (ErrorCategory.NOT_REACHABLE, ("not interactable", "not reachable", "out of reach")),
    (ErrorCategory.NOT_VISIBLE, ("not found within", "is not the objectid on any", "not visible", "no target found")),
    (ErrorCategory.FAILED, ("no valid positions",)),
    (ErrorCategory.PRECONDITION, (
        "already", "must be", "must have", "isn't holding", "can't", "cannot", "is not a", "not an", "not able",
        "is closed", "not openable", "not toggleable", "not a receptacle", "needs an object",
    )),
)


def categorise(message: str) -> ErrorCategory:
    """The category of a simulator's error message; NONE for an empty one, FAILED for an unknown one."""
    if not message:
        return ErrorCategory.NONE
    text = message.lower()
    for category, signs in _SIGNS:
        if any(sign in text for sign in signs):
            return category
    return ErrorCategory.FAILED
