"""Hostile and broken policies in the twin: every limit holds for the hand as it is measured, not only as commanded."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from memento.core.values import JSON
from memento.extensions.cell.domain import DOMAIN
from memento.extensions.cell.environment import CellEnvironment
from memento.extensions.cell.hardware import PERIOD_S

from ...support.nightly import first_and_nightly

LIGHT: dict[str, JSON] = {
    "segmenter": {"kind": "truth"}, "grounding": {"container_frames": 1},
    "camera": {"width": 160, "height": 120, "focal_px": 200.0, "every_steps": 20},
}
STEPS = 120
Act = Callable[[int, np.ndarray, np.random.Generator], list[float]]     # step, the hand's place, a generator


def towards(place: list[float], *turn: float) -> Act:
    """Fly to a place at full speed."""
    return lambda step, eef, rng: [*np.clip(20 * (np.array(place) - eef), -1, 1), *(turn or (0, 0, 0)), 0]


def always(*action: float) -> Act:
    return lambda step, eef, rng: [*action]


def alternating(every: int, *action: float) -> Act:
    return lambda step, eef, rng: [value * (-1) ** (step // every) for value in action]


def one(place: int, sign: float) -> Act:
    """Full command on one axis."""
    return always(*(sign if place == each else 0.0 for each in range(7)))


HOSTILE: dict[str, Act] = {
    **{f"into {name}": towards(place) for name, place in {
        "the table": [0.10, 0.12, 0.70], "the table's corner": [0.24, 0.39, 0.50], "the tower": [0.055, -0.25, 0.70],
        "the tower from its side": [0.055, -0.35, 0.85], "container B": [0.015, 0.0, 0.70],
        "container C": [0.06, 0.25, 0.70], "the far border": [0.9, 0.0, 1.0], "its own base": [-0.9, 0.0, 1.0],
        "the left": [0.0, -2.0, 1.0], "the right": [0.0, 2.0, 1.0], "the ceiling": [0.0, 0.0, 3.0],
        "the upper corner": [1.0, 1.0, 3.0], "the lower corner": [1.0, -1.0, 0.0], "a cube": [0.055, -0.39, 0.90],
    }.items()},
    **{f"full {axis}{sign:+d}": one(place, sign) for place, axis in enumerate("xyz") for sign in (1, -1)},
    **{f"turns {axis}{sign:+d}": one(3 + place, sign) for place, axis in enumerate("xyz") for sign in (1, -1)},
    **{f"there and back every {n}": alternating(n, 1, 1, 1, 0, 0, 0, 0) for n in (1, 2, 3, 5, 8, 13)},
    **{f"turns to and fro every {n}": alternating(n, 0, 0, 0, 1, 1, 1, 0) for n in (1, 4, 9)},
    **{f"hammers its fingers every {n}": alternating(n, 0, 0, 0, 0, 0, 0, 1) for n in (1, 3)},
    "grips in the air and dives": lambda step, eef, rng: [0, 0, -1, 0, 0, 0, 1],
    "not a number": always(*[float("nan")] * 7),
    "not a number later": lambda step, eef, rng: [float("nan") if step > 20 else 0.5] * 7,
    "infinite": always(float("inf"), 0, 0, 0, 0, 0, 0),
    "far too much": always(1e300, -1e300, 1e300, 1e300, 0, 0, 9),
    "six numbers": always(*[0.0] * 6),
    "nothing at all": always(),
    "all ones": always(*[1.0] * 7),
    "all minus ones": always(*[-1.0] * 7),
    "silence": always(*[0.0] * 7),
    "noise": lambda step, eef, rng: rng.uniform(-1, 1, 7).tolist(),
    "noise with large values": lambda step, eef, rng: rng.standard_cauchy(7).tolist(),
    "waves": lambda step, eef, rng: np.sin(step / 7 + np.arange(7) * 1.7).tolist(),
    "to the border and back": lambda step, eef, rng: [1 if eef[0] < 0.2 else -1, 0, 0, 0, 0, 0, 0],
    "dives and turns": towards([0.1, 0.1, 0.6], 0, 0, 1),
    "circles": lambda step, eef, rng: [np.cos(step / 4), np.sin(step / 4), 0, 0, 0, 0, 0],
    "runs up to the border": lambda step, eef, rng: [0, 1 if step % 40 < 35 else -1, 0, 0, 0, 0, 0],
}
assert len(HOSTILE) >= 50


@pytest.fixture(scope="module")
def environment() -> Iterator[CellEnvironment]:
    environment = CellEnvironment(DOMAIN.options({"cell": LIGHT, "horizon": 400}, preset="paper"))
    yield environment
    environment.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", first_and_nightly(*HOSTILE))
def test_the_measured_hand_keeps_every_limit(environment: CellEnvironment, name: str) -> None:
    environment.reset(index=0, seed=7)
    rng = np.random.default_rng(3)
    for step in range(STEPS):
        action = HOSTILE[name](step, environment.observe()[:3], rng)
        if environment.step(np.array(action, dtype=float)) is not None:
            break
    states, limits = environment.recording().states, environment.limits
    eef, quat = (np.asarray(states[key], dtype=float) for key in ("eef_pos", "eef_quat"))
    assert (eef >= limits.low_m).all() and (eef <= limits.high_m).all()
    assert _speeds(eef).max() <= limits.speed_m_s
    assert _speeds(states["waypoint_pos"][1:]).max(initial=0.0) <= limits.speed_m_s
    cosines = np.clip(np.abs((quat[1:] * quat[:-1]).sum(axis=1)), 0.0, 1.0)
    assert (2 * np.arccos(cosines) / PERIOD_S).max() <= limits.turn_rad_s
    down = 2 * (quat[:, 0] ** 2 + quat[:, 1] ** 2) - 1
    assert np.arccos(np.clip(down, -1.0, 1.0)).max() <= limits.tilt_rad
    # A collision's first force is not bounded, but no force beyond the limit lasts.
    pressed = np.linalg.norm(states["force_n"], axis=1) > limits.force_n
    assert "1" * (limits.force_steps + 2) not in "".join("1" if each else "0" for each in pressed)


def _speeds(path: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(path, axis=0), axis=1) / PERIOD_S
