"""What an environment says of success: the usual names in `info`, and what an episode's flags make of it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

COMPLETIONS: Final = "episode_task_completions"     # of `info`: the tasks that are done, and
REMAINING: Final = "tasks_to_complete"              # those that are not
# The usual names, the commonest first. Others are named with gym.success_key.
SUCCESS_KEYS: Final = (
    "is_success", "success", "succeed", "succeeded", "solved", "is_solved", "task_completed", "task_success",
    "goal_reached", "reached_goal", "is_goal_reached", COMPLETIONS,
)
SUCCESS_INFO: Final = frozenset({*SUCCESS_KEYS, REMAINING})     # what no recording holds unless it is to be shown


def success_key_of(keys: Iterable[str]) -> str | None:
    """The usual name among the keys of `info`; None if there is none."""
    known = {*keys}
    return next((key for key in SUCCESS_KEYS if key in known), None)


def reports_success(info: Mapping[str, Any], key: str) -> bool:
    """Whether `info` reports success under this key, which may lead into it with dots, as in "metrics.solved"."""
    try:
        value = info[key] if key in info else _within(info, key.split("."))
        return bool(value) and not info.get(REMAINING) if key == COMPLETIONS else bool(np.any(value))
    except (TypeError, ValueError):     # no flag any more
        return False


def _within(info: Any, path: list[str]) -> Any:
    """What is at the end of a path of keys; False if it leads nowhere."""
    for step in path:
        if not isinstance(info, Mapping):
            return False
        info = info.get(step, False)
    return info
