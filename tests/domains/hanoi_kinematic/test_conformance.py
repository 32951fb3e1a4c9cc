"""The kinematic domain keeps the ports' promises."""

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract


class TestKinematicHanoi(DomainContract, EnvironmentContract, RendererContract):
    domain = "hanoi-kinematic"
    given = {"horizon": 8, "randomisation": "hard"}
