"""A recorded trajectory τ: arrays over time, the input of an evaluator, which a run stores."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .values import JSON

Array: TypeAlias = NDArray[np.generic]
"""Any array of numbers or flags."""

MISSING = "missing"
"""The entry of `info` with the reported numbers that could not be recorded, and why: a sentence's end."""

STAGES = "policy_stages"
"""The entry of `info` with the stages that a policy named: [name, step] for each change, the first ones."""

STAGE_CHANGES = 500
"""How many of these changes are recorded."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """The arrays of one episode of T steps.

    `states` have T + 1 rows (row 0 is the state after reset), `actions` have T rows, `constants` have
    any shape. `info` holds the domain's draws and measurements; evaluators do not receive it.
    """

    states: Mapping[str, Array]
    actions: Mapping[str, Array]
    constants: Mapping[str, Array] = field(default_factory=dict)
    info: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        """T, the number of control steps."""
        return len(next(iter(self.states.values()))) - 1

    def cut(self, steps: int) -> "Recording":
        """The first `steps` steps of this episode, as if it had ended there."""
        return replace(
            self,
            states={name: rows[: steps + 1] for name, rows in self.states.items()},
            actions={name: rows[:steps] for name, rows in self.actions.items()},
        )

    def end(self, steps: int) -> "Recording":
        """The last `steps` steps of this episode; `info` gains the number of the first as "kept_from_step"."""
        first = max(0, self.steps - steps)
        return replace(
            self,
            states={name: rows[first:] for name, rows in self.states.items()},
            actions={name: rows[first:] for name, rows in self.actions.items()},
            info={**self.info, "kept_from_step": first},
        )

    def without(self, names: Collection[str]) -> "Recording":
        """This episode without these arrays, constants and entries of `info`."""
        return replace(
            self,
            states={name: rows for name, rows in self.states.items() if name not in names},
            actions={name: rows for name, rows in self.actions.items() if name not in names},
            constants={name: value for name, value in self.constants.items() if name not in names},
            info={name: value for name, value in self.info.items() if name not in names},
        )

    def arrays(self) -> dict[str, Array]:
        """The evaluator's input: one flat dict of states, actions and constants. Names are unique."""
        return {**self.states, **self.actions, **self.constants}
