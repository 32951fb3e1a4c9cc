"""The slots of a generation, and the options of a search."""

from dataclasses import dataclass
from typing import Any, Literal

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

    `seed` is the run's seed, for methods that draw. `parameters` are those of a method from outside. With
    `speculation` the next hill-climb proposal is requested while the current one still rolls out. `full_memory`:
    prompts also show why an edit was rejected, and what was tried from a parent before. `lasting_memory`: rejected
    edits are remembered over all generations, not for one; `marked_memory`: prompts name what has changed of the parts
    that such an edit touched. `macro_focus`: each macro-mutation of a generation gets another focus, and so does each
    crossover. `latest_of_equals`: of equal results of a calibration the latest is kept. `islands` and `dealing`: see
    search/islands.py. `front`: the second parent of crossovers comes from the best programs of single episodes where
    the branches end with one program. `evaluator_every`: after this many generations another evaluator may take over,
    see search/moving/; 0: never.
    """

    seed: int = 0
    parameters: Any = None
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


PLAIN = SearchOptions()
"""The paper's search: all options at their defaults."""
