"""The port of the prompt files."""

from typing import Protocol


class Prompts(Protocol):
    """The texts of the prompts for language models.

    **Determinism.** The same name and variables give the same text: a replayed run compares prompts by their hash.
    **Errors.** All files are read and checked when the object is made, so that no run fails on one later.
    """

    def fill(self, name: str, **variables: str) -> str:
        """The prompt `name` with its variables replaced once by the unchanged values; the values are not searched.

        Raises UsageError for an unknown prompt, and for a missing or unknown variable.
        """
