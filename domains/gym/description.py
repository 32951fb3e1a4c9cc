"""What is known of an environment without importing it: spaces, texts, and measurements on a random policy.

A helper process finds it out once; the text of `as_text` is kept in a run's options.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self

from ...core.errors import UsageError
from ...core.interpreters import module_command
from ...core.process_tree import end_descendants
from ...core.text import duration, one_line, two_digits
from ...core.values import JSON
from ...core.variables import hint, passed_variables
from .names import modes_of, parse_id
from .reward_shape import RewardShape
from .spaces import Leaf

FORMAT: Final = 3
LIMIT_S: Final = 600.0      # to make the environment: it may compile or download
STEP_S: Final = 120.0       # for one step or one reset, as in a worker
CLOSED_S: Final = 30.0      # for what was looked at to close, after the answer
LOOK_S: Final = 1_800.0     # for all; what is measured has limits of its own
SLOW_S: Final = 60.0        # after this the speed is reported
SOME_EPISODES: Final = 128
SAID_BYTES: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoField:
    """Numbers that the environment reports in `info`: where they are, and how many (1 for a scalar)."""

    name: str                       # of the recorded array
    path: tuple[str | int, ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One environment with these keyword arguments.

    `horizon` is the most steps of an episode. `mode` is how an episode begins, one of `names.MODES`; `repeatable`
    whether its seed then determines it. `seen` holds, per field of an observation, the least and the greatest value
    of each number in random episodes. Returns are those of a policy that draws its actions from the action
    space, or from what is allowed.
    `documentation` is whole, a brief fits it; `notes` are ours on it. `arguments` and `model` are texts on what is in
    force: the arguments of the environment, and the simulated bodies or constants. `parts` names consecutive numbers
    of a field of the observation: what they are, or where they come from.
    """

    id: str
    kwargs: Mapping[str, JSON]
    horizon: int
    observation: tuple[Leaf, ...]
    action: tuple[Leaf, ...]
    documentation: str
    step_s: float | None
    threshold: float | None         # the registry's: the return from which the task counts as solved
    info: tuple[InfoField, ...]
    success_key: str | None         # of `info`, if it reports success
    goal: bool                      # a goal environment: observations hold an achieved and a desired goal
    mode: str
    repeatable: bool
    random_mean: float
    random_std: float
    random_episodes: int
    seen: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]]
    draws: bool                     # offers render_mode="rgb_array"
    needs_opengl: bool              # MuJoCo draws it
    versions: Mapping[str, str]
    notes: str = ""
    arguments: str = ""
    model: str = ""
    parts: Mapping[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    choices: tuple[str, ...] = ()   # what the choices of an action that is one choice are called
    success_codes: Mapping[str, str] = field(default_factory=dict)  # by key of `info`, what its code says of success
    mask: str = ""                  # where the environment says which actions are allowed now: see `loading.mask_of`
    raises: str = ""                # what it raised for a random action in some states; "" for nothing
    changeable: bool | None = None  # whether its physics can be changed, as MuJoCo's and Box2D's; None: not known
    differs: str = ""               # where an episode that was played again differed first, if it is not repeatable
    shape: RewardShape | None = None            # how rewards and success go together; None: not known
    truncated_after: int | None = None          # steps after which the environment itself truncates, if always as many
    reset: Mapping[str, JSON] = field(default_factory=dict)     # the options that `reset` gets
    no_reading: tuple[str, ...] = ()            # fields that are NaN where an episode begins
    only_at_reset: tuple[str, ...] = ()         # what `info` of `reset` alone has and no observation

    def as_text(self) -> str:
        """The description as one line of JSON text."""
        values = {**asdict(self), "format": FORMAT}
        for space in ("observation", "action"):
            values[space] = [leaf.as_json() for leaf in getattr(self, space)]
        return json.dumps(values, sort_keys=True)


def description_of(text: str) -> Description:
    """The description of `as_text`. Raises UsageError for a text of another version."""
    try:
        return _parse(text)
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            "gym.description is not one that this version wrote: remove it, and it is measured again"
        ) from None


