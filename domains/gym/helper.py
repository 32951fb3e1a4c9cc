"""The helper process that looks at an environment and describes it, so that the controller need not import it.

    python -m memento.domains.gym.helper describe|repeat REQUEST

REQUEST is a JSON object with `id`, `kwargs`, `max_episode_steps`, the path `progress` of a file for the number of steps
and, for repeat, the `modes` to try. The answer is one JSON object on standard output: `problem` with a sentence for the
user, `raised` with what the environment raised, or what the task found out. What the environment's code prints goes to
standard error.
"""

import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.errors import UsageError
from ...core.process_tree import adopt_orphans, end_descendants
from ...core.text import error_words
from .actions import ActionReader
from .description import FORMAT, first_difference
from .documentation import clean, without_other_modes
from .facts import arguments_text, values_in_force
from .loading import IN_OBSERVATION, Simulator, mask_of
from .masks import choices_of, with_mask, with_reset_info
from .model_facts import model_text, parts_of, plain_attributes
from .mujoco_model import model_and_data, state_names
from .names import KEPT, SEEDED, EnvironmentId, modes_of, notes_of, parse_id, suite_of
from .origins import STEPS, origins, sources_of
from .own_code import action_names, classes_of, success_code
from .perturbing import can_change
from .playing import REPEATED_S, REPEATED_STEPS, Player, RandomPolicy
from .spaces import (
    MOST_ACTION_NUMBERS,
    MOST_NUMBERS,
    TEXT,
    Leaf,
    flat_vector,
    has_text,
    leaves_of,
    require_small,
)
from .success import SUCCESS_KEYS
from .versions import versions_with

DEFAULT_HORIZON: Final = 1_000      # for environments that are registered without a limit
REPEATED_SEEDS: Final = (11, 12)
REPEATS: Final = 2
MOST_EXPLAINED: Final = 512         # numbers of a field whose origins are looked for
ORIGINS_S: Final = 10.0
PROGRESS_S: Final = 0.5             # interval at which the steps are reported
RESERVED: Final = ("action", "reward", "terminated", "truncated", "return_low", "return_high", "action_low",
                   "action_high", "goal", "success", "horizon")


