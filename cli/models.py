"""`memento models`: the forms of a model's name."""

import os
from collections.abc import Mapping
from typing import Final

from .output import print_table

EXAMPLE: Final = "memento models"

WITHOUT_KEY: Final[Mapping[str, str]] = {
    "ask": "a person or another program, as a judge only: --judge ask, then memento vote RUN",
    "offline": "the embedded mutator: no language model, no network (the default)",
    "compatible": "any server with OpenAI's chat completions, such as compatible:ollama@http://localhost:11434/v1#qwen3",
}


def models() -> None:
    """List the ways to name a language model, and whether the API key that each needs is set."""
    from ..models.spec import FORMS

    print_table([(form, WITHOUT_KEY.get(scheme) or _key(scheme)) for scheme, form in FORMS.items()])


def _key(scheme: str) -> str:
    """The variable of the API key and whether it is set, never its value."""
    from ..models.spec import KEY_VARIABLES

    variable = KEY_VARIABLES[scheme]
    state = "set" if os.environ.get(variable, "").strip() else "not set"
    return f"needs the key in {variable}, which is {state}"
