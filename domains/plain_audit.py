"""Programs for an audit in any domain whose actions are vectors: they never look at an observation."""

from collections.abc import Iterator, Sequence
from typing import Final

from ..core.ports import AuditProgram
from ..core.ports.auditing import KNOCKING, OSCILLATING, WAITING
from ..core.values import Program

_TEXT: Final = '''"""{title}"""

import numpy as np


class {name}:
    """{title}"""

    SHARE = {share}         # of the way from the idle action
    FIRST = {first}         # in turn, as shares of the way from the least to the greatest action
    SECOND = {second}
    PERIOD = {period}       # steps between two changes
    IDLE = {idle}
    LOW = {low}
    HIGH = {high}
    WHOLE = {whole}

    def reset(self):
        self.step = -1

    def compute_action(self, obs):
        self.step += 1
        turn = self.step // max(1, round(self.PERIOD)) % 2
        level = min(1.0, self.SECOND if turn else self.FIRST)
        idle, low, high = (np.array(each, dtype=float) for each in (self.IDLE, self.LOW, self.HIGH))
        action = idle + min(1.0, self.SHARE) * (low + level * (high - low) - idle)
        return np.where(self.WHOLE, np.rint(action), action)
'''
_PROGRAMS: Final = (
    ("waits", WAITING, "Does nothing.", {"share": 0.0, "first": 0.5, "second": 0.5, "period": 10}),
    ("leans_up", KNOCKING, "Gives the greatest action.", {"share": 1.0, "first": 1.0, "second": 1.0, "period": 10}),
    ("leans_down", KNOCKING, "Gives the least action.", {"share": 1.0, "first": 0.01, "second": 0.01, "period": 10}),
    (
        "oscillates", OSCILLATING, "Changes between the least and the greatest action.",
        {"share": 1.0, "first": 0.01, "second": 1.0, "period": 10},
    ),
    (
        "trembles", OSCILLATING, "Changes between the least and the greatest action at every step.",
        {"share": 1.0, "first": 0.01, "second": 1.0, "period": 1},
    ),
)


def vector_programs(
    class_name: str, *, idle: Sequence[float], low: Sequence[float], high: Sequence[float],
    whole: Sequence[bool] | None = None,
) -> Iterator[AuditProgram]:
    """The programs for actions within these finite bounds, one number per place.

    `idle` does nothing; `whole` marks the places that take integers, by default none.
    """
    places = {
        "idle": [*idle], "low": [*low], "high": [*high], "whole": [False] * len(idle) if whole is None else [*whole]
    }
    for name, kind, title, numbers in _PROGRAMS:
        text = _TEXT.format(title=title, name=class_name, **places, **numbers)
        yield AuditProgram(name=name, kind=kind, program=Program(text))
