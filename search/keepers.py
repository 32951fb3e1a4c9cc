"""The keeper of each search method, by the method's name."""

from collections.abc import Callable
from typing import Any, Protocol

from ..core.errors import UsageError
from ..core.keeper import Keeper
from ..core.methods import halves, method_named
from ..core.values import CandidateState
from .calibration import Calibration, Proposals
from .elite_keeper import EliteKeeper
from .eureka import Eureka
from .head_start import HeadStartKeeper, HeadStartSettings
from .islands import IslandSettings, IslandsKeeper
from .memento import PAPER, memento
from .moving.keeper import MoveSettings, MovingKeeper
from .options import PLAIN, Choices, GenerationBudget, SearchOptions
from .random_search import RandomKeeper
from .revolve import Revolve
from .rollout_plan import RolloutPlan
from .rounds import RoundsKeeper, Rule
from .zero_shot import ZeroShot


class MakeKeeper(Protocol):
    """Makes a keeper from C_0, the rollout plan, the slots of a generation, the options, and the choices of parts."""

    def __call__(
        self, initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = ...,
        choices: Choices = ..., /,
    ) -> Keeper[Any]:
        """The keeper."""


def together(slots: GenerationBudget) -> int:
    """B, the number of candidates in a generation: the same for every method of a comparison."""
    return slots.hill_climb + slots.macro + slots.crossover


def climbing(slots: GenerationBudget) -> GenerationBudget:
    """All slots for the climb."""
    return GenerationBudget(generations=slots.generations, hill_climb=together(slots), macro=0, crossover=0)


def tuning_alone(slots: GenerationBudget) -> GenerationBudget:
    """One slot that tunes the constants of the first program with all episodes."""
    return GenerationBudget(
        generations=1, hill_climb=0, macro=0, crossover=0, tune=1, tune_episodes=slots.tune_episodes
    )


def without_crossover(slots: GenerationBudget) -> GenerationBudget:
    """Half of the slots for the climb, half for macro-mutation; an odd one goes to the climb."""
    climbs, macros = halves(together(slots))
    return GenerationBudget(generations=slots.generations, hill_climb=climbs, macro=macros, crossover=0)


def _memento(share: Callable[[GenerationBudget], GenerationBudget]) -> MakeKeeper:
    """Memetic search; `share` distributes the slots over the branches."""

    def make(
        initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = PLAIN,
        choices: Choices = PAPER, /,
    ) -> Keeper[Any]:
        slots = share(slots)
        if choices.of(IslandSettings).islands > 1:
            return IslandsKeeper(initial=initial, plan=plan, slots=slots, options=options, choices=choices)
        method, every = memento(slots, options, plan, choices), choices.of(MoveSettings).evaluator_every
        if every:
            return MovingKeeper(initial=initial, plan=plan, method=method, every=every)
        engine = HeadStartKeeper if choices.of(HeadStartSettings).head_start else EliteKeeper
        return engine(initial=initial, plan=plan, method=method)

    return make


def _random(
    initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = PLAIN,
    choices: Choices = PAPER, /,
) -> RandomKeeper:
    return RandomKeeper(initial=initial, plan=plan, generations=slots.generations, candidates=together(slots))


def _rounds(rule: Callable[[int, SearchOptions, Choices], Rule[Any]], *, generations: int | None = None) -> MakeKeeper:
    """A search in rounds of B candidates, with the given rule."""

    def make(
        initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = PLAIN,
        choices: Choices = PAPER, /,
    ) -> RoundsKeeper:
        return RoundsKeeper(
            initial=initial,
            plan=plan,
            generations=slots.generations if generations is None else generations,
            rule=rule(together(slots), options, choices),
            options=options,
            choices=choices,
        )

    return make


KEEPERS: dict[str, MakeKeeper] = {
    "memento": _memento(lambda slots: slots),
    "hill-only": _memento(climbing),
    "without-crossover": _memento(without_crossover),
    "eureka": _rounds(lambda count, options, choices: Eureka(candidates=count, keeps_best=False)),
    "eureka-elite": _rounds(lambda count, options, choices: Eureka(candidates=count, keeps_best=True)),
    "revolve": _rounds(lambda count, options, choices: Revolve(candidates=count, seed=options.seed)),
    "zero-shot": _rounds(lambda count, options, choices: ZeroShot(candidates=count), generations=1),
    "random": _random,
    "cma-es": _memento(tuning_alone),
    "calibrate": _rounds(lambda count, options, choices: Calibration(choices.of(Proposals))),
}


def keeper_of_method(name: str) -> MakeKeeper:
    """What makes the keeper of a method, also of one from outside that is loaded. Raises UsageError."""
    if name in KEEPERS:
        return KEEPERS[name]
    make = method_named(name).keeper
    if make is None:
        raise UsageError(
            f"the method {name!r} is not loaded: name it package.module:ATTRIBUTE, or continue the run from Python "
            "after core.methods.add_method"
        )
    return make
