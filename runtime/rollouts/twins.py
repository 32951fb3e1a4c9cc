"""Whether one program, and one evaluator, can run in two environments: in a domain's own and in its cheap twin."""

import numpy as np

from ...core.ports import Environment


def difference_of(environment: Environment, twin: Environment, *, seed: int) -> str:
    """What a program or an evaluator would notice first, in words; "" for nothing.

    Begins an episode with `seed` in both.
    """
    if environment.observation_layout != twin.observation_layout:
        return "the twin's observations have another layout"
    if environment.action_size != twin.action_size:
        return f"an action has {environment.action_size} numbers, the twin's {twin.action_size}"
    arrays, others = _arrays_of(environment, seed), _arrays_of(twin, seed)
    for name in sorted(arrays.keys() | others.keys()):
        if arrays.get(name) != others.get(name):
            where = "are recorded in one of them only" if name not in arrays or name not in others else "differ in form"
            return f"the recorded {name!r} {where}"
    return ""


def _arrays_of(environment: Environment, seed: int) -> dict[str, tuple[str, tuple[int, ...]]]:
    """The kind of numbers and the shape of a row, for every array of a recording."""
    environment.reset(index=0, seed=seed)
    recording = environment.recording()
    rows = {**recording.states, **recording.actions}
    found = {name: (array.dtype.kind, array.shape[1:]) for name, array in rows.items()}
    constants = {name: np.asarray(array) for name, array in recording.constants.items()}
    return found | {name: (array.dtype.kind, array.shape) for name, array in constants.items()}
