"""The kitchens, generated and recorded, fulfil the contracts of the ports."""

import pytest

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract
from .kitchens import RECORDINGS, needs_recordings

pytestmark = pytest.mark.quick

WAY = ("move_ahead", "rotate_left", "look_down", "pickup_object", "rotate_right", "open_object")


class Kitchens(DomainContract, EnvironmentContract, RendererContract):
    domain = "kitchen"

    def actions(self, environment, count):
        names = (WAY[number % len(WAY)] for number in range(count))
        return [[name, "Apple|+00.00|+00.00|+00.00" if name.endswith("object") else None] for name in names]

    def bad_actions(self):
        return [[], ["move_ahead"], ["fly", None], [None, None], ["pickup_object", 3], {"move_ahead": None}]


class TestGeneratedKitchens(Kitchens):
    given = {"horizon": 8, "scenes": ["Kitchen1", "Kitchen2"]}


@needs_recordings
class TestRecordedKitchens(Kitchens):
    given = {
        "horizon": 8, "backend": "recorded", "recordings": str(RECORDINGS.resolve()), "scenes": ["FloorPlan1"],
    }
