"""The options of a search, apart from its budget."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of a run, for the methods that use them.

    `seed` is the run's seed, for methods that draw. With `speculation` the next hill-climb proposal is requested
    while the current one still rolls out. `full_memory`: prompts also show why an edit was rejected.
    `lasting_memory`: rejected edits are remembered over all generations, not for one.
    """

    seed: int = 0
    speculation: bool = False
    full_memory: bool = False
    lasting_memory: bool = False


PLAIN = SearchOptions()
"""The paper's search: all options at their defaults."""
