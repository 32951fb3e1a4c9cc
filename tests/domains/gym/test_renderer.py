"""Gymnasium's environments draw recorded episodes themselves."""

from dataclasses import replace

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.ports import Action, Drawable, Environment, Renderer
from memento.core.provenance import GIVEN
from memento.core.recording import Recording
from memento.domains import load

from ...conformance.renderer import RendererContract

pytestmark = pytest.mark.quick

TOY = "gym:memento.tests.support.toy_environments"


class TestToy(RendererContract):
    domain = f"{TOY}:ToySpaces-v0"

    def actions(self, environment: Environment, count: int) -> list[Action]:
        return [np.array([2.0, 0.5, place]) for place in range(count)]

    def test_an_episode_that_does_not_begin_as_recorded_is_refused(
        self, renderer: Renderer, recording: Recording
    ) -> None:
        other = {**recording.states, "desired_goal_my_place": recording.states["desired_goal_my_place"] + 1.0}
        with pytest.raises(UsageError, match="begins otherwise"):
            self.opened(renderer, replace(recording, states=other))
        with pytest.raises(UsageError, match="does not begin at the start"):
            self.opened(renderer, recording.end(1))


def test_an_environment_without_pictures_says_so() -> None:
    domain = load(f"{TOY}:ToySpoken-v0", GIVEN)
    assert isinstance(domain, Drawable)
    with pytest.raises(UsageError, match="draws no pictures"):
        domain.renderer(domain.options({}, preset="smoke")).require()
