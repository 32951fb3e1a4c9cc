"""Changes that mean nothing: what they do to a recording."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from memento.core.invariances import INVARIANCES, WAIT_SHARE
from memento.core.recording import Recording


def recording(steps: int) -> Recording:
    rng = np.random.default_rng(steps)
    return Recording(
        states={"pos": rng.normal(size=(steps + 1, 3)), "time_s": 0.2 * np.arange(steps + 1),
                "step": np.arange(steps + 1), "done": np.arange(steps + 1) == steps},
        actions={"action": rng.normal(size=(steps, 2))}, constants={"size": np.ones(2)},
    )


@given(st.integers(2, 400))
def test_waiting_repeats_an_end_while_clocks_go_on(steps: int) -> None:
    made = recording(steps)
    before = {name: rows.copy() for name, rows in made.arrays().items()}
    more = max(1, round(WAIT_SHARE * steps))
    for name, place in (("waiting first", 0), ("waiting at the end", -1)):
        changed = INVARIANCES[name](made, np.random.default_rng(0))
        assert changed.steps == len(changed.actions["action"]) == steps + more
        assert (np.diff(changed.states["step"]) == 1).all() and np.allclose(np.diff(changed.states["time_s"]), 0.2)
        ends = changed.states["pos"][:more] if place == 0 else changed.states["pos"][-more:]
        assert (ends == made.states["pos"][place]).all()
        assert changed.states["done"].sum() == (1 if place == 0 else 1 + more)
    assert all((rows == before[name]).all() for name, rows in made.arrays().items())


def test_rounding_is_small_and_leaves_flags_clocks_and_actions() -> None:
    made = recording(50)
    changed = INVARIANCES["rounded otherwise"](made, np.random.default_rng(0))
    moved = np.abs(changed.states["pos"] - made.states["pos"])
    assert 0 < moved.max() < 1e-4
    for name in ("time_s", "step", "done"):
        assert (changed.states[name] == made.states[name]).all()
    assert changed.actions == made.actions and changed.constants == made.constants
