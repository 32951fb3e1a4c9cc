"""The robosuite domain fulfils the contracts of the ports."""

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract


class TestHanoi(DomainContract, EnvironmentContract, RendererContract):
    domain = "hanoi"
    given = {"horizon": 8, "randomisation": "hard"}
