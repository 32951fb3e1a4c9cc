"""The prompt files, as the agents see them."""

from typing import Protocol


class Prompts(Protocol):
    """The texts that language models are asked with.

    **Determinism.** The same name and variables give the same text: a replayed run compares prompts by their hash.
    **Errors.** All files are read and checked when the object is made, so that no run fails on one later.
    """

    def fill(self, name: str, **variables: str) -> str:
        """The prompt `name` with its variables put in, each once and as it is; the values are not searched again.

        Raises UsageError for an unknown prompt, and for a variable that is missing or not one of the prompt's.
        """
