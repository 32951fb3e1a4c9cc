"""The options of a Hanoi environment: names, defaults and validation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...core.errors import UsageError, no_such
from ...core.values import JSON
from .randomisation import PRESETS, QUANTITIES, Randomisation, Range
from .referee import RULES
from .task import N_CUBES

GOAL_UPDATES = ("achieved", "desired")
MAX_HORIZON = 1_000_000
_LARGE = 1e6
_SIGNED = frozenset({"bias_m", "world_offset_m", "initial_cube_xy_m", "object_bias_m", "container_yaw_rad"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options that all Hanoi environments share, checked and in their own types."""

    preset: str                     # the name of the randomisation preset
    randomisation: Randomisation    # its ranges, with single quantities replaced
    rules: str
    goal_update: str
    n_cubes: int
    horizon: int                    # control steps
    variant: str


def complete(
    given: Mapping[str, JSON], defaults: Mapping[str, JSON], *, domain: str,
    choices: Mapping[str, tuple[str, ...]], numbers: Mapping[str, tuple[float, float]],
    ranges: Mapping[str, Mapping[str, JSON]],
) -> dict[str, JSON]:
    """`given` over the preset's ranges over `defaults`, checked. Raises UsageError that names the invalid option.

    `choices` and `numbers` are the allowed values of domain-specific keys; `ranges` replaces quantities of a
    randomisation preset. Single quantities are set by name, "noise_std_m": [low, high] or a number.
    """
    known = (*defaults, *QUANTITIES)
    for key in given:
        if key not in known:
            raise no_such(f"option of {domain}", key, known)
    options = {**defaults, **given}
    preset = one_of(options, "randomisation", tuple(PRESETS), domain)
    options = {**defaults, **ranges.get(preset, {}), **given}
    settings(options, domain=domain)
    for key, names in choices.items():
        one_of(options, key, names, domain)
    for key, (low, high) in numbers.items():
        value = options[key]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise UsageError(f"{domain}.{key} cannot be {value!r}; it must be a number from {low:g} to {high:g}")
    return options


def settings(options: Mapping[str, JSON], *, domain: str) -> Settings:
    """Completed options in their own types. Raises UsageError."""
    preset = one_of(options, "randomisation", tuple(PRESETS), domain)
    ranges = {key: value_range(key, options[key], domain) for key in QUANTITIES if key in options}
    return Settings(
        preset=preset,
        randomisation=replace(PRESETS[preset], **ranges),
        rules=one_of(options, "rules", RULES, domain),
        goal_update=one_of(options, "goal_update", GOAL_UPDATES, domain),
        n_cubes=whole(options, "n_cubes", min(N_CUBES), max(N_CUBES), domain),
        horizon=whole(options, "horizon", 1, MAX_HORIZON, domain),
        variant=str(options["variant"]),
    )


def one_of(options: Mapping[str, JSON], key: str, known: tuple[str, ...], domain: str) -> str:
    """The option `key`, which must be one of the names in `known`. Raises UsageError."""
    value = options[key]
    if not isinstance(value, str) or value not in known:
        raise no_such(f"{domain}.{key}", str(value), known, cutoff=0.5)
    return value


def whole(options: Mapping[str, JSON], key: str, low: int, high: int, domain: str) -> int:
    """The option `key`, a whole number within these bounds. Raises UsageError."""
    value = options[key]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it must be a whole number from {low} to {high}")
    return value


def value_range(key: str, value: JSON, domain: str) -> Range:
    """A quantity's range from [low, high], or from one number for a fixed value."""
    pair = value if isinstance(value, list) else [value, value]
    numbers = [float(end) for end in pair if isinstance(end, (int, float)) and not isinstance(end, bool)]
    if len(pair) != 2 or len(numbers) != 2:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it must be [low, high] or one number")
    low, high = numbers
    if not -_LARGE < low <= high < _LARGE:      # false for NaN as well
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it must be two finite numbers, the lower one first")
    if key not in _SIGNED and low < 0.0:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it must not be negative")
    if key == "noise_correlation" and high >= 1.0:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it must be below 1")
    return low, high
