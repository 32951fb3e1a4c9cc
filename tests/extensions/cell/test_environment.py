"""A trial in the twin: what policies do wrong stops the arm, and is a fact of the recording."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from memento.extensions.cell.domain import DOMAIN
from memento.extensions.cell.environment import CellEnvironment
from memento.extensions.cell.scene_view import altered

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...conformance.renderer import RendererContract
from .conftest import LIGHT


class Subject:
    domain = "memento.extensions.cell.domain:DOMAIN"
    given = {"horizon": 8, "cell": LIGHT}


@pytest.mark.slow
class TestCell(Subject, DomainContract, EnvironmentContract):
    pass


@pytest.mark.slow
class TestCellRenderer(Subject, RendererContract):
    pass


@pytest.fixture(scope="module")
def environment() -> Iterator[CellEnvironment]:
    environment = CellEnvironment(DOMAIN.options({"cell": LIGHT, "horizon": 400}, preset="paper"))
    yield environment
    environment.close()


@pytest.mark.slow
def test_a_stop_ends_the_trial_and_says_why(environment: CellEnvironment) -> None:
    environment.reset(index=0, seed=1)
    ended = [environment.step(np.array([0, 0, 0, 0, 0, 0, np.nan]))]
    assert ended == ["stopped"] and not environment.success()
    info = environment.recording().info
    assert (info["stopped"], info["broken_rule"]) == ("action", "action")
    assert info["stopped_because"] == "the action is not seven finite numbers"


def test_objects_are_as_the_camera_sees_them_and_the_arm_is_exact(environment: CellEnvironment) -> None:
    environment.reset(index=0, seed=2)
    observed = environment.observe()
    states = environment.recording().states
    assert np.allclose(observed[:3], states["eef_pos"][0], atol=1e-6)
    error = np.linalg.norm(states["seen_cube_pos"][0] - states["cube_pos"][0], axis=1)
    assert 0.0 < error.max() < 0.015


@pytest.mark.slow
def test_a_film_shows_what_the_camera_sees_and_marks_where_cubes_were_seen(environment: CellEnvironment) -> None:
    environment.reset(index=0, seed=3)
    for _ in range(3):
        environment.step(np.zeros(7))
    recording = environment.recording()
    states = dict(recording.states)
    unmarked = replace(recording, states={name: rows for name, rows in states.items() if name != "seen_cube_pos"})
    options = DOMAIN.options({"cell": LIGHT}, preset="paper")
    pictures = []
    for shown in (recording, unmarked):
        with closing(DOMAIN.renderer(options).playback(shown, camera="camera", width=160, height=120)) as playback:
            pictures.append(playback.picture(3))
    marked = (pictures[0] != pictures[1]).any(axis=2)
    assert 4 * 20 < marked.sum() < 4 * 60
    camera = environment._hardware.camera
    camera.view.place(camera._pose)
    pixels, hits = camera.view.changed()
    ideal = altered(camera._paint.shaded(camera.view.still), pixels, camera._paint.shaded(hits)).reshape(120, 160, 3)
    assert (np.abs(pictures[1] - ideal) <= 1.0).all(axis=2).mean() > 0.999     # recordings are of single precision


@pytest.mark.slow
def test_silence_stops_an_arm_in_the_worlds_time() -> None:
    cell = {**LIGHT, "arm": {"pace": "real"}, "limits": {"dead_man_s": 0.3}}
    environment = CellEnvironment(DOMAIN.options({"cell": cell}, preset="paper"))
    try:
        environment.reset(index=0, seed=1)
        assert environment.step(np.zeros(7)) is None
        deadline = time.monotonic() + 60.0
        while not environment.recording().info["stopped"] and time.monotonic() < deadline:
            time.sleep(0.05)
        assert environment.step(np.zeros(7)) == "stopped"
        assert environment.recording().info["stopped"] == "dead-man"
    finally:
        environment.close()
