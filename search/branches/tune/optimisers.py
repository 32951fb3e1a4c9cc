"""The optimisers of a tuning: they ask for points in the unit cube and learn the fitness of each. Pure.

Few constants are tuned by coordinate search, more of them by CMA-ES (Hansen 2016, arXiv 1604.00772, as in the package
`cmaes`). All points have rounded coordinates, which the log holds, so that another processor's rounding of an
eigenvector cannot change a recorded run.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ....core.programs.constants import Constant
from ....core.seeds import derive_seed

if TYPE_CHECKING:
    from cmaes import CMA

FEW = 3  # constants that coordinate search tunes
FIRST_STEP = 0.25  # of coordinate search: a quarter of each range
LEAST_STEP = 1 / 64
SPREAD = 0.2  # the first standard deviation of CMA-ES, in parts of each range,
NEAR = 0.12  # and where there are episodes enough to go far in small steps
DIGITS = 6  # of a coordinate

Point = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Tried:
    """A point with the mean of f_e, or an upper bound of it where the rest of the episodes was left out."""

    point: Point
    fitness: float
    whole: bool = True


class Optimiser(Protocol):
    """Asks for points in batches. Its methods change nothing: `after` returns the optimiser of the next batch."""

    def ask(self) -> tuple[Point, ...]:
        """The points of the next batch; none if there is nothing left to try."""

    def after(self, batch: Sequence[Tried]) -> "Optimiser":
        """The optimiser that knows the results of a whole batch, in the order of its points."""

    @property
    def floor(self) -> float | None:
        """A point whose fitness is not above it has no effect on the search; None if every one has."""


def own_point(constants: Sequence[Constant]) -> Point:
    """The point of the program's own values."""
    return tuple(round(each.position, DIGITS) for each in constants)


def optimiser_for(constants: Sequence[Constant], *, fitness: float, seed: int, near: bool = False) -> Optimiser:
    """The optimiser for these constants, which begins at their own values; `fitness` is that of these values.

    CMA-ES begins `near` them for a long tuning.
    """
    start = own_point(constants)
    if len(constants) <= FEW:
        return CoordinateSearch(constants=tuple(constants), best=start, fitness=fitness, seen=frozenset({start}))
    return CmaSearch(state=_new_cma(start, NEAR if near else SPREAD), seed=seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateSearch:
    """Tries a step up and a step down in each coordinate, and goes to the best; without a gain the steps are halved."""

    constants: tuple[Constant, ...]
    best: Point
    fitness: float
    seen: frozenset[Point]
    step: float = FIRST_STEP

    @property
    def floor(self) -> float | None:
        """The fitness of the best point: another one must be above it."""
        return self.fitness

    def ask(self) -> tuple[Point, ...]:
        """The neighbours that were not tried yet, at the largest step that has any."""
        step = self.step
        while step >= LEAST_STEP:
            found = self._neighbours(step)
            if found:
                return found
            step /= 2
        return ()

    def after(self, batch: Sequence[Tried]) -> "CoordinateSearch":
        """Go to the best point of the batch if it is above the best so far."""
        known = replace(self, seen=self.seen | {each.point for each in batch})
        best = max((each for each in batch if each.whole), key=lambda each: each.fitness, default=None)
        if best is None or best.fitness <= self.fitness:
            return replace(known, step=self.step / 2)
        return replace(known, best=best.point, fitness=best.fitness)

    def _neighbours(self, step: float) -> tuple[Point, ...]:
        tried = {self._values(point) for point in self.seen}
        found: dict[tuple[float, ...], Point] = {}
        for place, constant in enumerate(self.constants):
            for change in (step, -step) if constant.kind != "bool" else (0.5, -0.5):
                moved = round(min(1.0, max(0.0, self.best[place] + change)), DIGITS)
                point = (*self.best[:place], moved, *self.best[place + 1 :])
                values = self._values(point)
                if values not in tried:
                    found.setdefault(values, point)
        return tuple(found.values())

    def _values(self, point: Point) -> tuple[float, ...]:
        return tuple(constant.at(place) for constant, place in zip(self.constants, point, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class CmaSearch:
    """CMA-ES. Its draws depend on the seed and the number of the batch alone."""

    state: "CMA"  # never changed: each batch works on a copy
    seed: int

    @property
    def floor(self) -> float | None:
        """None: CMA-ES learns from the worst points as well."""
        return None

    def ask(self) -> tuple[Point, ...]:
        """The points of a whole population."""
        state = deepcopy(self.state)  # a copy has no separate generator
        state.reseed_rng(derive_seed(self.seed, "batch", state.generation) % 2**32)
        return tuple(
            tuple(round(float(value), DIGITS) for value in state.ask()) for _ in range(state.population_size)
        )

    @property
    def population_size(self) -> int:
        """The points of a batch."""
        return int(self.state.population_size)

    @property
    def mean(self) -> Point:
        """The mean of the distribution from which the next points are drawn."""
        return tuple(round(min(1.0, max(0.0, float(value))), DIGITS) for value in self.state.mean)

    def drawing(self, seed: int) -> "CmaSearch":
        """The same mean, covariance and step size with other draws."""
        return replace(self, seed=seed)

    def after(self, batch: Sequence[Tried]) -> "CmaSearch":
        """The next state; a batch that is not a whole population, the last one, teaches nothing."""
        import numpy as np

        state = deepcopy(self.state)
        if len(batch) == state.population_size:
            state.tell([(np.array(each.point), -each.fitness) for each in batch])
        return replace(self, state=state)


def _new_cma(start: Point, spread: float) -> "CMA":
    import numpy as np
    from cmaes import CMA

    bounds = np.array([[0.0, 1.0]] * len(start))
    return CMA(mean=np.array(start), sigma=spread, bounds=bounds, seed=0)
