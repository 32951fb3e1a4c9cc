"""The kinematic domain fulfils the contracts of the ports."""

import pytest

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract

pytestmark = pytest.mark.quick


class Tower:
    domain = "hanoi-kinematic"
    difference = 2.0        # the recording has the hand's pose but not the elbow's
    given = {"horizon": 8, "randomisation": "hard"}


class TestKinematicHanoi(Tower, DomainContract, EnvironmentContract):
    pass


@pytest.mark.slow
class TestKinematicHanoiRenderer(Tower, RendererContract):
    pass
