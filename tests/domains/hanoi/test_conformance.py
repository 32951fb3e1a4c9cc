"""The robosuite domain keeps the ports' promises."""

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract


class TestHanoi(DomainContract, EnvironmentContract, RendererContract):
    domain = "hanoi"
    given = {"horizon": 8, "randomisation": "hard"}
