"""Gymnasium's environments keep the promises of the ports."""

from typing import Any

import numpy as np
import pytest
from memento.core.ports import Action, Environment

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract

pytestmark = pytest.mark.quick

TOY = "gym:memento.tests.support.toy_environments"


class TestEverySpace(DomainContract, EnvironmentContract):
    domain = f"{TOY}:ToySpaces-v0"

    def actions(self, environment: Environment, count: int) -> list[Action]:
        rng = np.random.default_rng(1)
        return [np.array([rng.integers(3), *rng.uniform(-3, 3, 2)]) for _ in range(count)]


@pytest.mark.slow
class TestTexts(EnvironmentContract):
    domain = f"{TOY}:ToySpoken-v0"

    def actions(self, environment: Environment, count: int) -> list[Action]:
        return [[place % 2] for place in range(count)]

    def bad_actions(self) -> list[Any]:
        return [[], [2], [0.5], ["1"], [True], [0, 1]]


class TestHalfCheetah(DomainContract, EnvironmentContract):
    domain = "gym:HalfCheetah-v5"
    given = {"max_episode_steps": 10}


@pytest.mark.slow
class TestFreshEnvironments(EnvironmentContract):
    domain = f"{TOY}:ToyDrawn-v0"
    actions = TestEverySpace.actions


class TestCartPole(EnvironmentContract):
    domain = "gym:CartPole-v1"

    def actions(self, environment: Environment, count: int) -> list[Action]:
        return [np.array([float(place % 2)]) for place in range(count)]
