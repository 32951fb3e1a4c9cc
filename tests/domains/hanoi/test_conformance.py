"""The robosuite domain fulfils the contracts of the ports."""

import pytest

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract


class Tower:
    domain = "hanoi"
    given = {"horizon": 8, "randomisation": "hard"}


@pytest.mark.slow
class TestHanoi(Tower, DomainContract, EnvironmentContract):
    pass


@pytest.mark.slow
class TestHanoiRenderer(Tower, RendererContract):
    pass
