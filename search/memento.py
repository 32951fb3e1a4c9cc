"""MEMENTO: memetic search of one elite (paper, Algorithm 2), and the parts that settings add to it."""

from .branches.climb import HillClimb
from .branches.crossover import Crossover
from .branches.macro import MacroMutation
from .branches.tune.branch import Tune, TunePlan
from .branches.wide import WideClimb, WidthSettings
from .elite_keeper import MemeticMethod
from .options import Choices, GenerationBudget, SearchOptions
from .parts.foci import Foci, FociSettings
from .parts.front import FrontPartners
from .parts.full_memory import FullMemory
from .parts.long_memory import LastingMemory, MarkedMemory
from .parts.memory import Memory, MemorySettings
from .parts.partners import Partners, PartnerSettings
from .parts.speculation import SpeculationSettings, SpeculativeClimb
from .parts.varied import VariedPartners
from .rollout_plan import RolloutPlan

PAPER = Choices(
    MemorySettings(memory_detail="summary"), FociSettings(macro_focus=False), PartnerSettings(partners="paper")
)
"""The settings of the parts in the paper's search."""


def algorithm_2(*, generations: int, hill_climb: int, macro: int, crossover: int) -> MemeticMethod:
    """The paper's: climb and macro-mutation side by side, then crossover of their results."""
    memory, macros = Memory(), MacroMutation(macro)
    climb, partners = HillClimb(hill_climb, memory), Partners([macros])
    crosses = Crossover(crossover, partners, follows=[climb, macros])
    return MemeticMethod(generations=generations, branches=(climb, macros, crosses), parts=(memory, partners))


def memento(
    slots: GenerationBudget, options: SearchOptions, plan: RolloutPlan, choices: Choices = PAPER
) -> MemeticMethod:
    """Algorithm 2 with the parts that are chosen."""
    remembers, measured = choices.of(MemorySettings), plan.episodes is not None
    full, second = remembers.memory_detail == "full", choices.of(PartnerSettings).partners
    memory: Memory = FullMemory(measured=measured) if full else Memory()
    if remembers.memory_scope != "generation":
        memory = MarkedMemory(memory) if remembers.memory_scope == "until-changed" else LastingMemory(memory)
    climbs = SpeculativeClimb if choices.of(SpeculationSettings).speculation and not full else HillClimb
    climb, macros = climbs(slots.hill_climb, memory), MacroMutation(slots.macro)
    if (width := choices.of(WidthSettings).climb_width) > 1:
        climb = WideClimb(slots.hill_climb, memory, width=width, seed=options.seed)
    tune = Tune(TunePlan(
        slots=slots.tune, episodes=slots.tune_episodes, generations=slots.generations, tuned=slots.tune_generations
    ), seed=options.seed)
    partners = Partners([macros, tune])
    if second != "paper":
        partners = VariedPartners([macros, tune], measured=measured, shows=full)
    if second == "front":
        partners = FrontPartners(partners)
    crosses = Crossover(slots.crossover, partners, follows=[climb, macros, tune])
    return MemeticMethod(
        generations=slots.generations, branches=(climb, macros, tune, crosses),
        parts=(memory, partners, *([Foci(options.seed)] if choices.of(FociSettings).macro_focus else [])),
        races=plan.racing and second != "front",
    )
