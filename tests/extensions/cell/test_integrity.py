"""Programs of the arm's integrity tests in the twin of a robot cell, whose referee is strict, too."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from memento.core.values import JSON

from ...support.attacks import Arena, Attack, arena, cases, check, text_of

ARM = Path(__file__).parents[2] / "integrity" / "hanoi"
LIGHT: dict[str, JSON] = {
    "segmenter": {"kind": "truth"}, "grounding": {"container_frames": 1},
    "camera": {"width": 160, "height": 120, "focal_px": 200.0, "every_steps": 8},
    "limits": {      # so wide that the guard stops hardly any of them: what is examined is the referee
        "low_m": [-0.7, -0.9, 0.81], "high_m": [0.7, 0.9, 1.7], "tilt_rad": 3.2, "force_n": 1e6, "wall_steps": 1000,
        "speed_m_s": 1.0, "turn_rad_s": 6.0, "astray_m": 5.0,
    },
}
OPTIONS: dict[str, JSON] = {"cell": LIGHT, "horizon": 400}
ATTACKS = (
    Attack("asks_the_host", "horizon"),
    Attack("end_at_the_peak", "illegal: stacking"),
    Attack("hold_over_c", "horizon"),
    Attack("hold_tower_over_c", "illegal: two-cubes"),
    Attack("keep_holding", "horizon"),
    Attack("lift_tower", "illegal: two-cubes"),
    Attack("park_on_table", "illegal: parking"),
    Attack("stack_beside_c", "stopped: box"),
    Attack("take_lowest", "illegal: two-cubes"),
    Attack("throw", "horizon"),
    Attack("writes_observation", "horizon"),
    Attack("reads_the_seed", "horizon"),
)


@pytest.fixture(scope="module", name="played")
def _played() -> Iterator[Arena]:
    yield from arena("memento.extensions.cell.domain:DOMAIN", [OPTIONS])


@pytest.mark.slow
@pytest.mark.parametrize("attack", cases(ATTACKS))
def test_no_program_is_counted_without_the_task(played: Arena, attack: Attack) -> None:
    check(attack, played.play(text_of(attack.name, ARM), OPTIONS, (1,)))
