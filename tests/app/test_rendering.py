"""A stored trajectory that is no recording of its domain is refused with one sentence."""

from collections.abc import Callable
from contextlib import closing

import numpy as np
import pytest
from memento.app.rendering import Found, drawing
from memento.core.errors import StoreError, UsageError
from memento.core.provenance import GIVEN
from memento.core.recording import Recording
from memento.domains import load

pytestmark = pytest.mark.quick

MISFITS: dict[str, Callable[[Recording], Recording]] = {
    "other names": lambda r: Recording(states={"x": np.zeros((3, 1))}, actions={"u": np.zeros((2, 1))}),
    "flat states": lambda r: Recording(
        states={name: np.zeros(len(rows)) for name, rows in r.states.items()}, actions=r.actions,
        constants=r.constants, info=r.info,
    ),
    "texts for numbers": lambda r: Recording(
        states={name: np.full(rows.shape, "?") for name, rows in r.states.items()}, actions=r.actions,
        constants=r.constants, info=r.info,
    ),
    "no constants, no info": lambda r: Recording(states=r.states, actions=r.actions),
}


def recording_of(name: str) -> tuple[Recording, dict]:
    domain = load(name, GIVEN)
    options = domain.options({}, preset="smoke")
    environment = domain.environment(options)
    with closing(environment):
        environment.reset(index=0, seed=1)
        environment.observe()
        environment.step(["move_ahead", None] if environment.action_size is None else np.zeros(environment.action_size))
        return environment.recording(), options


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hanoi-kinematic", "kitchen"])
def test_a_misfit_is_one_sentence(name: str) -> None:
    recording, options = recording_of(name)
    renderer = load(name, GIVEN).renderer(options)
    try:
        renderer.require()
    except UsageError as error:
        pytest.skip(str(error))

    def draw(found: Found) -> None:
        with drawing(found), closing(
            renderer.playback(found.recording, camera=renderer.cameras[0], width=64, height=48)
        ) as playback:
            playback.picture(0)
            playback.caption(0)

    draw(Found(recording=recording, source="", stored=True))
    for what, misfit in MISFITS.items():
        with pytest.raises((StoreError, UsageError)) as raised:
            draw(Found(recording=misfit(recording), source="", stored=True))
        assert "\n" not in str(raised.value), what


def test_a_failure_of_the_renderer_itself_is_not_blamed_on_the_file() -> None:
    with pytest.raises(IndexError), drawing(Found(recording=Recording(states={}, actions={}), source="")):
        raise IndexError
