"""Changes of a recording that do not change what happened in it: f_e must not move by them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from .recording import Array, Recording

WAIT_SHARE: Final = 0.02    # of the steps of an episode, at least one step
ROUNDING: Final = 1e-6      # standard deviation of noise, as a share of a field's greatest magnitude

Change = Callable[[Recording, np.random.Generator], Recording]
"""Makes the changed recording; deterministic in the generator. It changes no array in place."""


def waiting_first(recording: Recording, rng: np.random.Generator) -> Recording:
    """The same episode a little later: nothing moves at first."""
    return _waiting(recording, 0)


def waiting_last(recording: Recording, rng: np.random.Generator) -> Recording:
    """The same episode with an idle tail: nothing moves after its end."""
    return _waiting(recording, -1)


def rounded_otherwise(recording: Recording, rng: np.random.Generator) -> Recording:
    """The same episode with noise of the size of rounding on every real-valued state."""
    return noisy(recording, rng, [name for name, rows in recording.states.items() if not _counts(rows)], ROUNDING)


def noisy(recording: Recording, rng: np.random.Generator, names: list[str], share: float) -> Recording:
    """The recording with normal noise on these states, `share` of each field's greatest magnitude; others stay."""
    states = dict(recording.states)
    for name in names:
        rows: Any = states[name]
        if rows.dtype.kind == "f":
            size = share * float(np.max(np.abs(np.nan_to_num(rows)), initial=0.0))
            states[name] = (rows + rng.normal(0.0, size, rows.shape)).astype(rows.dtype)
    return replace(recording, states=states)


INVARIANCES: Final[Mapping[str, Change]] = {
    "waiting first": waiting_first, "waiting at the end": waiting_last, "rounded otherwise": rounded_otherwise,
}
"""What holds in most tasks, by name. It does not where waiting has a price, such as a reward for each step."""


def _waiting(recording: Recording, place: int) -> Recording:
    """The recording with its first or last state repeated; clocks and counters go on."""
    steps = max(1, round(WAIT_SHARE * recording.steps))
    return replace(
        recording,
        states={name: _with_repeats(rows, place, steps) for name, rows in recording.states.items()},
        actions={name: _with_repeats(rows, place, steps) for name, rows in recording.actions.items()},
    )


def _with_repeats(rows: Array, place: int, steps: int) -> Array:
    if not len(rows):
        return rows
    if _counts(rows):
        counted: Any = rows
        more: Array = counted[-1] + (counted[1] - counted[0]) * np.arange(1, steps + 1)
        return np.concatenate([rows, more.astype(rows.dtype)])
    more = np.repeat(rows[place:][:1], steps, axis=0)
    return np.concatenate([more, rows] if place == 0 else [rows, more])


def _counts(rows: Array) -> bool:
    """Whether a field is a clock or a counter: one number that grows by the same amount at each step."""
    if rows.ndim != 1 or len(rows) < 3 or rows.dtype.kind not in "iuf":
        return False
    steps = np.diff(rows.astype(float))
    return bool(steps[0] > 0 and np.allclose(steps, steps[0]))
