"""Makes Gymnasium environments. Imports Gymnasium and simulators: workers and the helper process only."""

import importlib
import os
import random
import signal
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.extras import explain, pip_command, shadow_words
from ...core.text import error_words
from .masks import flat_mask
from .names import (
    KEPT,
    SEEDED,
    EnvironmentId,
    missing_module,
    missing_suite,
    package_of,
    suite_of,
)
from .perturbing import NOMINAL, Changing, Draw, changing, draw
from .spaces import AT_RESET, MASK, WHOLE
from .unknown import can_be_made, newest_of, unknown_id

CLOSE_S: Final = 10.0               # for an environment to close
MOST_SEED: Final = 2**31            # numpy's older generators take no larger seeds


def environment_seed(seed: int) -> int:
    """The seed that an environment gets for an episode: the episode's own, if it is small enough."""
    return seed % MOST_SEED


class Simulator:
    """A Gymnasium environment that can be reset to the beginning of any episode."""

    def __init__(
        self, identity: EnvironmentId, kwargs: Mapping[str, Any], *, max_episode_steps: int | None, mode: str,
        render: bool = False, mask: str = "", choices: Sequence[int] = (), at_reset: Sequence[str] = (),
        perturb: str = NOMINAL, reset: Mapping[str, Any] | None = None,
    ) -> None:
        """`mask` says where the environment has its mask of actions, one of `mask_of`, "" for none.

        `at_reset` are keys of the `info` of `reset` that every observation has next to it. `perturb` is the level at
        which the physics of each episode are changed. `reset` are the `options` that the environment's `reset` gets.
        """
        self._identity, self._mode = identity, mode
        self._mask_from, self._choices = mask, tuple(choices)
        self._reset_keys, self._at_reset = tuple(at_reset), dict[str, Any]()
        self.mask: NDArray[np.bool_] | None = None      # of the present state
        self._kwargs = dict(kwargs)
        if max_episode_steps is not None:
            self._kwargs["max_episode_steps"] = max_episode_steps
        if render:
            self._kwargs["render_mode"] = "rgb_array"
        self._reset_options = {"options": dict(reset)} if reset else {}
        self.env: Any = None
        self._perturb = perturb
        self.drawn: Draw | None = None      # how the physics of this episode are changed
        self._changing: Changing | None = None
        self._waiting: list[Any] = []       # actions that have not taken effect yet
        if mode == KEPT:
            seed_globals(0)
            self._make({})

    def begin(self, seed: int) -> tuple[Any, Mapping[str, Any]]:
        """Begin the episode of this seed. Returns the observation and the info of `reset`."""
        seed = environment_seed(seed)
        seed_globals(seed)
        if self._mode != KEPT:
            self.close()
            own = {"seed": seed} if self._mode == SEEDED else {}
            self._make(own)
        self._draw(seed)
        try:
            begun = self.env.reset(seed=seed, **self._reset_options)
        except (TypeError, ValueError) as error:
            if "unexpected keyword argument 'seed'" in str(error) or _unpacked_by_a_wrapper(error, 2):
                raise UsageError(OLD_RESET) from error
            raise
        if not (isinstance(begun, tuple) and len(begun) == 2 and isinstance(begun[1], Mapping)):
            raise UsageError(OLD_RESET)
        if self._changing is not None and self.drawn is not None:
            self._changing.after(self.drawn)
        self._at_reset = {key: begun[1][key] for key in self._reset_keys if key in begun[1]}
        return self._whole_observation(*begun), begun[1]

    def _make(self, own: Mapping[str, Any]) -> None:
        self.env = make(self._identity, {**self._kwargs, **own})
        if self._perturb != NOMINAL:
            self._changing = changing(self.env, self._identity.name)

    def _draw(self, seed: int) -> None:
        """Change the physics for the episode of this seed."""
        if self._changing is None:
            return
        self.drawn = draw(self._perturb, seed)
        self._changing.before(self.drawn)
        self._waiting = []

    def _late(self, action: Any) -> Any:
        """The action that takes effect now: scaled, and that of an earlier step where actions are late.

        The first one acts until the second does, since not every action space has one that does nothing.
        """
        assert self._changing is not None and self.drawn is not None
        self._waiting.append(self._changing.scaled_action(action, self.drawn))
        return self._waiting.pop(0) if len(self._waiting) > self.drawn.delay else self._waiting[0]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Mapping[str, Any]]:
        """One step of the environment, in Gymnasium's form. Raises UsageError with the fix for another form."""
        try:
            answer = self.env.step(action if self._changing is None else self._late(action))
        except ValueError as error:
            if _unpacked_by_a_wrapper(error, 5):
                raise UsageError(OLD_STEP) from error
            raise
        if not isinstance(answer, tuple) or len(answer) != 5:
            if isinstance(answer, tuple) and len(answer) == 4:
                raise UsageError(OLD_STEP)
            raise UsageError("step() of the environment does not return (observation, reward, terminated, truncated, "
                             "info)")
        observation, reward, terminated, truncated, info = answer
        if not isinstance(info, Mapping):
            raise UsageError(f"the info of step() is a {type(info).__name__}, not a dict: return {{}} for none")
        return (
            self._whole_observation(observation, info), reward_of(reward), _flag(terminated, "terminated"),
            _flag(truncated, "truncated"), info,
        )

    def show_besides(self, *, mask: str, choices: Sequence[int], at_reset: Sequence[str]) -> None:
        """From the next episode on, observations have the mask that is found there, and these keys of `reset`."""
        self._mask_from, self._choices, self._reset_keys = mask, tuple(choices), tuple(at_reset)

    def _whole_observation(self, observation: Any, info: Mapping[str, Any]) -> Any:
        """The observation, with what it does not hold itself next to it: the mask, and what `reset` said."""
        beside: dict[str, Any] = {AT_RESET: self._at_reset} if self._reset_keys else {}
        if self._mask_from:
            value = mask_value(self.env, observation, info, self._mask_from)
            self.mask = np.ones(sum(self._choices), bool) if value is None else flat_mask(value, self._choices)
            if self._mask_from != IN_OBSERVATION:
                beside[MASK] = self.mask
        return {WHOLE: observation, **beside} if beside else observation

    def close(self) -> None:
        """Release the environment. A `close` that raises or hangs changes nothing of what was found or played."""
        env, self.env = self.env, None
        if env is not None:
            with suppress(Exception, SystemExit), _interrupted_after(CLOSE_S):
                env.close()