class _Progress:
    """Writes the number of steps, their rate and the horizon to a file that the controller reads."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("wb", buffering=0)  # noqa: SIM115 - open as long as the process
        self._steps, self._spent, self._noted = 0, 0.0, 0.0
        self._begun: float | None = None
        self.horizon = 0

    def step(self) -> None:
        """A step begins."""
        now = time.monotonic()
        self._steps += 1
        if self._steps == 2:        # the first step may have compiled something: it says nothing of the others
            self._begun = now
        if now - self._noted > PROGRESS_S:
            self._noted = now
            rate = (self._steps - 2) / (now - self._begun) if self._begun is not None and now > self._begun else 0.0
            line = json.dumps({"steps": self._steps, "rate": rate, "horizon": self.horizon})
            os.pwrite(self._file.fileno(), line.ljust(120).encode(), 0)


class _Helper:
    """Looks at one environment."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self._identity: EnvironmentId = parse_id(request["id"])
        self._name = str(request["id"])
        self._kwargs: dict[str, Any] = request["kwargs"]
        self._given_steps: int | None = request["max_episode_steps"]
        self._reset: dict[str, Any] = request.get("reset", {})
        self._modes: tuple[str, ...] = tuple(request.get("modes", ()))
        self._progress = _Progress(request["progress"])
        self._made: list[Simulator] = []

    def _simulator(self, mode: str) -> Simulator:
        made = Simulator(
            self._identity, self._kwargs, max_episode_steps=self._given_steps, mode=mode, reset=self._reset,
        )
        self._made.append(made)
        return made

    def _begin_episode(self, mode: str) -> "_Begun":
        """An environment at the beginning of an episode, with its spaces and its mask."""
        simulator = self._simulator(mode)
        observation, info = simulator.begin(0)
        env = simulator.env
        leaves, action = spaces_of(env, self._name)
        reader = ActionReader(action)
        choices = choices_of(action)
        self._progress.step()
        first = _first_step(simulator, reader)
        where = ""
        if choices:
            where = mask_of(env, observation, info) or (mask_of(env, *first) if first else "")
        if where not in ("", IN_OBSERVATION):
            leaves = with_mask(leaves, choices)
        if first:
            leaves = with_reset_info(leaves, info, first[1], RESERVED)
        at_reset = [str(leaf.path[1]) for leaf in leaves if leaf.at_reset]
        simulator.show_besides(mask=where, choices=choices if where else (), at_reset=at_reset)
        horizon = self._given_steps or env.spec.max_episode_steps or max(DEFAULT_HORIZON, 2 * _own_limit(env.unwrapped))
        self._progress.horizon = int(horizon)
        return _Begun(simulator, leaves, action, where, int(horizon),
                      Player(simulator, leaves, reader, int(horizon), self._progress.step))

    def close(self) -> None:
        """Release every environment."""
        for made in self._made:
            made.close()

    def repeat(self) -> dict[str, Any]:
        """The first episodes in this process, by the way an episode begins."""
        return {"plays": {mode: self._plays(mode, history=False)[0] for mode in self._modes}}

    def describe(self) -> dict[str, Any]:
        """Everything, and the episodes that follow others: up to the first way that repeats them."""
        plays: dict[str, Any] = {}
        differs: dict[str, str] = {}
        modes = modes_of(self._identity)
        begun: _Begun | None = None
        for mode in modes:      # to make an environment can take a second: no more ways than needed
            plays[mode], differs[mode], begun = self._plays(mode, history=True)
            if plays[mode]:
                break
        else:
            mode = modes[0]
        if begun is None:
            begun = self._begin_episode(mode)
        facts = facts_of(begun.simulator.env, self._name)
        bare = begun.simulator.env.unwrapped
        attributes = plain_attributes(bare)
        random = RandomPolicy(begun.player, begun.observation, begun.horizon)
        bare = begun.simulator.env.unwrapped        # a new one, where each episode has one
        model = model_text(bare, attributes, facts["arguments"])    # after the episodes: what stayed is constant
        return {"plays": plays, "differs": differs, "description": {
            "format": FORMAT, "id": self._name, "kwargs": self._kwargs, "horizon": begun.horizon,
            **facts, "observation": [leaf.as_json() for leaf in begun.observation],
            "model": model, **random.measurements(),
            "parts": facts["parts"] | origins_in(begun, facts["parts"], self._progress.step),
            "mode": mode, "repeatable": False,      # decided by comparison with the other process
            "reset": self._reset, "mask": begun.mask, "raises": begun.player.raised,
            "changeable": can_change(begun.simulator.env, self._name),
        }}

    def _plays(self, mode: str, *, history: bool) -> tuple[list[dict[str, Any]], str, "_Begun | None"]:
        """The first episodes, and where they differ after other episodes; none if that is not possible or they do.

        The environment of those that do not differ stays open: one that fails to close has been looked at by then.
        """
        begun: _Begun | None = None
        plays: list[dict[str, Any]] = []
        try:
            begun = self._begin_episode(mode)
            plays = [self._play(begun.player, seed, limit_s=REPEATED_S) for seed in REPEATED_SEEDS]
            if history:     # several times: an environment that draws from few tasks repeats one by chance
                for repeat in range(REPEATS if mode == KEPT else 1):    # a new environment remembers nothing
                    for seed, known in zip(REPEATED_SEEDS, plays, strict=True):
                        again = self._play(begun.player, seed, limit_s=REPEATED_S / 2 if repeat == 0 else 0.0)
                        if where := first_difference(known, again):
                            plays = []
                            return plays, f"{where} when it was played again after others", None
            return plays, "", begun
        except UsageError:
            if mode == SEEDED:
                return [], "", None     # most environments take no seed when they are made
            raise
        finally:
            if begun is not None and not plays:
                begun.simulator.close()

    def _play(self, player: Player, seed: int, *, limit_s: float) -> dict[str, Any]:
        return player.play(
            seed, limit_s=limit_s, least=REPEATED_STEPS, see=lambda observation, info: None, digest=True
        ).as_json()


