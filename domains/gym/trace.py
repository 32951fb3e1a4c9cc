"""The recording of an episode: fields, actions, rewards, endings and the numbers of `info` as arrays."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.recording import MISSING, Array, Recording
from ...core.values import JSON
from .actions import ActionReader
from .description import Description, InfoField
from .options import Settings
from .perturbing import Draw
from .spaces import TEXT, Leaf, split

MOST_BYTES: Final = 48 << 20    # of a field over an episode; larger ones are not recorded


def recorded_fields(known: Description) -> tuple[Leaf, ...]:
    """The fields of an observation that a recording holds: not those that would be too large over an episode."""
    return tuple(leaf for leaf in known.observation if _bytes(leaf) * (known.horizon + 1) <= MOST_BYTES)


def _bytes(leaf: Leaf) -> int:
    return leaf.size * (1 if leaf.dtype == "uint8" else 8)


class Trace:
    """Collects the steps of one episode at a time."""

    def __init__(self, settings: Settings, reader: ActionReader) -> None:
        known = settings.description
        self._fields = known.observation
        self._kept = {leaf.name for leaf in recorded_fields(known)}
        images = all(leaf.dtype == "uint8" for leaf in known.observation)
        self._row_type = np.dtype(np.uint8 if images else np.float64)
        self._keep_rows = bool(self._kept - {leaf.name for leaf in known.observation if leaf.kind == TEXT})
        self._reader = reader
        self._info = settings.recorded_info
        self._goal = known.goal
        self._constants: dict[str, Array] = {
            "return_low": np.array([settings.low]), "return_high": np.array([settings.high]),
            "action_low": reader.low, "action_high": reader.high,
        }
        self._ranks_success = settings.ranks_success
        if self._ranks_success:
            self._constants["horizon"] = np.array([known.horizon])

    def begin(self, flat: NDArray[np.float64], texts: Mapping[str, str], *, seed: int, drawn: Draw | None) -> None:
        """Begin an episode with its first observation; `drawn` says how its physics are changed."""
        self._seed, self._drawn = seed, drawn
        self._rows: list[NDArray[Any]] = []
        self._texts: list[Mapping[str, str]] = []
        self._actions: list[NDArray[np.float64]] = []
        self._rewards: list[float] = []
        self._ends: list[tuple[bool, bool]] = []
        self._flags = [False]
        self._infos: list[list[Any]] = []
        self._odd: dict[str, str] = {}      # fields of `info` that were recorded as missing, and why
        self._observe(flat, texts)

    def add(
        self, flat: NDArray[np.float64], texts: Mapping[str, str], action: NDArray[np.float64], reward: float, *,
        terminated: bool, truncated: bool, info: Mapping[str, Any], success: bool,
    ) -> None:
        """Add a step; `success` is S if the episode ended now. The arrays are this recording's from now on."""
        self._flags.append(success)
        self._observe(flat, texts)
        self._actions.append(action)
        self._rewards.append(reward)
        self._ends.append((terminated, truncated))
        row = []
        for field in self._info:
            value, odd = _value_of_field(info, field)
            row.append(value)
            if odd and field.name not in self._odd:
                self._odd[field.name] = odd
        self._infos.append(row)

    def _observe(self, flat: NDArray[np.float64], texts: Mapping[str, str]) -> None:
        self._rows.append(flat.astype(self._row_type, copy=False) if self._keep_rows else flat[:0])
        self._texts.append(texts)

    def recording(self, *, total: float) -> Recording:
        """The episode so far; `total` is its return."""
        steps = len(self._rewards)
        states: dict[str, Array] = {}
        if self._keep_rows:
            rows = split(np.array(self._rows), self._fields)
            states = {name: part for name, part in rows.items() if name in self._kept}
        for leaf in self._fields:
            if leaf.kind == TEXT:
                states[leaf.name] = np.array([texts[leaf.name] for texts in self._texts])
        if not states:      # the observation is too large: the steps are still counted
            states["step"] = np.arange(steps + 1)
        if self._ranks_success:
            states["success"] = np.array(self._flags)
        actions = np.array(self._actions).reshape(steps, self._reader.size)
        ends = np.array(self._ends, dtype=bool).reshape(steps, 2)
        return Recording(
            states=states,
            actions={
                "action": actions.astype(np.int64) if self._reader.all_whole else actions,
                "reward": np.array(self._rewards, dtype=np.float64),
                "terminated": ends[:, 0].copy(), "truncated": ends[:, 1].copy(), **self._info_arrays(steps),
            },
            constants={name: value.copy() for name, value in self._constants.items()},
            info={"return": total, "environment_seed": self._seed, **self._physics_entry(), **self._missing()},
        )

    def _physics_entry(self) -> dict[str, JSON]:
        return {} if self._drawn is None else {"perturbed": dict(self._drawn.as_json())}

    def _missing(self) -> dict[str, JSON]:
        if not self._odd:
            return {}
        return {MISSING: ", ".join(f"{name} ({odd})" for name, odd in sorted(self._odd.items()))}

    def _info_arrays(self, steps: int) -> dict[str, Array]:
        arrays: dict[str, Array] = {}
        for place, field in enumerate(self._info):
            shape = (steps,) if field.size == 1 else (steps, field.size)
            arrays[field.name] = np.array([row[place] for row in self._infos], dtype=np.float64).reshape(shape)
        return arrays


def _value_of_field(info: Any, field: InfoField) -> tuple[Any, str]:
    """The value of this field in `info` and "", or NaN and what it is instead of numbers of that size."""
    missing = np.nan if field.size == 1 else np.full(field.size, np.nan)
    value = info
    try:
        for step in field.path:
            value = value[step]
    except (LookupError, TypeError):
        return missing, ""      # it may report this now and then
    if type(value) is float and field.size == 1:    # the common case
        return value, ""
    try:
        numbers = np.asarray(value, dtype=np.float64).reshape(-1)
    except OverflowError:
        return missing, "a number too large for a float"
    except Exception:  # noqa: BLE001 - a user's array may raise anything
        return missing, "no number"
    if numbers.size != field.size:
        return missing, f"{numbers.size} numbers, not {field.size}"
    return (float(numbers[0]) if field.size == 1 else numbers), ""