@contextmanager
def _interrupted_after(limit_s: float) -> Iterator[None]:
    """Raises TimeoutError within the block after this time; in a thread other than the main one it cannot."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


OLD_RESET: Final = (
    "reset() of the environment does not return (observation, info): it is written for gym before 0.26; wrap it as in "
    "docs/gymnasium.md, \"An environment of the old gym\", or in shimmy's GymV21CompatibilityV0"
)
OLD_STEP: Final = (
    "step() of the environment returns 4 values (observation, reward, done, info), as gym before 0.26 did, not 5 "
    "(observation, reward, terminated, truncated, info): wrap it as in docs/gymnasium.md, \"An environment of the old "
    "gym\", or in shimmy's GymV21CompatibilityV0"
)


def _unpacked_by_a_wrapper(error: Exception, expected: int) -> bool:
    """Whether a wrapper of Gymnasium's wanted this many values of the environment and did not get them."""
    place = traceback.extract_tb(error.__traceback__)[-1].filename
    return f"values to unpack (expected {expected}" in str(error) and "/gymnasium/" in place


def reward_of(reward: Any) -> float:
    """A reward as a float; infinite where it is too large for one. Raises UsageError for anything but one number."""
    if type(reward) is float or type(reward) is np.float64:     # the common case
        return float(reward)
    if isinstance(reward, Mapping):
        raise UsageError("the reward is a dict, as in environments of several agents: wrap the environment so that one "
                         "agent acts and one number is its reward")
    size = np.size(reward)
    if size != 1:
        raise UsageError(
            f"the reward is a vector of {size} numbers, but one is needed: weight them with a wrapper, such as "
            "mo_gymnasium's LinearReward or gymnasium's TransformReward(env, lambda r: float(weights @ r))"
        )
    try:
        return float(np.asarray(reward).reshape(-1)[0])
    except OverflowError:
        return np.inf
    except (TypeError, ValueError):
        raise UsageError(f"the reward is {reward!r:.60}, not a number") from None


