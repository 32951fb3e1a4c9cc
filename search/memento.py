"""MEMENTO: memetic search of one elite (paper, Algorithm 2), and the parts that the options of a run add to it."""

from ..core.values import CandidateState
from .branches.climb import HillClimb
from .branches.crossover import Crossover
from .branches.macro import MacroMutation
from .branches.tune.branch import Tune, TunePlan
from .elite_keeper import EliteKeeper, MemeticMethod
from .options import PLAIN, GenerationBudget, SearchOptions
from .parts.foci import Foci
from .parts.front import FrontPartners
from .parts.full_memory import FullMemory
from .parts.long_memory import LastingMemory, MarkedMemory
from .parts.memory import Memory
from .parts.partners import Partners
from .parts.speculation import SpeculativeClimb
from .parts.varied import VariedPartners
from .rollout_plan import RolloutPlan


def algorithm_2(*, generations: int, hill_climb: int, macro: int, crossover: int) -> MemeticMethod:
    """The paper's: climb and macro-mutation side by side, then crossover of their results."""
    memory, macros = Memory(), MacroMutation(macro)
    climb, partners = HillClimb(hill_climb, memory), Partners([macros])
    crosses = Crossover(crossover, partners, follows=[climb, macros])
    return MemeticMethod(generations=generations, branches=(climb, macros, crosses), parts=(memory, partners))


def memento(slots: GenerationBudget, options: SearchOptions, plan: RolloutPlan) -> MemeticMethod:
    """Algorithm 2 with the parts that the options add."""
    measured, full = plan.episodes is not None, options.full_memory
    memory: Memory = FullMemory(measured=measured) if full else Memory()
    if options.lasting_memory:
        memory = MarkedMemory(memory) if options.marked_memory else LastingMemory(memory)
    climbs = SpeculativeClimb if options.speculation and not full else HillClimb
    climb, macros = climbs(slots.hill_climb, memory), MacroMutation(slots.macro)
    tune = Tune(TunePlan(
        slots=slots.tune, episodes=slots.tune_episodes, generations=slots.generations, tuned=slots.tune_generations
    ), seed=options.seed)
    partners: Partners = VariedPartners([macros, tune], measured=measured, shows=full)
    if options.front:
        partners = FrontPartners(partners)
    crosses = Crossover(slots.crossover, partners, follows=[climb, macros, tune])
    return MemeticMethod(
        generations=slots.generations, branches=(climb, macros, tune, crosses),
        parts=(memory, partners, *([Foci(options.seed)] if options.macro_focus else [])),
        races=plan.racing and not options.front,
    )


def memento_keeper(
    initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = PLAIN, /
) -> EliteKeeper:
    """The keeper of a run."""
    return EliteKeeper(initial=initial, plan=plan, method=memento(slots, options, plan))
