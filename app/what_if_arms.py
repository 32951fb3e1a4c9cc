"""The figures of a what-if's arms against its first one."""

from collections.abc import Iterable, Sequence
from math import fsum, sqrt

from ..core.intervals import Interval, mean_interval, sign_flip_p_values, t_quantile
from .what_if_rows import MEASURES, ArmDifference, ArmRow, DrawRow, StateRow


def differences(states: Sequence[StateRow]) -> Iterable[ArmDifference]:
    """Every other arm against the first one, in every measure that both have."""
    for place in range(1, len(states[0].arms) if states else 0):
        for measure in MEASURES:
            pairs = [
                (values, others) for state in states
                if (values := values_of(state.arms[place], measure)) and (others := values_of(state.arms[0], measure))
            ]
            if pairs:
                first = states[0].arms
                yield _difference(first[place].arm, first[0].arm, measure, pairs)


def values_of(arm: ArmRow, measure: str) -> list[float]:
    """The values of the draws that have one."""
    return [value for row in arm.rows if (value := value_of(row, measure)) is not None]


def value_of(row: DrawRow, measure: str) -> float | None:
    """The value of one draw; None if it has none, as a failure has no gain."""
    match measure:
        case "improvement":
            return 0.0 if row.gain is None else max(0.0, row.gain)
        case "gain":
            return row.gain
        case "better":
            return float(row.gain is not None and row.gain > 0)
        case "failed":
            return float(row.failure is not None)
        case "known":
            return float(row.same_as is not None)
    return float(row.tokens)


def _difference(
    arm: str, against: str, measure: str, pairs: Sequence[tuple[Sequence[float], Sequence[float]]]
) -> ArmDifference:
    found = [fsum(values) / len(values) - fsum(others) / len(others) for values, others in pairs]
    interval, p_value = welch_interval(*pairs[0]), None
    if len(pairs) > 1:
        interval, [p_value] = mean_interval(found), sign_flip_p_values([found])
    return ArmDifference(
        arm=arm, against=against, measure=measure, states=len(pairs), difference=fsum(found) / len(found),
        interval=interval, p_value=p_value,
    )


def welch_interval(values: Sequence[float], others: Sequence[float]) -> Interval | None:
    """The 95 % interval of the difference of two means (Welch 1947), with whole degrees of freedom, rounded down.

    None for fewer than two values on a side. It is a point where neither side varies.
    """
    if len(values) < 2 or len(others) < 2:
        return None
    spreads = [_variance(side) / len(side) for side in (values, others)]
    middle, total = fsum(values) / len(values) - fsum(others) / len(others), fsum(spreads)
    if not total:
        return middle, middle
    parts = fsum(
        spread**2 / (len(side) - 1) for spread, side in zip(spreads, (values, others), strict=True)
    )
    half = t_quantile(max(1, int(total**2 / parts))) * sqrt(total)
    return middle - half, middle + half


def _variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