def _flag(value: Any, name: str) -> bool:
    if type(value) is bool:     # the common case
        return value
    if np.size(value) != 1:
        raise UsageError(f"{name} of step() is an array of {np.size(value)} flags: several environments or agents at "
                         "once are not supported, make one of them")
    return bool(np.asarray(value).reshape(-1)[0])


# Where environments have their masks of actions.
IN_OBSERVATION: Final = "observation"
BY_METHOD: Final = "action_masks"       # a method, as sb3-contrib calls it
IN_INFO: Final = "info"
_KEYS: Final = ("action_mask", "action_masks")


def mask_of(env: Any, observation: Any, info: Mapping[str, Any]) -> str:
    """Where an environment has its mask of actions; "" if it has none."""
    return next((where for where in (IN_INFO, BY_METHOD, IN_OBSERVATION)
                 if mask_value(env, observation, info, where) is not None), "")


def mask_value(env: Any, observation: Any, info: Mapping[str, Any], where: str) -> Any:
    """The mask of the present state as the environment gives it; None if it gives none."""
    if where == BY_METHOD:
        for layer in _layers(env):
            method = getattr(layer, BY_METHOD, None) if BY_METHOD in dir(layer) else None
            if callable(method):
                return method()
        return None
    held = info if where == IN_INFO else observation
    return next((held[key] for key in _KEYS if key in held), None) if isinstance(held, Mapping) else None


def _layers(env: Any) -> Iterator[Any]:
    """The environment with its wrappers, the outermost first."""
    while env is not None:
        yield env
        inner = getattr(env, "env", None)
        env = inner if inner is not env else None


def seed_globals(seed: int) -> None:
    """Seed the generators that some environments use without asking for a seed."""
    random.seed(seed)
    np.random.seed(seed)


def make(identity: EnvironmentId, kwargs: Mapping[str, Any]) -> Any:
    """A new environment. Raises UsageError if there is none of this id, or if it cannot be made with `kwargs`."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # suites are noisy; an outdated version is the user's choice
        registry = _registry_for(identity)
        spec = registry.get(identity.id)
        if spec is None or (callable(spec.entry_point) and not can_be_made(spec)):     # or kept for a message alone
            raise UsageError(unknown_id(identity, registry))
        try:
            import gymnasium

            return gymnasium.make(identity.id, disable_env_checker=True, **kwargs)
        except (Exception, SystemExit) as error:     # the constructor is the user's, and so is whatever it raises
            name = identity.name
            missing = next((each for each in (error, error.__cause__, error.__context__)
                            if isinstance(each, ModuleNotFoundError)), None)
            if missing is not None:
                raise (explain(missing, name) or UsageError(missing_module(name, missing))) from error
            said = error_words(error, besides=("gymnasium",))
            given = f" with {dict(kwargs)!r}" if kwargs else ""
            newest = newest_of(identity, registry)
            newer = f"; the newest of this task is gym:{newest}" if newest else ""
            raise UsageError(f"{name} cannot be made{given}: {said}{newer}") from error


def _registry_for(identity: EnvironmentId) -> Mapping[str, Any]:
    """Gymnasium's registry, after the package that registers this id. Raises UsageError."""
    import gymnasium

    suite = suite_of(identity)
    module = identity.module or (suite.package if suite is not None else "") or identity.namespace_module
    if not module or identity.id in gymnasium.registry:
        return gymnasium.registry
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise (explain(error, identity.name) or UsageError(missing_module(identity.name, error))) from None
        if suite is not None:
            raise UsageError(missing_suite(identity, suite)) from None
        if not identity.module:
            return gymnasium.registry       # its namespace is no module
        raise UsageError(
            f"{identity.name} cannot be made: there is no module {error.name!r}; install it"
            f" ({pip_command(package_of(error.name))}), or name its folder in PYTHONPATH"
        ) from None
    except (Exception, SystemExit) as error:
        raise UsageError(f"{identity.name} cannot be made: its module {module!r} cannot be imported: "
                         f"{error_words(error)}{shadow_words(error)}") from error
    return gymnasium.registry
