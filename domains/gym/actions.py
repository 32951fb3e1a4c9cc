"""Actions of a policy, flat vectors, as values of the environment's action space: clipped or refused."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.ports import InvalidAction
from .spaces import MASK, Leaf

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
