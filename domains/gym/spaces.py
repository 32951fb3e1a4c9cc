"""Spaces of observations and actions as plain data: a flat list of leaves, each with a name, a kind and a shape.

`leaves_of` reads Gymnasium's spaces; the rest of the package uses the leaves alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.ports import InvalidAction
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


# Masks of actions: a flag for each choice, the choices of one number after those of another.


def choices_of(leaves: Sequence[Leaf]) -> tuple[int, ...]:
    """How many choices each number of an action has; () if some number is not a choice."""
    if not all(leaf.kind in ("discrete", "multi-discrete", "multi-binary") for leaf in leaves):
        return ()
    reader = ActionReader(leaves)
    return tuple(int(count) for count in reader.high - reader.low + 1)


def flat_mask(value: Any, choices: Sequence[int]) -> NDArray[np.bool_]:
    """A mask in any nesting as flags, one for each choice. Raises UsageError if it has another size."""
    parts = value if isinstance(value, tuple | list) else [value]
    flags: NDArray[np.bool_] = np.concatenate([np.asarray(part).reshape(-1) for part in parts]).astype(bool)
    if flags.size != sum(choices):
        raise UsageError(f"the environment's {MASK} has {flags.size} flags where the action space has {sum(choices)} "
                         "choices: give one for each, those of a MultiDiscrete one after the other")
    return flags


def with_mask(leaves: Sequence[Leaf], choices: Sequence[int]) -> tuple[Leaf, ...]:
    """The leaves of an observation that has the mask next to it."""
    taken = {leaf.name for leaf in leaves}
    return (*_beside(leaves), Leaf(
        name=MASK if MASK not in taken else f"{MASK}_now", path=(MASK,), kind="multi-binary", shape=(sum(choices),),
        dtype="int8", low=(0.0,), high=(1.0,),
    ))


def with_reset_info(
    leaves: Sequence[Leaf], info: Mapping[str, Any], later: Mapping[str, Any], reserved: Iterable[str]
) -> tuple[Leaf, ...]:
    """The leaves of an observation that has next to it what the `info` of `reset` holds and `later` ones do not.

    Such as a goal: numbers and arrays of at most `MOST_AT_RESET` numbers. Without any the leaves are as they were.
    """
    plain = (bool, int, float, np.generic, np.ndarray)
    found = {key: np.asarray(value) for key, value in info.items()
             if key not in later and isinstance(key, str) and isinstance(value, plain)}
    found = {key: value for key, value in found.items()
             if value.dtype.kind in "biuf" and 0 < value.size <= MOST_AT_RESET}
    if not found:
        return tuple(leaves)
    taken = {*reserved, *(leaf.name for leaf in leaves)}
    return (*_beside(leaves), *(Leaf(
        name=name if (name := re.sub(r"\W+", "_", key).strip("_")) and name not in taken else f"{AT_RESET}_{name}",
        path=(AT_RESET, key), kind="box", shape=value.shape or (1,), dtype="float64", low=(-np.inf,), high=(np.inf,),
    ) for key, value in found.items()))


def _beside(leaves: Sequence[Leaf]) -> tuple[Leaf, ...]:
    """The leaves where other fields are next to the environment's own observation."""
    if any(leaf.path[:1] in ((WHOLE,), (AT_RESET,)) for leaf in leaves):
        return tuple(leaves)
    return tuple(replace(leaf, path=(WHOLE, *leaf.path)) for leaf in leaves)


# Actions of a policy, flat vectors, as values of the environment's action space: clipped or refused.


MOST_LISTED: Final = 12     # choices in a sentence
NEAR: Final = 1e-9      # how close to an integer a number must be to count as one


