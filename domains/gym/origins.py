"""Where the numbers of an observation come from, found by comparing values along an episode. For the helper process.

A number has a source if the two were equal at every step, and took several values. Sources are the state of MuJoCo,
`info`, the environment's own numbers and those of the objects that it holds, and what their methods `get_…` return.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .mujoco_model import model_and_data, state_names

STEPS: Final = 40               # of the episode that is compared
MOST_NUMBERS: Final = 256       # of one source
MOST_SOURCES: Final = 400
_BODIES: Final = ("position", "angle", "velocity", "angular_velocity", "linearVelocity", "angularVelocity", "speed")
SOME, MANY = 3, 6               # different values that one number had: of a whole source, and of a part of one
_SLOW: Final = re.compile("image|frame|camera|render|pixel|rgb|depth|screen|input|key|mouse|event")
_NOTHING: Final = "not found in the environment's state"
Row = Mapping[str, NDArray[np.float64]]


def sources_of(env: Any, info: Mapping[str, Any]) -> dict[str, NDArray[np.float64]]:
    """By name, the numbers that the environment holds or reports now, the best name for a number first."""
    found: dict[str, NDArray[np.float64]] = {}
    bare = env.unwrapped
    for name, value in (*_of_mujoco(bare), *_of_info(info, ""), *_of_object(bare, "", 2)):
        if len(found) < MOST_SOURCES:
            found.setdefault(name, value)
    return found


def _numbers(value: Any) -> NDArray[np.float64] | None:
    """A number or a small array of them, flat; None for anything else."""
    if isinstance(value, bool | np.bool_ | str | bytes) or value is None:
        return None
    with suppress(Exception):
        array = np.asarray(value)
        if array.dtype.kind in "iuf" and 0 < array.size <= MOST_NUMBERS:
            return array.astype(np.float64).reshape(-1)
    return None


def _of_info(info: Mapping[Any, Any], path: str) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for key, value in info.items():
        if isinstance(value, Mapping):
            if path.count(".") < 2:
                yield from _of_info(value, f"{path}{key}.")
        elif (array := _numbers(value)) is not None:
            yield f"{path}{key}", array


def _of_mujoco(bare: Any) -> Iterator[tuple[str, NDArray[np.float64]]]:
    model, data = model_and_data(bare)
    if model is not None and data is not None:
        yield from ((name, np.array(getattr(data, name), dtype=np.float64).reshape(-1)) for name in state_names(model))


def _of_object(held: Any, path: str, depth: int) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """What `get_…` returns, then attributes, then those of objects within."""
    home = str(getattr(type(held), "__module__", "")).partition(".")[0]
    if home in ("builtins", "numpy", "gymnasium") and path:
        return
    getters = [each for each in dir(type(held))
               if (each.startswith("get_") and not _SLOW.search(each)) or each in _BODIES]
    for name in getters:
        if not path and "obs" in name:
            continue        # the whole observation again
        with suppress(Exception, SystemExit):
            member = getattr(held, name)
            if callable(member):
                given = inspect.signature(member).parameters.values()
                member = member() if all(each.default is not each.empty for each in given) else None
            if (array := _numbers(member)) is not None:
                yield f"{path}{name}", array
    inner = vars(held) if hasattr(held, "__dict__") else {}
    for name, value in inner.items():
        whole = not path and re.search(r"obs|state$", name)
        if not name.startswith("__") and not whole and (array := _numbers(value)) is not None:
            yield f"{path}{name}", array
    if depth:
        for name, value in inner.items():
            if name.startswith("_") or callable(value):
                continue
            for place, each in enumerate(value[:8] if isinstance(value, list | tuple) else [value]):
                where = f"{name}[{place}]" if isinstance(value, list | tuple) else name
                yield from _of_object(each, f"{path}{where}.", depth - 1)


def origins(
    observed: NDArray[np.float64], sources: Sequence[Row], names: Mapping[str, Sequence[str]],
) -> tuple[tuple[str, int], ...]:
    """What consecutive numbers of a field are, from its rows (steps, numbers) and the sources at the same steps.

    `names` has names for the single numbers of some sources. Empty if no number was found anywhere.
    """
    known = {name: np.array([each[name] for each in sources]) for name in sources[0]
             if all(name in each and each[name].shape == sources[0][name].shape for each in sources)}
    parts: list[tuple[str, int]] = []
    place, found = 0, False
    while place < observed.shape[1]:
        label, length = _longest(observed[:, place:], known, names)
        found = found or label != _NOTHING
        if parts and parts[-1][0] == label == _NOTHING:
            parts[-1] = (label, parts[-1][1] + length)
        else:
            parts += _one_by_one(label, length, names)
        place += length
    return tuple(parts) if found else ()


def _longest(
    observed: NDArray[np.float64], known: Mapping[str, NDArray[np.float64]], names: Mapping[str, Sequence[str]],
) -> tuple[str, int]:
    """The source that agrees with most numbers from the first on, and how many; one of them took several values."""
    best, most = _NOTHING, 0
    for name, values in known.items():
        equal = np.isclose(observed[:, :1], values, rtol=1e-5, atol=1e-7).all(axis=0)
        for first in np.flatnonzero(equal):
            size = min(observed.shape[1], values.shape[1] - first)
            same = np.isclose(observed[:, :size], values[:, first : first + size], rtol=1e-5, atol=1e-7).all(axis=0)
            length = int(size if same.all() else same.argmin())
            varied = max((len(np.unique(observed[:, at])) for at in range(length)), default=0)
            if length > most and varied >= (SOME if length == values.shape[1] else MANY):
                best, most = (f"{name}" if length == values.shape[1] else f"{name}[{first}:{first + length}]"), length
    return best, max(most, 1)


def _one_by_one(label: str, length: int, names: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    """The part, or its single numbers where the source has names for them."""
    name, _, span = label.partition("[") if "." not in label else (label, "", "")
    if name not in names:
        return [(label, length)]
    first = int(span.partition(":")[0]) if span else 0
    return [(each, 1) for each in names[name][first : first + length]]
