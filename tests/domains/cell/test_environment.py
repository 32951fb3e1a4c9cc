"""A trial in the twin: what policies do wrong stops the arm, and is a fact of the recording."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from memento.core.values import JSON
from memento.domains.cell import DOMAIN
from memento.domains.cell.environment import CellEnvironment

from ...conformance.domain import DomainContract
from ...conformance.environment import EnvironmentContract
from ...support.nightly import first_and_nightly

LIGHT: dict[str, JSON] = {
    "segmenter": {"kind": "truth"}, "grounding": {"container_frames": 1},
    "camera": {"width": 160, "height": 120, "focal_px": 200.0, "every_steps": 4},
}
Act = Callable[[int, np.ndarray], list[float]]


class TestCell(DomainContract, EnvironmentContract):
    domain = "memento.domains.cell:DOMAIN"
    given = {"horizon": 8, "cell": LIGHT}


@pytest.fixture(scope="module")
def environment() -> Iterator[CellEnvironment]:
    environment = CellEnvironment(DOMAIN.options({"cell": LIGHT, "horizon": 400}, preset="paper"))
    yield environment
    environment.close()


def towards(place: list[float]) -> Act:
    """Fly to a place at full speed."""
    return lambda step, eef: [*np.clip(20 * (np.array(place) - eef), -1, 1), 0, 0, 0, 0]


HOSTILE: dict[str, tuple[Act, set[str]]] = {
    "into the table": (towards([0.10, 0.12, 0.7]), {"box", "force"}),
    "into the tower": (towards([0.055, -0.25, 0.7]), {"box", "force"}),
    "through a container": (towards([0.015, 0.0, 0.7]), {"box", "force"}),
    "out of the box": (towards([0.9, 0.0, 1.0]), {"box"}),
    "behind the base": (towards([-0.9, 0.0, 1.0]), {"box"}),
    "tips the tool over": (lambda step, eef: [0, 0, 0, 1, 0, 0, 0], {"tilt"}),
    "shakes": (lambda step, eef: [(-1) ** step] * 3 + [0] * 4, set()),
    "not a number": (lambda step, eef: [float("nan")] * 7 if step > 5 else [0] * 7, {"action"}),
    "far too much": (lambda step, eef: [1e300, -1e300, 1e300, 0, 0, 0, 9], {"box", "astray"}),
}


@pytest.mark.parametrize("name", first_and_nightly(*HOSTILE))
def test_a_hostile_policy_is_stopped_within_the_limits(environment: CellEnvironment, name: str) -> None:
    act, words = HOSTILE[name]
    environment.reset(index=0, seed=7)
    ended = None
    for step in range(200):
        eef = environment.observe()[:3]
        ended = environment.step(np.array(act(step, eef), dtype=float))
        if ended is not None:
            break
    recording = environment.recording()
    limits = environment.limits
    paths = {key: recording.states[key] for key in ("eef_pos", "waypoint_pos")}
    slack = {"eef_pos": 0.02, "waypoint_pos": 1e-6}
    for key, path in paths.items():
        assert (path >= np.array(limits.low_m) - slack[key]).all()
        assert (path <= np.array(limits.high_m) + slack[key]).all()
    speeds = np.linalg.norm(np.diff(paths["waypoint_pos"][1:], axis=0), axis=1) / 0.05
    assert speeds.max() <= limits.speed_m_s + 1e-4
    if words:
        assert recording.info["stopped"] in words or ended == "illegal", (name, recording.info["stopped_because"])


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
