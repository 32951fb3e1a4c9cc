"""The domain under test and its options, shared by the contracts of domains, environments and renderers."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import pytest
from memento.core.ports import Action, Domain, Environment
from memento.core.provenance import GIVEN
from memento.core.values import JSON
from memento.domains import load


class Subject:
    """Set `domain` to an import string, and `given` to options with which an episode has about ten steps.

    Override `actions` if actions are JSON or random numbers in [-1, 1] are not suitable.
    """

    domain: ClassVar[str]
    given: ClassVar[Mapping[str, JSON]] = {}

    def actions(self, environment: Environment, count: int) -> list[Action]:
        """`count` valid actions, the same at every call."""
        assert environment.action_size is not None, "override actions() for a domain with JSON actions"
        return [*np.random.default_rng(1).uniform(-1.0, 1.0, (count, environment.action_size))]

    @pytest.fixture(scope="class")
    @classmethod
    def loaded(cls) -> Domain:
        return load(cls.domain, GIVEN)

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
