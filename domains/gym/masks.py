"""Masks of actions: a flag for each choice, the choices of one number after those of another."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from .actions import ActionReader
from .spaces import AT_RESET, MASK, MOST_AT_RESET, WHOLE, Leaf


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
