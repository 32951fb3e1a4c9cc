"""The options of a Hanoi environment: what can be set, what it defaults to, what is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ...core.errors import UsageError
from ...core.values import JSON
from .randomisation import PRESETS, QUANTITIES, Randomisation, Range
from .referee import RULES
from .task import N_CUBES

GOAL_UPDATES = ("achieved", "desired")
VARIANTS = ("cube",)
KEYS = ("randomisation", "rules", "goal_update", "n_cubes", "horizon", "variant", *QUANTITIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of an environment, checked and in their own types."""

    preset: str                     # the name of the randomisation preset
    randomisation: Randomisation    # its ranges, with single quantities replaced
    rules: str
    goal_update: str
    n_cubes: int
    horizon: int                    # control steps
    variant: str


def complete(
    given: Mapping[str, JSON], defaults: Mapping[str, JSON], *, domain: str,
    variants: tuple[str, ...] = VARIANTS,
) -> dict[str, JSON]:
    """`given` over `defaults`, checked. Raises UsageError that names the option and what it may be."""
    for key in given:
        if key not in KEYS:
            raise UsageError(f"{domain} has no option {key!r}; did you mean {nearest(key, KEYS)}?")
    options = {**defaults, **given}
    settings(options, domain=domain, variants=variants)
    return options


def settings(
    options: Mapping[str, JSON], *, domain: str, variants: tuple[str, ...] = VARIANTS,
) -> Settings:
    """Completed options in their own types. Raises UsageError."""
    preset = _choice(options, "randomisation", tuple(PRESETS), domain)
    ranges = {key: _range(key, options[key], domain) for key in QUANTITIES if key in options}
    return Settings(
        preset=preset,
        randomisation=replace(PRESETS[preset], **ranges),
        rules=_choice(options, "rules", RULES, domain),
        goal_update=_choice(options, "goal_update", GOAL_UPDATES, domain),
        n_cubes=_whole(options, "n_cubes", min(N_CUBES), max(N_CUBES), domain),
        horizon=_whole(options, "horizon", 1, 1_000_000, domain),
        variant=_choice(options, "variant", variants, domain),
    )


def nearest(word: str, known: tuple[str, ...]) -> str:
    """The known names closest to `word`, for a message; all of them where none is close."""
    return " or ".join(get_close_matches(word, known, n=3, cutoff=0.5)) or ", ".join(known)


def _choice(options: Mapping[str, JSON], key: str, known: tuple[str, ...], domain: str) -> str:
    value = options[key]
    if value not in known or not isinstance(value, str):
        raise UsageError(
            f"{domain}.{key} cannot be {value!r}; did you mean {nearest(str(value), known)}?"
            f" It is one of {', '.join(known)}."
        )
    return value


def _whole(options: Mapping[str, JSON], key: str, low: int, high: int, domain: str) -> int:
    value = options[key]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it is a whole number from {low} to {high}.")
    return value


_NOT_NEGATIVE = tuple(name for name in QUANTITIES if name not in (
    "bias_m", "world_offset_m", "initial_cube_xy_m", "object_bias_m", "container_yaw_rad"))


def _range(key: str, value: JSON, domain: str) -> Range:
    """A quantity's range from [low, high], or from one number for a fixed value."""
    pair = value if isinstance(value, list) else [value, value]
    numbers = [float(end) for end in pair if isinstance(end, (int, float)) and not isinstance(end, bool)]
    if len(pair) != 2 or len(numbers) != 2:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it is [low, high] or one number.")
    low, high = numbers
    if not -1e6 < low <= high < 1e6:     # False for NaN as well
        raise UsageError(f"{domain}.{key} cannot be {value!r}; two plain numbers, the lower one first.")
    if key in _NOT_NEGATIVE and low < 0.0:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it cannot be negative.")
    if key == "noise_correlation" and high >= 1.0:
        raise UsageError(f"{domain}.{key} cannot be {value!r}; it lies below 1.")
    return low, high
