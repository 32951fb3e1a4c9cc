"""robosuite's tasks keep the contracts of domains and environments: one with one arm, one with two."""

from typing import ClassVar

import pytest

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract


class OneArm:
    domain: ClassVar[str] = "robosuite:Lift"
    given: ClassVar = {"horizon": 10, "noise": "hard"}


class TwoArms:
    domain: ClassVar[str] = "robosuite:TwoArmPegInHole"
    given: ClassVar = {"horizon": 10}


class TestLiftDomain(OneArm, DomainContract):
    pass


@pytest.mark.slow
class TestLiftEnvironment(OneArm, EnvironmentContract):
    pass


@pytest.mark.slow
class TestLiftRenderer(OneArm, RendererContract):
    pass


@pytest.mark.slow
class TestTwoArmDomain(TwoArms, DomainContract):
    pass


@pytest.mark.slow
class TestTwoArmEnvironment(TwoArms, EnvironmentContract):
    pass
