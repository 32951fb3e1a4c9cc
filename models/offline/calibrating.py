"""Coordinate search in place of a model in a calibration: one constant up or down at a time, then smaller steps.

The control for calibration by a language model: the same trials, the same bounds, no prompt read. It is a function of
what was tested, so a resumed run goes on where it was.
"""

from collections.abc import Sequence

from ...core.programs.calibration import Bounds, constants_to_calibrate, worth
from ...core.values import JSON, CandidateState

STEP = 0.25  # of a constant's range, at first
LEAST_STEP = 0.001

Point = tuple[float, ...]
Worth = tuple[float, float, float]


def next_values(tested: Sequence[CandidateState], bounds: Bounds) -> dict[str, JSON]:
    """The values of the constants to test next; `tested` holds all programs so far, oldest first."""
    constants = constants_to_calibrate(tested[0].program, bounds)
    start = tuple(min(1.0, max(0.0, each.position)) for each in constants)
    point = next_point(start, [worth(each) for each in tested])
    found = {each.name: each.at(place) for each, place in zip(constants, point, strict=True)}
    kinds = {each.name: each.kind for each in constants}
    return {
        name: bool(value) if kinds[name] == "bool" else int(value) if kinds[name] == "int" else value
        for name, value in found.items()
    }


def next_point(start: Point, results: Sequence[Worth]) -> Point:
    """The positions to test next, each in [0, 1]; none is tested twice.

    `results` are the worths of all so far, that of `start` first.
    """
    known, best, at, step = {start: results[0]}, results[0], start, STEP
    while step >= LEAST_STEP:
        improved = False
        for place in range(len(start)):
            for way in (step, -step):
                point = _moved(at, place, way)
                if point not in known:
                    if len(known) == len(results):
                        return point
                    known[point] = results[len(known)]
                if known[point] > best:
                    best, at, improved = known[point], point, True
                    break
        if not improved:
            step /= 2
    return at


def _moved(point: Point, place: int, way: float) -> Point:
    return (*point[:place], min(1.0, max(0.0, point[place] + way)), *point[place + 1 :])
