"""The objects of generated kitchens: kinds with their flags and size ranges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: the smallest and the largest (across, up, along) in metres, and AI2-THOR's flags."""

    small: tuple[float, float, float]
    large: tuple[float, float, float]
    flags: frozenset[str]


def _kind(small: tuple[float, float, float], large: tuple[float, float, float], flags: str) -> Kind:
    return Kind(small, large, frozenset(flags.split()))


_ITEMS: Final[Mapping[str, Kind]] = {
    "Apple": _kind((0.08, 0.09, 0.08), (0.12, 0.13, 0.12), "sliceable pickupable"),
    "Bread": _kind((0.12, 0.10, 0.23), (0.20, 0.16, 0.33), "sliceable pickupable"),
    "Bowl": _kind((0.16, 0.06, 0.16), (0.24, 0.12, 0.24), "receptacle breakable dirtyable pickupable"),
    "ButterKnife": _kind((0.02, 0.02, 0.25), (0.02, 0.02, 0.28), "pickupable"),
    "Cup": _kind((0.07, 0.10, 0.07), (0.13, 0.20, 0.13), "receptacle breakable dirtyable pickupable"),
    "DishSponge": _kind((0.07, 0.03, 0.12), (0.08, 0.03, 0.14), "pickupable"),
    "Egg": _kind((0.04, 0.06, 0.04), (0.06, 0.08, 0.06), "breakable sliceable pickupable"),
    "Fork": _kind((0.03, 0.02, 0.22), (0.03, 0.02, 0.25), "pickupable"),
    "Knife": _kind((0.02, 0.04, 0.30), (0.02, 0.05, 0.33), "pickupable"),
    "Lettuce": _kind((0.13, 0.12, 0.20), (0.18, 0.17, 0.26), "sliceable pickupable"),
    "Mug": _kind((0.10, 0.09, 0.09), (0.12, 0.11, 0.10), "receptacle breakable dirtyable pickupable"),
    "Pan": _kind((0.25, 0.05, 0.36), (0.31, 0.08, 0.45), "receptacle dirtyable pickupable"),
    "PepperShaker": _kind((0.06, 0.11, 0.06), (0.07, 0.18, 0.07), "pickupable"),
    "Plate": _kind((0.20, 0.02, 0.20), (0.28, 0.03, 0.28), "receptacle breakable dirtyable pickupable"),
    "Pot": _kind((0.25, 0.12, 0.24), (0.34, 0.20, 0.34), "receptacle dirtyable pickupable"),
    "Potato": _kind((0.06, 0.06, 0.09), (0.10, 0.10, 0.14), "cookable sliceable pickupable"),
    "SaltShaker": _kind((0.06, 0.11, 0.06), (0.07, 0.18, 0.07), "pickupable"),
    "SoapBottle": _kind((0.08, 0.18, 0.06), (0.13, 0.28, 0.11), "pickupable"),
    "Spatula": _kind((0.06, 0.02, 0.28), (0.06, 0.02, 0.30), "pickupable"),
    "Spoon": _kind((0.04, 0.02, 0.20), (0.04, 0.02, 0.22), "pickupable"),
    "Tomato": _kind((0.09, 0.08, 0.09), (0.13, 0.12, 0.13), "sliceable pickupable"),
}
STAPLES: Final = tuple(_ITEMS)      # one of each in every kitchen

_EXTRAS: Final[Mapping[str, Kind]] = {
    "Kettle": _kind((0.18, 0.18, 0.18), (0.22, 0.21, 0.22), "openable pickupable"),
    "Vase": _kind((0.14, 0.15, 0.14), (0.19, 0.28, 0.19), "breakable pickupable"),
    "Ladle": _kind((0.07, 0.05, 0.26), (0.09, 0.06, 0.30), "pickupable"),
    "PaperTowelRoll": _kind((0.08, 0.21, 0.07), (0.09, 0.24, 0.08), "pickupable"),
    "WineBottle": _kind((0.08, 0.30, 0.08), (0.09, 0.34, 0.09), "breakable pickupable"),
    "Bottle": _kind((0.09, 0.22, 0.09), (0.11, 0.27, 0.11), "breakable pickupable"),
    "HousePlant": _kind((0.25, 0.40, 0.25), (0.38, 0.60, 0.38), "moveable"),
    "Statue": _kind((0.18, 0.15, 0.14), (0.26, 0.28, 0.20), "breakable pickupable"),
    "CellPhone": _kind((0.07, 0.01, 0.14), (0.08, 0.01, 0.17), "toggleable breakable pickupable"),
    "CreditCard": _kind((0.05, 0.01, 0.09), (0.05, 0.01, 0.09), "pickupable"),
    "Book": _kind((0.19, 0.03, 0.25), (0.24, 0.05, 0.32), "openable pickupable"),
}
EXTRAS: Final = tuple(_EXTRAS)      # some of them

_FIXTURES: Final[Mapping[str, Kind]] = {
    "Fridge": _kind((0.78, 1.55, 0.64), (1.12, 2.05, 0.82), "receptacle isColdSource openable"),
    "Microwave": _kind((0.61, 0.33, 0.34), (0.70, 0.40, 0.42), "receptacle toggleable isHeatSource openable moveable"),
    "CoffeeMachine": _kind((0.30, 0.40, 0.38), (0.44, 0.45, 0.44), "receptacle toggleable isHeatSource moveable"),
    "Toaster": _kind((0.20, 0.18, 0.34), (0.26, 0.24, 0.40), "receptacle toggleable isHeatSource moveable"),
    "GarbageCan": _kind((0.38, 0.45, 0.30), (0.50, 0.62, 0.40), "receptacle moveable"),
    "Chair": _kind((0.44, 0.90, 0.46), (0.47, 1.05, 0.53), "receptacle moveable"),
    "Stool": _kind((0.34, 0.60, 0.34), (0.40, 0.75, 0.40), "receptacle moveable"),
    "DiningTable": _kind((0.80, 0.72, 0.75), (1.40, 0.80, 0.95), "receptacle moveable"),
    "Cabinet": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle openable"),
    "Drawer": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle openable"),
    "CounterTop": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle"),
    "Floor": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle"),
    "Sink": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ""),
    "SinkBasin": _kind((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "receptacle"),
    "Faucet": _kind((0.06, 0.24, 0.18), (0.12, 0.34, 0.24), "toggleable"),
    "StoveBurner": _kind((0.20, 0.02, 0.20), (0.24, 0.03, 0.24), "receptacle isHeatSource"),
    "StoveKnob": _kind((0.05, 0.05, 0.04), (0.07, 0.07, 0.06), "toggleable"),
    "Window": _kind((0.90, 0.90, 0.08), (1.30, 1.20, 0.10), "breakable"),
    "LightSwitch": _kind((0.10, 0.13, 0.02), (0.13, 0.15, 0.03), "toggleable isToggled"),
}

CATALOGUE: Final[Mapping[str, Kind]] = {**_ITEMS, **_EXTRAS, **_FIXTURES}
