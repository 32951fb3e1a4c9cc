"""Which domain is examined, under which options: what the classes for domains, environments and renderers share."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import pytest
from memento.core.ports import Action, Domain, Environment
from memento.core.values import JSON
from memento.domains import load


class Subject:
    """Set `domain` to an import string, and `given` to options that keep an episode at some ten steps.

    Override `actions` where actions are JSON or where random numbers in [-1, 1] are of no use.
    """

    domain: ClassVar[str]
    given: ClassVar[Mapping[str, JSON]] = {}

    def actions(self, environment: Environment, count: int) -> list[Action]:
        """`count` actions that the domain accepts, always the same ones."""
        assert environment.action_size is not None, "override actions() for a domain with JSON actions"
        return [*np.random.default_rng(1).uniform(-1.0, 1.0, (count, environment.action_size))]

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls) -> Domain:
        return load(cls.domain)

    @pytest.fixture(scope="class")
    @classmethod
    def options(cls, loaded: Domain) -> dict[str, JSON]:
        return loaded.options(cls.given, preset="smoke")

    @pytest.fixture(scope="class")
    @classmethod
    def environment(cls, loaded: Domain, options: dict[str, JSON]) -> Iterator[Environment]:
        environment = loaded.environment(options)
        yield environment
        environment.close()
