"""The result of a tuning: the program with the best values, what moved, and what had no effect."""

import math
from collections.abc import Sequence

from ...core.constants import with_values
from ...core.program_text import MAX_SUMMARY
from ...core.text import one_line
from ...core.tuning_events import TuningEnded
from ...core.values import TunedConstant
from .tuning import Tuning, values_at

PARTS = 3  # of the tried values of a constant, compared to find whether the fitness depends on it
SHOWN = 5  # moved constants that a summary names
ENOUGH = 4 * PARTS  # values before that is said


def ended(tuning: Tuning) -> TuningEnded:
    """The program with the best values; of equal ones the first. Without any values it is the parent's program."""
    whole = [each for each in tuning.compared or tuning.tried if each.whole]
    best = max(whole, key=lambda each: each.fitness, default=None)
    values = tuple(each.value for each in tuning.constants) if best is None else values_at(tuning, best.point)
    before = tuning.compared[0].fitness if tuning.compared else tuning.before
    flat = _insensitive(tuning)
    constants = tuple(
        TunedConstant(name=each.name, before=each.value, after=value, insensitive=place in flat)
        for place, (each, value) in enumerate(zip(tuning.constants, values, strict=True))
    )
    return TuningEnded(
        order=tuning.id,
        program=with_values(tuning.parent.program, tuning.constants, values),
        summary=in_words(constants),
        constants=constants,
        tried=len(tuning.tried) + len(tuning.compared),
        episodes=tuning.episodes,
        before=before,
        fitness=before if best is None else best.fitness,
    )


def in_words(constants: Sequence[TunedConstant]) -> str:
    """What tuning moved, the largest changes first, then what had no effect: "GAIN 0.4 → 1.7; insensitive: WAIT"."""
    moved = [each for each in constants if each.after != each.before and not each.insensitive]
    moved.sort(key=lambda each: -_change(each))
    words = [f"{each.name} {each.before:.4g} → {each.after:.4g}" for each in moved[:SHOWN]]
    words += [f"and {len(moved) - SHOWN} more"] * (len(moved) > SHOWN)
    parts = [", ".join(words) or "no constant mattered"]
    flat = [each.name for each in constants if each.insensitive]
    if flat:
        parts.append(f"insensitive: {', '.join(flat)}")
    return one_line("; ".join(parts), MAX_SUMMARY)


def _change(constant: TunedConstant) -> float:
    """How far a constant moved: the logarithm of the ratio where both values have one sign."""
    before, after = constant.before, constant.after
    return abs(math.log(after / before)) if before * after > 0 else math.inf


def _insensitive(tuning: Tuning) -> frozenset[int]:
    """The places of the constants on which the fitness does not seem to depend.

    The tried values of a constant are divided into three equal parts. If the mean fitness differs between the parts
    by less than chance would make it differ (an F ratio below 1), the constant is insensitive.
    """
    if len(tuning.tried) < ENOUGH:
        return frozenset()
    fitnesses = [each.fitness for each in tuning.tried]
    places = range(len(tuning.constants))
    return frozenset(
        place for place in places if f_ratio([each.point[place] for each in tuning.tried], fitnesses) < 1
    )


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
