"""The options of a search, apart from its budget."""

from dataclasses import dataclass

from ...core.seeds import derive_seed
from ...core.values import Focus


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of a run, for the methods that use them.

    `seed` is the run's seed, for methods that draw. With `speculation` the next hill-climb proposal is requested
    while the current one still rolls out. `full_memory`: prompts also show why an edit was rejected, and what was
    tried from a parent before. `lasting_memory`: rejected edits are remembered over all generations, not for one.
    `macro_focus`: each macro-mutation of a generation gets another focus, and so does each crossover. `late_tuning`:
    the last of two or more tunings begins with crossover; not by rules of version 1 and 2. `lasting_tuning`: CMA-ES
    goes on in later generations; not by rules of version 1 to 3. `compared_tuning`: a long tuning takes the episodes in
    turn and compares its best values; not by rules of version 1 to 5. `latest_of_equals`: of equal results of a
    calibration the latest is kept; not by rules of version 1 to 4.
    """

    seed: int = 0
    speculation: bool = False
    full_memory: bool = False
    lasting_memory: bool = False
    macro_focus: bool = False
    late_tuning: bool = True
    lasting_tuning: bool = True
    compared_tuning: bool = True
    latest_of_equals: bool = True

    def focus(self, generation: int, place: int, of: int) -> Focus | None:
        """The focus of proposal number `place` of a branch with `of` of them in a generation, if the run uses foci."""
        if not self.macro_focus:
            return None
        return Focus(seed=derive_seed(self.seed, "focus", generation), place=place, of=of)


PLAIN = SearchOptions()
"""The paper's search: all options at their defaults."""
