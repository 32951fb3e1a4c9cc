"""The tuning of constants: the order to try values, and the facts of what was tried and chosen."""

from dataclasses import dataclass

from .events import Fact, Order
from .values import Program, TunedConstant


@dataclass(frozen=True, slots=True, kw_only=True)
class TryConstants(Order):
    """Roll a program with other constants out over some episodes and score them. Answered by ConstantsTried.

    With a `floor` the rest is left out once the mean of f_e can no longer be above it.
    """

    program: Program  # with these values
    point: tuple[float, ...]  # their positions in their ranges, each in [0, 1]
    evaluator: Program
    split: str
    seeds: tuple[int, ...]
    floor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantsTried(Fact):
    """The result of a program with other constants. Its recordings are dropped: the values follow from `point`."""

    point: tuple[float, ...]
    fitnesses: tuple[float, ...]  # f_e of each episode, in the order of the seeds
    steps: int = 0  # of all these episodes
    faults: int = 0  # episodes that a fault ended
    wall_s: float = 0.0  # for display only


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningEnded(Fact):
    """The program with the best constants that a tuning tried; it is evaluated as every candidate is.

    `before` and `fitness` are the means of f_e over the same episodes, which are fewer than a candidate's.
    """

    program: Program
    summary: str
    constants: tuple[TunedConstant, ...]
    tried: int  # how many vectors of values
    episodes: int  # of all of them
    before: float
    fitness: float