@lru_cache(maxsize=16)
def _parse(text: str) -> Description:
    values = json.loads(text)
    if values.pop("format") != FORMAT:
        raise ValueError("another format")
    for space in ("observation", "action"):
        values[space] = tuple(Leaf.from_json(leaf) for leaf in values[space])
    values["info"] = tuple(InfoField(**{**field, "path": tuple(field["path"])}) for field in values["info"])
    values["seen"] = {name: (tuple(low), tuple(high)) for name, (low, high) in values["seen"].items()}
    values["parts"] = {field: tuple((str(name), int(size)) for name, size in each)
                       for field, each in values.get("parts", {}).items()}
    values["choices"] = tuple(values.get("choices", ()))
    shape = values.get("shape")
    values["shape"] = None if shape is None else RewardShape(**shape)
    for name in ("only_at_reset", "no_reading"):
        values[name] = tuple(values.get(name, ()))
    return Description(**values)


def describe(
    environment_id: str, kwargs: Mapping[str, JSON], *, max_episode_steps: int | None,
    reset: Mapping[str, JSON] | None = None, python: str | None = None,
) -> Description:
    """Look at an environment in a helper process, under the interpreter `python` if one is given.

    Raises UsageError if the environment cannot be made or is not supported.
    """
    request: dict[str, JSON] = {
        "id": environment_id, "kwargs": dict(kwargs), "max_episode_steps": max_episode_steps, "python": python,
        "reset": dict(reset or {}),
    }
    return _description_for(json.dumps(request, sort_keys=True))


@lru_cache(maxsize=64)
def _description_for(request: str) -> Description:
    """Two processes look: the second repeats the first one's episode, to see whether its seed determines it."""
    modes = modes_of(parse_id(json.loads(request)["id"]))
    with _Look(request, "repeat", modes[:1]) as twin:
        with _Look(request, "describe") as look:
            answer = look.answer()
        here, there = answer["plays"], twin.answer()["plays"]
    values = answer["description"]
    differs = ""
    for mode in modes:      # if one environment for all episodes differs, a new one for each may help
        difference = answer["differs"].get(mode, "")
        if _plays(here, mode, request) and _plays(there, mode, request):
            difference = next(filter(None, map(first_difference, here[mode], there[mode])), "")
            if not difference:
                return _parse(json.dumps({**values, "mode": mode, "repeatable": True}, sort_keys=True))
            difference += " in two processes"
        differs = differs or difference
    return _parse(json.dumps({**values, "repeatable": False, "differs": differs}, sort_keys=True))


