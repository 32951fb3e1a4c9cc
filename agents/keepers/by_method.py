"""The keeper of each search method, by the method's name."""

from collections.abc import Callable
from typing import Any, Protocol

from ...core.keeper import Keeper
from ...core.methods import halves
from ...core.values import Candidate
from .calibration import Calibration
from .eureka import Eureka
from .memento import MementoKeeper, Slots
from .options import PLAIN, SearchOptions
from .random_search import RandomKeeper
from .revolve import Revolve
from .rounds import RoundsKeeper, Rule
from .trials import RolloutPlan
from .zero_shot import ZeroShot


class MakeKeeper(Protocol):
    """Makes a keeper from C_0, the rollout plan, the slots of a generation, and the run's options."""

    def __call__(
        self, initial: Candidate, plan: RolloutPlan, slots: Slots, options: SearchOptions = ..., /
    ) -> Keeper[Any]:
        """The keeper."""


def together(slots: Slots) -> int:
    """B, the number of candidates in a generation: the same for every method of a comparison."""
    return slots.hill_climb + slots.macro + slots.crossover


def climbing(slots: Slots) -> Slots:
    """All slots for the climb."""
    return Slots(generations=slots.generations, hill_climb=together(slots), macro=0, crossover=0)


def tuning(slots: Slots) -> Slots:
    """One slot that tunes the constants of the first program with all episodes."""
    return Slots(
        generations=1, hill_climb=0, macro=0, crossover=0, tune=1, tune_episodes=slots.tune_episodes
    )


def uncrossed(slots: Slots) -> Slots:
    """Half of the slots for the climb, half for macro-mutation; an odd one goes to the climb."""
    climbs, macros = halves(together(slots))
    return Slots(generations=slots.generations, hill_climb=climbs, macro=macros, crossover=0)


def _memento(share: Callable[[Slots], Slots]) -> MakeKeeper:
    """Memetic search; `share` distributes the slots over the branches."""

    def make(
        initial: Candidate, plan: RolloutPlan, slots: Slots, options: SearchOptions = PLAIN, /
    ) -> MementoKeeper:
        return MementoKeeper(initial=initial, plan=plan, slots=share(slots), options=options)

    return make


def _random(
    initial: Candidate, plan: RolloutPlan, slots: Slots, options: SearchOptions = PLAIN, /
) -> RandomKeeper:
    return RandomKeeper(initial=initial, plan=plan, generations=slots.generations, candidates=together(slots))


def _rounds(rule: Callable[[int, SearchOptions], Rule[Any]], *, generations: int | None = None) -> MakeKeeper:
    """A search in rounds of B candidates, with the given rule."""

    def make(
        initial: Candidate, plan: RolloutPlan, slots: Slots, options: SearchOptions = PLAIN, /
    ) -> RoundsKeeper:
        return RoundsKeeper(
            initial=initial,
            plan=plan,
            generations=slots.generations if generations is None else generations,
            rule=rule(together(slots), options),
            options=options,
        )

    return make


KEEPERS: dict[str, MakeKeeper] = {
    "memento": _memento(lambda slots: slots),
    "hill-only": _memento(climbing),
    "without-crossover": _memento(uncrossed),
    "eureka": _rounds(lambda count, options: Eureka(candidates=count, keeps_best=False)),
    "eureka-elite": _rounds(lambda count, options: Eureka(candidates=count, keeps_best=True)),
    "revolve": _rounds(lambda count, options: Revolve(candidates=count, seed=options.seed)),
    "zero-shot": _rounds(lambda count, options: ZeroShot(candidates=count), generations=1),
    "random": _random,
    "cma-es": _memento(tuning),
    "calibrate": _rounds(lambda count, options: Calibration(latest_of_equals=options.latest_of_equals)),
}
