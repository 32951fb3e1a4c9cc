"""The port of one task in one simulator, stepped by a worker."""

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..recording import Recording
from ..values import JSON

Observation: TypeAlias = NDArray[np.float64] | dict[str, JSON]
Action: TypeAlias = NDArray[np.float64] | list[JSON]


class InvalidAction(ValueError):
    """A policy's action breaks the domain's action contract; the message is one sentence that says how."""


class SimulatorFailed(Exception):
    """The simulator failed in the present episode; the message is one sentence with what it raised and where."""


class Environment(Protocol):
    """One task in one simulator, stepped by a trusted worker; the policy is in another process.

    **Form.** If `observation_layout` is given, observations are flat float64 vectors with the named fields one
    after the other (a policy sees a dict of arrays of these shapes), and actions are float64 vectors of
    `action_size`. If it is None, `action_size` is None, observations are JSON-able dicts and actions JSON lists.
    Both attributes are set on construction and never change.

    **Order of calls.** `reset` begins an episode. Each step is one `observe`, then one `step`, until `step` returns
    a word; the next `reset` follows. `reset` may be called at any time, also twice, and after an episode that was
    left in its middle or whose `step` raised. `recording` and `success` may be called at any time after the first
    `reset`, any number of times, and change nothing. `close` is called last and once, even without a `reset`.

    **Threads.** One thread uses an environment from its construction to `close`. Several environments may live in
    one process, one of them used at a time.

    **Determinism.** The options, `index`, `seed` and the actions determine an episode to the last bit: observations,
    end, success, recording. The process, its age and earlier episodes have no effect. `info` holds no value that
    differs between two such episodes, such as a time or a path.

    **Ownership.** Returned values belong to the caller: later steps do not change them. Arguments stay the
    caller's: an environment neither changes them nor keeps a reference.

    **Errors.** InvalidAction, or any ValueError for a JSON action, from `step` blames the policy (see there). Every
    other exception counts as a failure of the simulator, as does an end of the process: the episode is rolled out
    once more in a new process, and a second failure is a fault of the policy that reached this state. SimulatorFailed
    is for environments that report such a failure in their own words.

    **Deadlines.** The pool ends a worker that is silent for too long: 120 s by default, 600 s while it makes an
    environment. An environment sets no deadlines.
    """

    observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None
    action_size: int | None

    def reset(self, *, index: int, seed: int) -> None:
        """Begin episode `index` (from 0) of a candidate. All randomness comes from `seed`, in any process."""

    def observe(self) -> Observation:
        """The current observation. Called exactly once per step, so that sensor noise is reproducible."""

    def step(self, action: Action) -> str | None:
        """Advance one control step. Returns the word for the end of the episode, or None.

        The word is "success" only if `success()` holds, and never "fault", which is for programs that fail.
        A vector is well formed (right size, finite); the domain defines how it handles values out of range.
        Raises InvalidAction with one sentence if the action breaks the domain's action contract, such as a number
        that must be an integer; for JSON actions any ValueError does. Such a step is not recorded.
        """

    def success(self) -> bool:
        """σ(τ): whether the task's success predicate held (the paper's S counts these)."""

    def recording(self) -> Recording:
        """The trajectory so far: T + 1 states and T actions for T steps, also for T = 0, all under different names.

        Arrays hold plain numbers, flags or texts. `info` is JSON without NaN, and may name the scene under "scene" and
        the rule of the task that ended the episode under "broken_rule", in a word that prompts may show.
        A task with rewards puts their sum under "return": every display shows it next to F.
        """

    def close(self) -> None:
        """Release the simulator: no process, thread or descriptor of it remains."""


@runtime_checkable
class Encoding(Protocol):
    """An optional port of an environment with JSON observations: a cheaper way to the text of `observe`."""

    def observe_encoded(self) -> bytes:
        """The result of `observe` as JSON text in UTF-8. Called instead of `observe`, never in addition."""


@runtime_checkable
class Choosing(Protocol):
    """An optional port of an environment: actions that need no policy, for an idle and a random episode.

    Without it vectors are idle at 0 and random in [-1, 1], and an environment with JSON actions has no such episodes.
    """

    def idle_action(self) -> Action:
        """An action that does nothing for the task."""

    def random_action(self, rng: np.random.Generator) -> Action:
        """A random action that is allowed now; it never ends the episode by itself."""


@runtime_checkable
class Naming(Protocol):
    """An optional port of an environment: what the numbers of a field are, for the stories of its episodes."""

    @property
    def element_names(self) -> Mapping[str, Sequence[str]]:
        """By field of the layout, names of its first numbers, in a few words each."""
