"""The kinematic domain keeps the ports' promises."""

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract


class TestKinematicHanoi(DomainContract, EnvironmentContract, RendererContract):
    domain = "hanoi-kinematic"
    difference = 2.0        # the elbow of an arm that was recorded by its hand alone
    given = {"horizon": 8, "randomisation": "hard"}
