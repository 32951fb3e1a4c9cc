"""The settings of a recorded run: a setting that its log lacks has the value that the older version acted on."""

from collections.abc import Mapping

from pydantic import ValidationError

from ..core.errors import StoreError
from ..core.text import one_line
from ..core.values import JSON
from .model import Settings

BEFORE: Mapping[str, JSON] = {
    "evaluator_tests": "off", "feedback": "metrics", "judge_reasons": False, "macro_focus": False,
    "memory_detail": "summary", "probes": "off", "repairs": 0, "reply": "whole", "roll_ahead": "off",
}
"""What runs did before a setting existed, where that differs from the setting's default."""


def recorded_settings(values: Mapping[str, JSON]) -> Settings:
    """The settings in the first fact of a run, of this version or an older one; their provenance is unknown.

    Raises StoreError for a setting that this version does not know.
    """
    try:
        return Settings.model_validate({**BEFORE, **values})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, found = ".".join(str(part) for part in first["loc"]), one_line(repr(first["input"]), 80)
        raise StoreError(
            f"the log has a setting that this version of MEMENTO does not know, {one_line(key, 80)} = {found}: "
            "use the version that wrote it, or a newer one"
        ) from None
