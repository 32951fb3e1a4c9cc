"""Floor plans of recorded kitchen episodes: the episode is replayed exactly, and changes are painted."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.ports import Drawable, Playback
from memento.core.recording import Recording
from memento.core.recording_file import load_recording, save_recording
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen import procedural as generated
from memento.domains.kitchen.floor_plan import DOOR, GLOW
from memento.domains.kitchen.render import MILESTONES

from ...reference_policies.kitchen import Policy
from .kitchens import RECORDINGS, needs_recordings

WIDTH, HEIGHT = 320, 240


def episode(index: int = 0, **given: object) -> Recording:
    env = DOMAIN.environment(DOMAIN.options(given, preset="paper"))
    env.reset(index=index, seed=3)
    policy = Policy()
    policy.reset()
    while env.step(list(policy.compute_action(env.observe()))) is None:
        pass
    assert env.success()
    return env.recording()


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    path = tmp_path_factory.mktemp("kitchen") / "episode.npz"
    save_recording(path, episode(1))     # Kitchen2: the Apple is in the fridge
    return load_recording(path)


@pytest.fixture(scope="module")
def playback(recording: Recording) -> Playback:
    return DOMAIN.renderer(DOMAIN.options({}, preset="paper")).playback(
        recording, camera="plan", width=WIDTH, height=HEIGHT)


def near(picture: np.ndarray, colour: tuple[int, int, int], within: int = 70) -> int:
    return int((np.abs(picture.astype(int) - colour).sum(axis=-1) < within).sum())


def test_the_domain_can_be_drawn_without_any_graphics() -> None:
    assert isinstance(DOMAIN, Drawable)
    DOMAIN.renderer(DOMAIN.options({}, preset="paper")).require()


def test_the_episode_is_replayed_exactly(playback: Playback, recording: Recording) -> None:
    states = recording.states
    for row, moment in enumerate(playback.moments):
        held = next((kind for kind in ("apple", "bread") if states[f"{kind}_picked"][row]), None)
        assert (moment.held or "").lower() == (held or "")
        open_now = {text.partition(":")[0] for text in moment.conditions if ": open" in text}
        assert ("Fridge" in open_now) == states["fridge_open"][row]
        assert ("Microwave" in open_now) == states["microwave_open"][row]
        seen = sum(item.visible for item in moment.items) + (moment.held is not None)
        assert seen == states["visible_count"][row]
        failed = row > 0 and not recording.actions["action_success"][row - 1]
        assert bool(moment.message) == failed


def test_open_doors_and_a_running_microwave_are_painted(playback: Playback, recording: Recording) -> None:
    opened = int(np.argmax(recording.states["fridge_open"]))
    assert opened > 0
    assert near(playback.picture(opened), DOOR) > near(playback.picture(0), DOOR) + 20
    running = int(np.argmax(recording.states["microwave_on"]))
    assert near(playback.picture(running), GLOW) > 20 > near(playback.picture(0), GLOW)


def test_every_step_of_the_agent_is_seen(playback: Playback, recording: Recording) -> None:
    moved = np.flatnonzero(np.abs(np.diff(recording.states["agent_xz_m"], axis=0)).sum(axis=1))
    for row in moved[:5]:
        assert not np.array_equal(playback.picture(int(row)), playback.picture(int(row) + 1))


def test_captions_show_the_action_and_the_milestones(playback: Playback, recording: Recording) -> None:
    assert playback.caption(0) == ("Kitchen2: the start", f"0 of {len(MILESTONES)} milestones")
    assert playback.caption(recording.steps)[1] == "SUCCESS"
    picked = int(np.argmax(recording.states["bread_picked"]))
    assert playback.caption(picked) == ("pickup_object Bread: done", "1 of 5 milestones: Bread picked up")
    failed = np.flatnonzero(~recording.actions["action_success"])
    assert len(failed), "this episode has a failed action"
    row = int(failed[0]) + 1
    assert playback.caption(row)[0].endswith(("failed", "blocked", "collision", "precondition", "not visible"))
    assert playback.moments[row].message


def test_another_kitchen_of_the_same_name_is_detected(recording: Recording) -> None:
    def shrunk(name: str):
        kitchen = generated.load(name)
        return replace(kitchen, cells=frozenset([kitchen.start.cell]))

    renderer: Any = DOMAIN.renderer(DOMAIN.options({}, preset="paper"))
    renderer = replace(renderer, load=shrunk)
    with pytest.raises(UsageError, match="differs from the kitchen of the recording"):
        renderer.playback(recording, camera="plan", width=WIDTH, height=HEIGHT)


def test_a_recording_without_objects_is_refused(recording: Recording) -> None:
    actions = {name: rows for name, rows in recording.actions.items() if name != "action_object"}
    with pytest.raises(UsageError, match="no object ids"):
        DOMAIN.renderer(DOMAIN.options({}, preset="paper")).playback(
            replace(recording, actions=actions), camera="plan", width=WIDTH, height=HEIGHT)


def test_an_unknown_id_is_not_recorded() -> None:
    env = DOMAIN.environment(DOMAIN.options({}, preset="paper"))
    env.reset(index=0, seed=0)
    env.step(["open_object", "x" * 5000])
    env.step(["rotate_left", "Apple|1"])
    env.step(["move_ahead", None])
    recording = env.recording()
    assert recording.actions["action_object"].tolist() == ["", "", ""]
    assert recording.actions["action_object"].nbytes < 100
    playback = DOMAIN.renderer(DOMAIN.options({}, preset="paper")).playback(
        recording, camera="plan", width=WIDTH, height=HEIGHT)
    assert playback.caption(1)[0].startswith("open_object: ")
    assert playback.picture(3).shape == (HEIGHT, WIDTH, 3)


@needs_recordings
def test_recorded_kitchens_are_drawn_too() -> None:
    options = DOMAIN.options(
        {"backend": "recorded", "recordings": str(RECORDINGS), "scenes": ["FloorPlan1"]}, preset="paper")
    env = DOMAIN.environment(options)
    env.reset(index=0, seed=0)
    for action in (["rotate_left", None], ["move_ahead", None], ["done", None]):
        env.step(action)
    playback = DOMAIN.renderer(options).playback(env.recording(), camera="plan", width=WIDTH, height=HEIGHT)
    assert playback.picture(0).std() > 10
    assert playback.caption(3)[0] == "done: done"
