"""One task in one simulator, as a worker steps it."""

from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..recording import Recording
from ..values import JSON

Observation: TypeAlias = NDArray[np.float64] | dict[str, JSON]
Action: TypeAlias = NDArray[np.float64] | list[JSON]


class Environment(Protocol):
    """One task in one simulator, stepped by a trusted worker; the policy is in another process.

    **Form.** Where `observation_layout` is given, observations are flat float64 vectors with the named fields one
    after the other (a policy sees a dict of arrays of these shapes), and actions are float64 vectors of
    `action_size`. Where it is None, `action_size` is None, observations are JSON-able dicts and actions JSON lists.
    Both attributes hold from construction on and never change.

    **Order of calls.** `reset` begins an episode. Each step is one `observe`, then one `step`, until `step` returns
    a word; then comes the next `reset`. `reset` may come at any time, also twice, and after an episode that was left
    in its middle or whose `step` raised. `recording` and `success` may be called at any time after the first
    `reset`, any number of times, and change nothing. `close` comes last and once, also where `reset` never came.

    **Threads.** One thread uses an environment from its construction to `close`. Several environments may live in
    one process, one of them used at a time.

    **Determinism.** The options, `index`, `seed` and the actions decide an episode to the last bit: observations,
    end, success, recording. The process, its age, and the episodes before decide nothing. `info` holds nothing that
    differs between two such episodes, such as a time or a path.

    **Ownership.** What is returned belongs to the caller: later steps do not change it. What is passed stays the
    caller's: an environment neither changes it nor keeps a reference.

    **Errors.** ValueError of `step` is about the policy (see there). Every other exception is taken for a failure of
    the simulator: the worker ends, and the episode is rolled out once more in a new process.

    **Deadlines.** The pool ends a worker that is silent for too long: 120 s by default, 600 s while an environment is
    made. An environment sets no deadlines.
    """

    observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None
    action_size: int | None

    def reset(self, *, index: int, seed: int) -> None:
        """Begin episode `index` of a candidate, from 0. All randomness comes from `seed`, in any process."""

    def observe(self) -> Observation:
        """What the policy sees now. Called exactly once per step, so sensor noise is reproducible."""

    def step(self, action: Action) -> str | None:
        """Advance one control step; returns what ended the episode, or None.

        The word is "success" only where `success()` holds, and never "fault", which is for programs that fail.
        A vector is well formed (right size, finite); how far out of range it is handled is the domain's matter.
        Raises ValueError with one sentence where a JSON action breaks the domain's own action contract; nothing is
        recorded then.
        """

    def success(self) -> bool:
        """σ(τ): whether the task's success predicate held (the paper's S counts these)."""

    def recording(self) -> Recording:
        """The trajectory so far: T + 1 states and T actions of T steps, also for T = 0, all under different names.

        Arrays are plain numbers, flags or texts. `info` is JSON without NaN, and may name the scene under "scene".
        """

    def close(self) -> None:
        """Let go of the simulator: no process, thread or descriptor of it is left."""


@runtime_checkable
class Encoding(Protocol):
    """What an environment with JSON observations may offer as well: the text of `observe`, made more cheaply."""

    def observe_encoded(self) -> bytes:
        """What `observe` would return, as JSON text in UTF-8. Called in its place, never in addition."""