def spaces_of(env: Any, name: str) -> tuple[tuple[Leaf, ...], tuple[Leaf, ...]]:
    """The leaves of the observations and of the actions of the environment with this id. Raises UsageError."""
    observation = leaves_of(env.observation_space, root="observation", reserved=RESERVED)
    action = leaves_of(env.action_space, root="action", reserved=(), scalars=True)
    require_small(observation, most=MOST_NUMBERS, what=f"an observation of gym:{name}")
    require_small(action, most=MOST_ACTION_NUMBERS, what=f"an action of gym:{name}")
    if has_text(action) or not action:
        raise UsageError(f"gym:{name} takes texts as actions, which is not supported")
    return observation, action


def facts_of(env: Any, name: str) -> dict[str, Any]:
    """The fields of a description that need no step of the environment with this id. Raises UsageError.

    A mask of actions that is put next to the observation is not among them.
    """
    observation, action = spaces_of(env, name)
    spec, bare, identity = env.spec, env.unwrapped, parse_id(name)
    suite = suite_of(identity)
    return {
        "observation": [leaf.as_json() for leaf in observation], "action": [leaf.as_json() for leaf in action],
        **texts_of(bare, identity, spec.kwargs), "step_s": _step_s(bare),
        "parts": {leaf.name: parts for leaf in observation if len(observation) == 1
                  and (parts := parts_of(bare, leaf.size))},
        "choices": action_names(env, int(action[0].high[0] - action[0].low[0]) + 1) if len(action) == 1
        and action[0].size == 1 and action[0].whole else [],
        "success_codes": {key: code for key in SUCCESS_KEYS if (code := success_code(bare, key))},
        "threshold": None if spec.reward_threshold is None else float(spec.reward_threshold),
        "goal": _has_goals(env.observation_space),
        "draws": "rgb_array" in bare.metadata.get("render_modes", ()),
        "needs_opengl": "mujoco" in sys.modules and (hasattr(bare, "mujoco_renderer") or hasattr(bare, "model")),
        "versions": versions_with(type(bare).__module__, None if suite is None else suite.package),
    }


def _first_step(simulator: Simulator, reader: ActionReader) -> tuple[Any, Mapping[str, Any]] | None:
    """The observation and the `info` of a first step; None if the action that does least is not allowed."""
    with suppress(Exception, SystemExit):
        observation, _, _, _, info = simulator.step(reader.native(reader.idle()))
        return observation, info
    return None


@dataclass(frozen=True, slots=True)
class _Begun:
    """An environment that was begun, and what is known of it then."""

    simulator: Simulator
    observation: tuple[Leaf, ...]
    action: tuple[Leaf, ...]
    mask: str
    horizon: int
    player: Player


def _has_goals(space: Any) -> bool:
    """Whether observations hold an achieved and a desired goal."""
    inner = getattr(space, "spaces", None)
    return isinstance(inner, Mapping) and {"achieved_goal", "desired_goal"} <= inner.keys()


def _own_limit(bare: Any) -> int:
    """What the environment calls its limit, 0 for nothing: no horizon, since it alone knows how it counts."""
    values = (getattr(bare, name, None) for name in ("max_steps", "max_path_length"))
    return next((int(value) for value in values
                 if isinstance(value, int | np.integer) and not isinstance(value, bool) and value > 0), 0)


def origins_in(
    begun: "_Begun", known: Mapping[str, Any], tick: Callable[[], None]
) -> dict[str, list[tuple[str, int]]]:
    """By field without known parts, where its numbers come from in one more episode."""
    simulator, leaves = begun.simulator, [leaf for leaf in begun.observation if leaf.kind != TEXT]
    model, _ = model_and_data(simulator.env.unwrapped)
    names = state_names(model) if model is not None else {}
    rows: list[NDArray[np.float64]] = []
    sources: list[dict[str, NDArray[np.float64]]] = []

    def see(observation: Any, info: Mapping[str, Any]) -> None:
        rows.append(flat_vector(observation, leaves))
        sources.append(sources_of(simulator.env, info))

    rng, until = np.random.default_rng(0), time.monotonic() + ORIGINS_S
    with suppress(Exception, SystemExit):       # what was played without an error counts
        simulator.begin(0)
        reader = ActionReader(begun.action)
        while len(rows) < STEPS and time.monotonic() < until:
            tick()
            observation, _, terminated, truncated, info = simulator.step(
                reader.native(reader.random_vector(rng, simulator.mask)))
            see(observation, info)
            if terminated or truncated:
                break
    found: dict[str, list[tuple[str, int]]] = {}
    start = 0
    for leaf in leaves:
        if len(rows) > 2 and leaf.size <= MOST_EXPLAINED and not leaf.is_mask and not leaf.at_reset:
            parts = origins(np.array(rows)[:, start : start + leaf.size], sources, names)
            found |= {leaf.name: [*parts]} if parts and leaf.name not in known else {}
        start += leaf.size
    return found


