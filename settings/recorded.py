"""The settings of a recorded run: a setting that its log lacks has the value that the older version acted on."""

from collections.abc import Mapping

from ..core.values import JSON
from .model import Settings

BEFORE: Mapping[str, JSON] = {
    "feedback": "metrics", "judge_reasons": False, "macro_focus": False, "memory_detail": "summary", "probes": "off",
    "repairs": 0, "reply": "whole",
}
"""What runs did before a setting existed, where that differs from the setting's default."""


def recorded_settings(values: Mapping[str, JSON]) -> Settings:
    """The settings in the first fact of a run, of this version or an older one."""
    return Settings.model_validate({**BEFORE, **values})
