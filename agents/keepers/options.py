"""What a run may choose of its search besides the budget."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Choices of a run, for the methods that use them.

    `seed` is the run's, for methods that draw. With `speculation` the next hill-climb proposal is asked for
    while the present one still rolls out. `full_memory`: prompts show why an edit was rejected, not only which.
    `lasting_memory`: rejected edits are remembered over all generations, not for one.
    """

    seed: int = 0
    speculation: bool = False
    full_memory: bool = False
    lasting_memory: bool = False


PLAIN = SearchOptions()
"""The paper's search, nothing chosen."""
