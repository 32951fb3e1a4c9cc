"""The values of a program's constants in a tuning: as points, as words, and as what a later tuning goes on from. Pure.

The rules of a tuning are in `slot`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....core.events import ConstantsTried
from ....core.faults import Fault, FaultKind
from ....core.programs.constants import Constant, with_values
from ....core.programs.program_text import MAX_SUMMARY, digest
from ....core.text import one_line, plural
from ....core.values import Program, TunedConstant
from .optimisers import CmaSearch, Optimiser, Point, Tried, own_point

PARTS = 3  # of the tried values of a constant, compared to find whether the fitness depends on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a tuning leaves for a later one of the same program with other values of its constants."""

    constants: tuple[Constant, ...]
    structure: str
    optimiser: CmaSearch


def no_constants() -> Fault:
    """Why a program cannot be tuned that names no constants which it reads."""
    return Fault(kind=FaultKind.NO_CONSTANTS, message="no module or class of the program names a number")


def values_at(constants: Sequence[Constant], point: Point) -> tuple[float, ...]:
    """The values at a point, and at the program's own one exactly its own."""
    if point == own_point(constants):
        return tuple(each.value for each in constants)
    return tuple(each.at(place) for each, place in zip(constants, point, strict=True))


def result_of(fact: ConstantsTried, episodes: int) -> Tried:
    """The mean of f_e over this many episodes; one that was left out counts as 1."""
    missing = episodes - len(fact.fitnesses)
    return Tried(fact.point, (math.fsum(fact.fitnesses) + missing) / episodes, missing == 0)


def learned_from(program: Program, constants: tuple[Constant, ...], optimiser: Optimiser) -> Learned | None:
    """What a tuning of a program leaves for a later one; None from a coordinate search, which begins again."""
    if not isinstance(optimiser, CmaSearch):
        return None
    return Learned(constants=constants, structure=_structure(program, constants), optimiser=optimiser)


def in_ranges_of(
    after: Learned, program: Program, constants: tuple[Constant, ...]
) -> tuple[Constant, ...] | None:
    """The constants of a program in the ranges of an earlier tuning; None if it tuned another program.

    A range that the program names must be the same, and values must be within the earlier ranges.
    """
    if [(each.name, each.kind) for each in constants] != [(each.name, each.kind) for each in after.constants]:
        return None
    if _structure(program, constants) != after.structure:
        return None
    for each, old in zip(constants, after.constants, strict=True):
        same = (each.low, each.high) == (old.low, old.high)
        if not same and (each.named or old.named or not old.low <= each.value <= old.high):
            return None
    return tuple(
        replace(each, low=old.low, high=old.high, geometric=old.geometric)
        for each, old in zip(constants, after.constants, strict=True)
    )


def _structure(program: Program, constants: Sequence[Constant]) -> str:
    """A digest of a program without the values of these constants."""
    values = [float(place) for place in range(len(constants))]
    return digest(with_values(program, constants, values))


def by_change(constants: Sequence[TunedConstant]) -> list[TunedConstant]:
    """Those that moved and matter, the largest changes first: by the ratio of the values where both have one sign."""
    def change(constant: TunedConstant) -> float:
        before, after = constant.before, constant.after
        ratio = after / before if before * after > 0 else 0.0
        return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf  # the ratio may be too small or too large

    moved = [each for each in constants if each.after != each.before and not each.insensitive]
    return sorted(moved, key=lambda each: -change(each))


def f_ratio(positions: Sequence[float], fitnesses: Sequence[float]) -> float:
    """The variance between the parts of a constant's values over that within them; 0 where nothing varies."""
    order = sorted(range(len(positions)), key=lambda place: (positions[place], place))
    size = len(order) / PARTS
    parts = [[fitnesses[one] for one in order[round(part * size) : round((part + 1) * size)]] for part in range(PARTS)]
    mean = math.fsum(fitnesses) / len(fitnesses)
    means = [math.fsum(part) / len(part) for part in parts]
    between = math.fsum(len(part) * (own - mean) ** 2 for part, own in zip(parts, means, strict=True)) / (PARTS - 1)
    within = math.fsum((one - own) ** 2 for part, own in zip(parts, means, strict=True) for one in part)
    within /= len(fitnesses) - PARTS
    if not between:
        return 0.0
    return between / within if within else math.inf


SHOWN = 5  # constants that each list of a summary names at most


def in_words(constants: Sequence[TunedConstant]) -> str:
    """What tuning moved, the largest changes first, then what had no effect: "GAIN 0.4 → 1.7; insensitive: WAIT".

    A list that is too long ends in the number of the others.
    """
    moved = [f"{_name(each)} {each.before:.4g} → {each.after:.4g}" for each in by_change(constants)]
    flat = [_name(each) for each in constants if each.insensitive]
    half = MAX_SUMMARY // 2 - len("; insensitive: ")
    parts = [_list_of(moved, MAX_SUMMARY if not flat else half) or "no constant mattered"]
    if flat:
        parts.append(f"insensitive: {_list_of(flat, half)}")
    return "; ".join(parts)


def _name(constant: TunedConstant) -> str:
    return one_line(constant.name, MAX_SUMMARY)


def _list_of(words: Sequence[str], room: int) -> str:
    """As many of the words as fit, then the number of the others."""
    for count in range(min(SHOWN, len(words)), 0, -1):
        more = f" and {len(words) - count} more" if count < len(words) else ""
        text = ", ".join(words[:count]) + more
        if len(text) <= room:
            return text
    return plural(len(words), "constant") if words else ""
