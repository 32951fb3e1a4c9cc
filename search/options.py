"""The options of a search, and how many slots of a generation a budget of episodes allows. Pure."""

from dataclasses import dataclass
from typing import Literal

from ..core.seeds import derive_seed
from ..core.values import Focus
from .rollout_plan import RolloutPlan

Dealing = Literal["equal", "ucb"]
"""How the slots of a generation are dealt to islands: in turn, or by upper confidence bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationBudget:
    """The budget: K_hc, K_macro and K_cross proposals per generation, G generations.

    `tune` slots tune constants, each with `tune_episodes` episodes, in `tune_generations` generations from the second
    on; 0: in all.
    """

    generations: int
    hill_climb: int
    macro: int
    crossover: int
    tune: int = 0
    tune_episodes: int = 0
    tune_generations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of a run, for the methods that use them.

    `seed` is the run's seed, for methods that draw. With `speculation` the next hill-climb proposal is requested
    while the current one still rolls out. `full_memory`: prompts also show why an edit was rejected, and what was
    tried from a parent before. `lasting_memory`: rejected edits are remembered over all generations, not for one.
    `macro_focus`: each macro-mutation of a generation gets another focus, and so does each crossover.
    `latest_of_equals`: of equal results of a calibration the latest is kept. `islands` and `dealing`: see
    search/islands.py. `front`: the second parent of crossovers comes from the best programs of single episodes where
    the branches end with one program. `marked_memory`: prompts name what has changed of the parts of a program that a
    rejected edit touched; needs `lasting_memory`. `evaluator_every`: after this many generations another evaluator may
    take over, see search/moving.py; 0: never.
    """

    seed: int = 0
    speculation: bool = False
    full_memory: bool = False
    lasting_memory: bool = False
    macro_focus: bool = False
    latest_of_equals: bool = True
    islands: int = 1
    dealing: Dealing = "equal"
    front: bool = False
    marked_memory: bool = False
    evaluator_every: int = 0

    def focus(self, generation: int, place: int, of: int) -> Focus | None:
        """The focus of proposal number `place` of a branch with `of` of them in a generation, if the run uses foci."""
        if not self.macro_focus:
            return None
        seed = derive_seed(self.seed, "focus", generation)
        return Focus(seed=seed, place=place, of=of)


PLAIN = SearchOptions()
"""The paper's search: all options at their defaults."""


# How many slots of a generation a budget of episodes allows. Pure.
#
# A slot is opened only if the budget holds all episodes of its candidate, those in which its proposal may practise, the
# challenge of a new elite and the final choice. So the budget is never exceeded, and how many slots there are does not
# depend on the order in which answers arrive.


CHALLENGE = 2  # programs that a challenge rolls out: the candidate and the elite


def affordable(plan: RolloutPlan, ordered: int, slots: int, *, challenges: int = 1) -> int:
    """How many of `slots` may be opened, after `ordered` episodes of the stage; all of them without a budget.

    `challenges` may follow before more slots are opened: one for each island.
    """
    if plan.episodes is None:
        return slots
    left = plan.episodes - ordered - kept_free(plan, challenges)
    return max(0, min(slots, left // (len(plan.seeds) + plan.practice)))


def tunable(
    plan: RolloutPlan, ordered: int, slots: int, episodes: int, *, challenges: int = 1
) -> tuple[int, int]:
    """How many tuning slots may be opened, and on how many episodes each tries constants before its N_roll episodes."""
    if plan.episodes is None or not slots:
        return slots, episodes
    left = plan.episodes - ordered - kept_free(plan, challenges)
    each = min(episodes, left // slots - len(plan.seeds))
    return (slots, each) if each > 0 else (0, 0)


def kept_free(plan: RolloutPlan, challenges: int = 1) -> int:
    """The most episodes that this number of challenges can order, and those of the final choice."""
    return challenges * CHALLENGE * plan.fresh.confirm + plan.fresh.choice


def is_spent(plan: RolloutPlan, ordered: int, *, challenges: int = 1) -> bool:
    """Whether a budget of episodes has no room for another candidate."""
    return affordable(plan, ordered, 1, challenges=challenges) == 0


def dealt(slots: tuple[int, ...], total: int) -> tuple[int, ...]:
    """`total` slots for branches that have room for `slots` each, dealt in turn, the first branch first."""
    given = [0] * len(slots)
    left = min(total, sum(slots))
    while left > 0:
        for place, room in enumerate(slots):
            if given[place] < room and left > 0:
                given[place] += 1
                left -= 1
    return tuple(given)
