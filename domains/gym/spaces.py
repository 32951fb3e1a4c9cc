"""Spaces of observations and actions as plain data: a flat list of leaves, each with a name, a kind and a shape.

`leaves_of` reads Gymnasium's spaces; the rest of the package uses the leaves alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.values import JSON

MOST_NUMBERS: Final = 32_768        # in one observation: an image of 96 x 96 x 3 fits
MOST_ACTION_NUMBERS: Final = 1_024
TEXT: Final = "text"
MASK: Final = "action_mask"         # the field that says which choices are allowed
WHOLE: Final = ""                   # where the environment's observation is, if something is put next to it,
AT_RESET: Final = "at_reset"        # and where what `reset` alone says in `info` is
MOST_AT_RESET: Final = 256          # numbers of one of its entries
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One Box, Discrete, MultiDiscrete, MultiBinary or text within a space.

    `path` leads to it: keys of Dicts, places of Tuples. `low` and `high` bound every number, in the order of the
    flattened array; one number stands for all. `whole`: its numbers are integers.
    """

    name: str
    path: Path
    kind: str                       # "box", "discrete", "multi-discrete", "multi-binary" or "text"
    shape: tuple[int, ...]
    dtype: str
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        """The number of its numbers; 0 for a text."""
        return 0 if self.kind == TEXT else int(np.prod(self.shape, dtype=int))

    @property
    def whole(self) -> bool:
        """Whether its numbers are integers."""
        return np.dtype(self.dtype).kind in "iub"

    @property
    def is_mask(self) -> bool:
        """Whether its flags say which choices of an action are allowed."""
        return self.path[-1:] == (MASK,)

    @property
    def at_reset(self) -> bool:
        """Whether it is from the `info` of `reset`, and stays as it is in the episode."""
        return self.path[:1] == (AT_RESET,)

    def as_json(self) -> dict[str, JSON]:
        """Plain values."""
        values: dict[str, JSON] = {**asdict(self), "path": list(self.path), "shape": list(self.shape)}
        return {**values, "low": list(self.low), "high": list(self.high)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Leaf":
        """The leaf of `as_json`."""
        lists = {key: tuple(values[key]) for key in ("path", "shape", "low", "high")}
        return cls(**{**values, **lists})


def leaves_of(
    space: Any, *, root: str, reserved: Iterable[str] = (), scalars: bool = False
) -> tuple[Leaf, ...]:
    """The leaves of a Gymnasium space, in its order; `root` names a space that is no Dict.

    A Box of shape () has the shape (1,), as a policy sees it, or with `scalars` its own. Names are words, different
    from each other and from those in `reserved`. Raises UsageError for a kind of space that cannot be a vector.
    """
    found = list(_walk(space, ()))
    taken = {*reserved}
    leaves = []
    for path, leaf in found:
        parts = [root] if not path or isinstance(path[0], int) else []
        plain = re.sub(r"\W+", "_", "_".join(map(str, [*parts, *path]))).strip("_") or root
        name, count = plain if plain not in taken else f"{root}_{plain}", 2
        while name in taken:
            name, count = f"{root}_{plain}_{count}", count + 1
        taken.add(name)
        leaves.append(_leaf(leaf, name, path, scalars=scalars))
    return tuple(leaves)


def _walk(space: Any, path: Path) -> Iterable[tuple[Path, Any]]:
    inner = getattr(space, "spaces", None)
    if isinstance(inner, Mapping):
        for key, each in inner.items():
            yield from _walk(each, (*path, str(key)))
    elif isinstance(inner, Sequence) and type(space).__name__ == "Tuple":
        for place, each in enumerate(inner):
            yield from _walk(each, (*path, place))
    else:
        yield path, space


def _leaf(space: Any, name: str, path: Path, *, scalars: bool) -> Leaf:
    kinds = {each.__name__ for each in type(space).__mro__}

    def leaf(kind: str, shape: Sequence[int], low: Any, high: Any, dtype: Any = np.int64) -> Leaf:
        return Leaf(
            name=name, path=path, kind=kind, shape=tuple(int(size) for size in shape), dtype=np.dtype(dtype).name,
            low=_bounds(low), high=_bounds(high),
        )

    if "Box" in kinds:
        return leaf("box", space.shape if scalars else space.shape or (1,), space.low, space.high, space.dtype)
    if "Discrete" in kinds:
        return leaf("discrete", (1,), int(space.start), int(space.start) + int(space.n) - 1)
    if "MultiDiscrete" in kinds:
        starts = np.asarray(getattr(space, "start", np.zeros_like(space.nvec)))
        return leaf("multi-discrete", space.nvec.shape, starts, starts + space.nvec - 1)
    if "MultiBinary" in kinds:
        return leaf("multi-binary", space.shape, 0, 1, np.int8)
    if "Text" in kinds or isinstance(space.sample(), str):
        return Leaf(name=name, path=path, kind=TEXT, shape=(), dtype="str", low=(), high=())
    raise UsageError(
        f"the space {name!r} is a {type(space).__name__}, which is not supported: wrap the environment so that its "
        "spaces are made of Box, Discrete, MultiDiscrete, MultiBinary, Text, Dict and Tuple"
    )


def _bounds(values: Any) -> tuple[float, ...]:
    """The bounds as float64; one number if all are equal."""
    flat = np.asarray(values, dtype=np.float64).reshape(-1)
    return (float(flat[0]),) if flat.size and (flat == flat[0]).all() else tuple(flat.tolist())


def require_small(leaves: Sequence[Leaf], *, most: int, what: str) -> None:
    """Raises UsageError if the numbers of a space are too many to be passed at every step."""
    size = sum(leaf.size for leaf in leaves)
    if size > most:
        largest = max(leaves, key=lambda leaf: leaf.size)
        raise UsageError(
            f"{what} has {size} numbers, more than {most} (most of them in {largest.name!r} of shape "
            f"{list(largest.shape)}): use a wrapper that makes it smaller, such as gymnasium's ResizeObservation, or "
            "an argument of the environment (gym:ALE/...: --set gym.kwargs.obs_type=ram)"
        )


def has_text(leaves: Iterable[Leaf]) -> bool:
    """Whether a space holds a text, so that observations cannot be vectors."""
    return any(leaf.kind == TEXT for leaf in leaves)


def value_at(nested: Any, path: Path) -> Any:
    """The value of a leaf within an observation."""
    for step in path:
        nested = nested[step]
    return nested


def flat_vector(observation: Any, leaves: Sequence[Leaf]) -> NDArray[np.float64]:
    """An observation as a new flat float64 vector; texts are left out. Raises UsageError if it is not of its space."""
    if len(leaves) == 1 and not leaves[0].path and leaves[0].kind != TEXT:
        found = _numbers(observation, leaves[0])
        return found if found is not observation else found.copy()
    flat = np.empty(sum(leaf.size for leaf in leaves))
    start = 0
    for leaf in leaves:
        if leaf.kind != TEXT:
            try:
                value = value_at(observation, leaf.path)
            except (LookupError, TypeError):
                raise UsageError(f"the observation has no {_said(leaf)}, which its space has: add it, or take it out "
                                 "of observation_space") from None
            flat[start : start + leaf.size] = _numbers(value, leaf)
            start += leaf.size
    return flat


def _numbers(value: Any, leaf: Leaf) -> NDArray[np.float64]:
    """The numbers of a leaf, flat. One that is too large for a float is infinite. Raises UsageError."""
    try:
        numbers = np.asarray(value, dtype=np.float64).reshape(-1)
    except OverflowError:
        numbers = np.array([_number(each) for each in np.asarray(value, dtype=object).reshape(-1)])
    except (TypeError, ValueError):
        raise UsageError(f"the observation {_said(leaf)} is not an array of numbers, as its space promises") from None
    if numbers.size != leaf.size:
        raise UsageError(
            f"the observation {_said(leaf)} has {numbers.size} numbers, its space {leaf.size} (shape "
            f"{list(leaf.shape)}): correct observation_space, or make all of one size with gymnasium's "
            "TransformObservation, for example by padding"
        )
    return numbers


def _said(leaf: Leaf) -> str:
    return repr(".".join(map(str, filter(lambda step: step != WHOLE, leaf.path))) or leaf.name)


def _number(value: Any) -> float:
    """A number as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def split(rows: NDArray[Any], leaves: Sequence[Leaf]) -> dict[str, NDArray[Any]]:
    """Rows of flat vectors (T, size) as one array per leaf, (T, *shape), integers where the leaf's are."""
    found: dict[str, NDArray[Any]] = {}
    start = 0
    for leaf in leaves:
        if leaf.kind != TEXT:
            part = rows[:, start : start + leaf.size].reshape(len(rows), *leaf.shape)
            kept = np.dtype(leaf.dtype if leaf.dtype == "uint8" else np.int64 if leaf.whole else np.float64)
            found[leaf.name] = part.astype(kept)
            start += leaf.size
    return found