def first_difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Where two plays of the same episode differ first, in words; "" for nowhere, as far as both go."""
    for step, (here, there) in enumerate(zip(one["observed"], other["observed"], strict=False)):
        if step and one["rewarded"][step - 1] != other["rewarded"][step - 1]:
            return f"in the reward of step {step}"
        if here != there:
            return f"in the observation after step {step}" if step else "in the first observation"
    lengths = sorted((len(each["rewarded"]), each["whole"]) for each in (one, other))
    if lengths[0][0] != lengths[1][0] and lengths[0][1]:
        return f"in their lengths, {lengths[0][0]} and {lengths[1][0]} steps"
    return ""


def _plays(known: dict[str, Any], mode: str, request: str) -> Any:
    """The first episodes that begin in this way: known ones, else those of one more process."""
    if mode not in known:
        with _Look(request, "repeat", [mode]) as look:
            known |= look.answer()["plays"]
    return known[mode]


class _Look:
    """A helper process at work, a context manager: leaving it ends the process and whatever it started.

    It gets the environment variables that workers get, too. Its output goes to files, since
    a program that the environment starts and leaves behind would keep a pipe open. Raises UsageError if its
    interpreter cannot be started.
    """

    def __init__(self, request: str, task: str, modes: Sequence[str] = ()) -> None:
        asked = {**json.loads(request), "modes": list(modes)}
        self._name, self._request = str(asked["id"]), request
        self._folder = TemporaryDirectory(prefix="memento-look-")
        self._progress = Path(self._folder.name, "progress")
        command = module_command("memento.domains.gym.helper", python=asked.pop("python"))
        try:
            with self._file("answer").open("wb") as out, self._file("said").open("wb") as said:
                self._process = subprocess.Popen(
                    [*command, task, json.dumps({**asked, "progress": str(self._progress)})],
                    env=passed_variables(os.environ), stdin=subprocess.DEVNULL, stdout=out, stderr=said,
                    start_new_session=True,
                )
        except OSError as error:
            self._folder.cleanup()
            raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from None

    def _file(self, name: str) -> Path:
        return Path(self._folder.name, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """End the process, its group and its descendants."""
        if self._process.poll() is None:
            end_descendants(self._process.pid)
            self._process.kill()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def answer(self) -> dict[str, Any]:
        """Wait for the answer. Raises UsageError with what the environment raised, or with how the process ended."""
        self._wait()
        code = self._process.returncode
        try:
            answer: dict[str, Any] = json.loads(self._file("answer").read_bytes())     # it may fail to close, after it
        except ValueError:
            answer = {}
        if "problem" in answer:
            problem = _with_name(self._name, answer["problem"])
            raise UsageError(problem + hint(problem, os.environ))
        if "raised" in answer:
            said = f"gym:{self._name} could not be looked at: {answer['raised']}"
            if "in reset)" in said and not json.loads(self._request)["reset"]:
                said += "; if its reset needs options, set them with gym.reset.NAME=VALUE"
            raise UsageError(said + hint(said, os.environ))
        if answer:
            return answer
        said = one_line(self._file("said").read_bytes()[-SAID_BYTES:].decode(errors="replace"), SAID_BYTES)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        if code == 0:
            how = "without an answer; is gym.python a Python?"
        raise UsageError(f"gym:{self._name} could not be looked at: its process ended {how}"
                         + (f"; the last that it said: {said}" if said else ""))

    def _wait(self) -> None:
        """Until the process has ended. Raises UsageError if it does nothing for too long."""
        begun = changed = time.monotonic()
        last, warned, pause, answered = b"", False, 0.01, 0.0
        while self._process.poll() is None:
            time.sleep(pause)
            pause = min(2 * pause, 0.2)
            now = time.monotonic()
            line = self._progress.read_bytes() if self._progress.exists() else b""
            if line != last:
                last, changed = line, now
            if answered and now - answered > CLOSED_S:
                return
            if not answered and self._file("answer").stat().st_size:
                answered = now
            limit_s = STEP_S if last else LIMIT_S
            if now - changed > limit_s or now - begun > LOOK_S:
                raise UsageError(f"gym:{self._name} could not be looked at: {_stuck(last, now - changed, now - begun)}")
            if not warned and last and now - begun > SLOW_S and json.loads(last)["rate"]:
                warned = True
                _warn_slow(self._name, json.loads(last))


def _with_name(name: str, problem: str) -> str:
    """A problem that names the environment."""
    return problem if name in problem or name.rpartition(":")[2] in problem else f"gym:{name} cannot be used: {problem}"


def _stuck(last: bytes, silent_s: float, spent_s: float) -> str:
    if not last:
        return f"it was not made in {LIMIT_S:g} s"
    at = json.loads(last)
    if silent_s > STEP_S:
        return f"it hangs: step {at['steps']} has not ended in {STEP_S:g} s"
    return (f"it is too slow: {spent_s:.0f} s were not enough at {two_digits(at['rate'])} steps a second; a shorter "
            "episode (gym.max_episode_steps) takes less")


def _warn_slow(name: str, at: Mapping[str, Any]) -> None:
    """Say how fast it is, and what that means for a run."""
    episode_s = at["horizon"] / at["rate"]
    warn(
        "slow-simulator", environment=f"gym:{name}",
        what=f"at {two_digits(at['rate'])} steps a second an episode of {at['horizon']} steps takes "
             f"{duration(episode_s)}, and {SOME_EPISODES} episodes, which is a small run, "
             f"{duration(SOME_EPISODES * episode_s)} on one worker; it is looked at for some minutes more",
    )


def warn(event: str, **words: JSON) -> None:
    """A warning on standard error, whoever looks: standard output may be a command's answer."""
    import structlog  # not needed by workers, which may run under a Python without it

    if not structlog.is_configured():
        structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    structlog.get_logger("memento.gym").warning(event, **words)