def texts_of(bare: Any, identity: EnvironmentId, kwargs: Mapping[str, Any]) -> dict[str, str]:
    """The docstring of the nearest class that has one, the notes on the environment, and the arguments in force."""
    own = [each for each in type(bare).__mro__ if each.__doc__ and each.__module__.partition(".")[0] != "builtins"]
    own = [each for each in own if each.__name__ not in ("Env", "Generic", "MujocoEnv", "EzPickle", "object")]
    made = next((vars(each)["__init__"].__doc__ for each in classes_of(bare) if "__init__" in vars(each)), None)
    if made and "__init__" in made[:12]:        # "__init__." or "Initializes." above its arguments
        made = made.partition("\n")[2]
    raw = "\n\n".join(inspect.cleandoc(each) for each in (own[0].__doc__ if own else None, made) if each)
    in_force = without_other_modes(raw, values_in_force(bare, kwargs))
    return {
        "documentation": clean(in_force, identity.id), "notes": notes_of(identity),
        "arguments": arguments_text(bare, kwargs, raw),
    }


CONTROL_RATES: Final = ("control_hz", "control_freq", "control_frequency")      # attributes, in Hz
KEEPS_TIME: Final = ("gymnasium", "gymnasium_robotics", "metaworld")    # packages whose `dt` and `tau` are steps


def _step_s(bare: Any) -> float | None:
    """The duration of a step in seconds, where the environment knows it for sure.

    In some packages `dt` is a part of a step: it counts where the rate of frames agrees, or a known package made it.
    A rate of control, or a constant FPS of its module that is the rate of frames, says the same.
    """
    rate = _positive((getattr(bare, "metadata", None) or {}).get("render_fps"))
    constant = _positive(vars(sys.modules.get(type(bare).__module__, None) or type(bare)).get("FPS"))
    control = next(filter(None, (_positive(getattr(bare, each, None)) for each in CONTROL_RATES)), None)
    if control is not None or (constant is not None and constant == rate):
        return 1.0 / (control or constant or 1.0)
    name = next((name for name in ("dt", "tau") if _positive(getattr(bare, name, None))), None)
    if name is None:
        return None
    found = _positive(getattr(bare, name))
    makers = [each for each in type(bare).__mro__ if name in vars(each)] or [type(bare)]
    if found is None or makers[0].__module__.partition(".")[0] in KEEPS_TIME:
        return found
    return found if rate is not None and abs(found * rate - 1.0) < 0.05 else None


def _positive(value: Any) -> float | None:
    known = isinstance(value, int | float | np.floating) and not isinstance(value, bool) and value > 0
    return float(value) if known and np.isfinite(value) else None


def main() -> None:
    """Answer one request."""
    answer_fd = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    adopt_orphans()
    task, request = sys.argv[1], json.loads(sys.argv[2])
    helper = None
    try:
        helper = _Helper(request)
        answer = helper.describe() if task == "describe" else helper.repeat()
    except UsageError as error:
        answer = {"problem": str(error)}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's environment may raise anything
        answer = {"raised": error_words(error, besides=("gymnasium",))}
    with os.fdopen(answer_fd, "w") as out:
        json.dump(answer, out)
    sys.stderr.flush()
    if helper is not None:
        helper.close()      # after the answer, which counts however this goes
    end_descendants(os.getpid())    # what the environment started and left behind
    os._exit(0)     # simulators may hang while the interpreter unloads them


if __name__ == "__main__":
    main()
