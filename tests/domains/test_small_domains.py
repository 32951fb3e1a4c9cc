"""The small domains of the tests of pool and commands fulfil the contracts of the ports."""

import pytest

from ..conformance.domain import DomainContract
from ..conformance.environment import EnvironmentContract
from ..conformance.renderer import RendererContract

pytestmark = pytest.mark.quick

SMALL = "memento.tests.support.on_path"      # whatever the checkout's folder is called


class TestToy(DomainContract, EnvironmentContract):
    domain = f"{SMALL}.toy_domain:DOMAIN"


class TestToyInJson(EnvironmentContract):
    domain = f"{SMALL}.toy_domain:DOMAIN"
    given = {"json": True}

    def actions(self, environment, count):
        return [["go" if number % 2 else "stay", 0] for number in range(count)]

    def bad_actions(self):
        return [[], ["fly", 0], ["go"]]


class TestSlide(EnvironmentContract, RendererContract):
    domain = f"{SMALL}.painter:DOMAIN"
