"""Makes Gymnasium environments. Imports Gymnasium and simulators: workers and the helper process only."""

import importlib
import os
import random
import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...core.errors import UsageError, nearest
from ...core.extras import explain
from ...core.text import one_line
from .names import KEPT, SEEDED, EnvironmentId, missing_suite, suite_of

MOST_SEED: Final = 2**31            # numpy's older generators take no larger seeds


def environment_seed(seed: int) -> int:
    """The seed that an environment gets for an episode: the episode's own, if it is small enough."""
    return seed % MOST_SEED


class Simulator:
    """A Gymnasium environment that can be reset to the beginning of any episode."""

    def __init__(
        self, identity: EnvironmentId, kwargs: Mapping[str, Any], *, max_episode_steps: int | None, mode: str,
        render: bool = False,
    ) -> None:
        self._identity, self._mode = identity, mode
        self._kwargs = dict(kwargs)
        if max_episode_steps is not None:
            self._kwargs["max_episode_steps"] = max_episode_steps
        if render:
            self._kwargs["render_mode"] = "rgb_array"
        self.env: Any = None
        if mode == KEPT:
            seed_globals(0)
            self.env = make(identity, self._kwargs)

    def begin(self, seed: int) -> tuple[Any, Mapping[str, Any]]:
        """Begin the episode of this seed. Returns the observation and the info of `reset`."""
        seed = environment_seed(seed)
        seed_globals(seed)
        if self._mode != KEPT:
            self.close()
            own = {"seed": seed} if self._mode == SEEDED else {}
            self.env = make(self._identity, {**self._kwargs, **own})
        observation, info = self.env.reset(seed=seed)
        return observation, info

    def close(self) -> None:
        """Release the environment."""
        if self.env is not None:
            self.env.close()
            self.env = None


def seed_globals(seed: int) -> None:
    """Seed the generators that some environments use without asking for a seed."""
    random.seed(seed)
    np.random.seed(seed)


def make(identity: EnvironmentId, kwargs: Mapping[str, Any]) -> Any:
    """A new environment. Raises UsageError if there is none of this id, or if it cannot be made with `kwargs`."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # suites are noisy; an outdated version is the user's choice
        registry = _registered(identity)
        if identity.id not in registry:
            near = nearest(identity.id, registry, cutoff=0.3) or sorted(registry)[:3]
            raise UsageError(
                f"Gymnasium knows no environment {identity.id!r}: did you mean {' or '.join(map(repr, near))}? An "
                "environment of another package is gym:PACKAGE:ID"
            )
        try:
            import gymnasium

            return gymnasium.make(identity.id, disable_env_checker=True, **kwargs)
        except Exception as error:     # the constructor is the user's, and so is whatever it raises
            name = f"gym:{identity.id}"
            if isinstance(error.__cause__, ImportError) and (known := explain(error.__cause__, name)) is not None:
                raise known from error
            said = one_line(f"{type(error).__name__}: {error}", 400)
            raise UsageError(f"{name} cannot be made with {dict(kwargs)!r}: {said}") from error


def _registered(identity: EnvironmentId) -> Mapping[str, Any]:
    """Gymnasium's registry, after the package that registers this id. Raises UsageError."""
    import gymnasium

    suite = suite_of(identity)
    module = identity.module or (suite.package if suite is not None else "")
    if module and identity.id not in gymnasium.registry:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise UsageError(f"gym:{identity.id} cannot be made: {module!r} needs {error.name!r}, which is not "
                                 "installed") from None
            if suite is not None:
                raise UsageError(missing_suite(identity, suite)) from None
            raise UsageError(
                f"gym:{module}:{identity.id} cannot be made: there is no module {error.name!r}; install it, or name "
                "its folder in PYTHONPATH"
            ) from None
    return gymnasium.registry