class ActionReader:
    """Turns flat float64 vectors into actions of a space with these leaves.

    Numbers of a Box of floats are clipped to its bounds. Integers are demanded exactly: anything else raises
    InvalidAction with one sentence.
    """

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._leaves = tuple(leaves)
        self.size = sum(leaf.size for leaf in leaves)
        self.low = _spread(leaves, "low")
        self.high = _spread(leaves, "high")
        self.all_whole = all(leaf.whole for leaf in leaves)
        self.whole = np.concatenate([np.full(leaf.size, leaf.whole) for leaf in leaves])
        self._any_whole = bool(self.whole.any())
        self._only = (float(self.low[0]), float(self.high[0])) if self.size == 1 and self.all_whole else None
        self._box = leaves[0] if len(leaves) == 1 and not leaves[0].path and leaves[0].kind == "box" else None
        self._dtype = np.dtype(leaves[0].dtype)

    def accepted_vector(self, action: NDArray[np.float64]) -> NDArray[np.float64]:
        """The vector that the environment gets: a new one, clipped. Raises InvalidAction."""
        if not self._any_whole:
            return np.minimum(np.maximum(action, self.low), self.high)
        if self._only is not None:      # one choice, in plain numbers: numpy takes several times as long
            number, (low, high) = float(action[0]), self._only
            if low - NEAR <= number <= high + NEAR and abs(number - round(number)) <= NEAR:
                return np.array([float(round(number))])
        rounded = np.rint(action)
        bad = self.whole & ((np.abs(action - rounded) > NEAR) | (rounded < self.low) | (rounded > self.high))
        if bad.any():
            place = int(np.argmax(bad))
            raise InvalidAction(
                f"action[{place}] is {action[place]:g}; it must be an integer from {self.low[place]:g} to "
                f"{self.high[place]:g}"
            )
        return np.where(self.whole, rounded, np.clip(action, self.low, self.high))

    def idle(self, mask: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """0 in every place, or the bound next to it; the first choice that `mask` allows where it forbids this one."""
        plain = np.clip(np.zeros(self.size), self.low, self.high)
        if mask is not None:
            for place, allowed in self._allowed_choices(mask):
                if plain[place] not in allowed:
                    plain[place] = allowed[0]
        return plain

    def refusal(self, accepted: NDArray[np.float64], mask: NDArray[np.bool_]) -> str:
        """Which choice of an accepted vector the mask forbids, in a sentence; "" for none."""
        for place, allowed in self._allowed_choices(mask):
            if accepted[place] not in allowed:
                shown = ", ".join(f"{each:g}" for each in allowed[:MOST_LISTED])
                return (f"action[{place}] is {accepted[place]:g}, which {MASK} does not allow in this state; it allows "
                        f"{shown}{' and more' if len(allowed) > MOST_LISTED else ''}")
        return ""

    def _allowed_choices(self, mask: NDArray[np.bool_]) -> Iterable[tuple[int, NDArray[np.float64]]]:
        """The places of an action with the choices that are allowed there; none where a mask allows nothing."""
        start = 0
        for place in range(self.size):
            count = int(self.high[place] - self.low[place]) + 1
            allowed = self.low[place] + np.flatnonzero(mask[start : start + count])
            start += count
            if allowed.size:
                yield place, allowed

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Finite bounds, low and high: an infinite one counts as 1 from 0, or from the other bound."""
        low = np.where(np.isfinite(self.low), self.low, np.minimum(-1.0, self.high - 1.0))
        high = np.where(np.isfinite(self.high), self.high, np.maximum(1.0, self.low + 1.0))
        return low, high

    def random_vector(self, rng: np.random.Generator, mask: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """A uniform draw from the finite bounds, or of what `mask` allows."""
        if mask is not None:
            found = self.idle()
            for place, allowed in self._allowed_choices(mask):
                found[place] = rng.choice(allowed)
            return found
        low, high = self.bounds()
        real = low + (high - low) * rng.random(self.size)
        whole = np.minimum(np.floor(low + (high - low + 1.0) * rng.random(self.size)), high)
        return np.where(self.whole, whole, real)

    def native(self, accepted: NDArray[np.float64]) -> Any:
        """The value of the action space for an accepted vector."""
        if self._box is not None:
            return accepted.astype(self._dtype).reshape(self._box.shape)
        if self._only is not None and self._leaves[0].kind == "discrete" and not self._leaves[0].path:
            return np.int64(accepted[0])    # as `sample` of the space gives it: some environments call its methods
        root: dict[Any, Any] = {}
        start = 0
        for leaf in self._leaves:
            part = accepted[start : start + leaf.size]
            start += leaf.size
            value = np.int64(part[0]) if leaf.kind == "discrete" else part.astype(leaf.dtype).reshape(leaf.shape)
            if not leaf.path:
                return value
            inner = root
            for step in leaf.path[:-1]:
                inner = inner.setdefault(step, {})
            inner[leaf.path[-1]] = value
        return _tuples(root)


def vector_of(action: Sequence[Any], size: int) -> NDArray[np.float64]:
    """A JSON action as a vector. Raises InvalidAction."""
    numbers = all(isinstance(number, int | float) and not isinstance(number, bool) for number in action)
    if len(action) != size or not numbers or not np.isfinite(np.array(action, dtype=np.float64)).all():
        raise InvalidAction(f"the action is not a list of {size} finite numbers")
    return np.array(action, dtype=np.float64)


def _tuples(node: Any) -> Any:
    """Dicts whose keys are places become tuples, as a Tuple space has them."""
    if not isinstance(node, dict):
        return node
    if all(isinstance(key, int) for key in node):
        return tuple(_tuples(node[key]) for key in sorted(node))
    return {key: _tuples(value) for key, value in node.items()}


def _spread(leaves: Sequence[Leaf], which: str) -> NDArray[np.float64]:
    return np.concatenate([np.broadcast_to(np.array(getattr(leaf, which)), (leaf.size,)) for leaf in leaves])
