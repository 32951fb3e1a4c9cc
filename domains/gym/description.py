"""What is known of an environment without importing it: spaces, texts, and measurements on a random policy.

A helper process finds it out once; the text of `as_text` is kept in a run's options.
"""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Final

from ...core.errors import UsageError
from ...core.interpreters import module_command
from ...core.text import one_line
from ...core.values import JSON
from .names import modes_of, parse_id
from .spaces import Leaf

FORMAT: Final = 1
LIMIT_S: Final = 600.0
_SECRET_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")


@dataclass(frozen=True, slots=True, kw_only=True)
class InfoField:
    """Numbers that the environment reports in `info`: where they are, and how many (1 for a scalar)."""

    name: str                       # of the recorded array
    path: tuple[str, ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One environment with these keyword arguments.

    `horizon` is the most steps of an episode. `mode` is how an episode begins, one of `names.MODES`; `repeatable`
    whether its seed then determines it. `seen` holds, per field of an observation, the least and the greatest value
    of each number in random episodes. Returns are those of a policy that draws its actions from the action space.
    `documentation` is whole, a brief fits it; `notes` are ours on it. `arguments` and `model` are texts on what is in
    force: the arguments of the environment, and the simulated bodies or constants. `parts` names consecutive numbers
    of the observation.
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
    parts: tuple[tuple[str, int], ...] = ()

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
    values["parts"] = tuple((str(name), int(size)) for name, size in values.get("parts", ()))
    return Description(**values)


def describe(
    environment_id: str, kwargs: Mapping[str, JSON], *, max_episode_steps: int | None, python: str | None = None
) -> Description:
    """Look at an environment in a helper process, under the interpreter `python` if one is given.

    Raises UsageError if the environment cannot be made or is not supported.
    """
    request: dict[str, JSON] = {
        "id": environment_id, "kwargs": dict(kwargs), "max_episode_steps": max_episode_steps, "python": python,
    }
    return _described(json.dumps(request, sort_keys=True))


@lru_cache(maxsize=64)
def _described(request: str) -> Description:
    """Two processes look: the second repeats the first one's episode, to see whether its seed determines it."""
    modes = modes_of(parse_id(json.loads(request)["id"]))
    twin = _start(request, "repeat", modes[:1])
    try:
        answer = _answer(_start(request, "describe"), request)
    except BaseException:
        twin.kill()
        twin.communicate()
        raise
    here, there = answer["digests"], _answer(twin, request)["digests"]
    values = answer["description"]
    for mode in modes:      # if one environment for all episodes differs, a new one for each may help
        if _digest(here, mode, request) and here[mode] == _digest(there, mode, request):
            return _parse(json.dumps({**values, "mode": mode, "repeatable": True}, sort_keys=True))
    return _parse(json.dumps({**values, "repeatable": False}, sort_keys=True))


def _digest(known: dict[str, str], mode: str, request: str) -> str:
    """The digest of an episode that begins in this way: a known one, else that of one more process."""
    if mode not in known:
        known |= _answer(_start(request, "repeat", [mode]), request)["digests"]
    return known[mode]


def _start(request: str, task: str, modes: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a helper. It gets the environment variables of this process without secrets, as workers do.

    Raises UsageError if its interpreter cannot be started.
    """
    variables = {
        name: value for name, value in os.environ.items() if not any(word in name.upper() for word in _SECRET_WORDS)
    }
    asked = {**json.loads(request), "modes": list(modes)}
    command = module_command("memento.domains.gym.helper", python=asked.pop("python"))
    try:
        return subprocess.Popen(
            [*command, task, json.dumps(asked)], env=variables, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
        )
    except OSError as error:
        raise UsageError(f"{command[0]} cannot be started: {error.strerror}") from None


def _answer(process: subprocess.Popen[str], request: str) -> dict[str, Any]:
    """The helper's answer. Raises UsageError with what it said."""
    name = json.loads(request)["id"]
    try:
        out, said = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise UsageError(f"gym:{name} could not be looked at: no answer in {LIMIT_S:g} s") from None
    except BaseException:
        process.kill()
        process.communicate()
        raise
    if process.returncode != 0:
        last = said.strip().splitlines()[-1:] or [f"it ended with code {process.returncode}"]
        raise UsageError(f"gym:{name} could not be looked at: {one_line(last[0], 400)}")
    try:
        answer: dict[str, Any] = json.loads(out)
    except ValueError:
        raise UsageError(f"gym:{name} could not be looked at: the helper process ended without an answer; is "
                         "gym.python a Python?") from None
    if "problem" in answer:
        raise UsageError(answer["problem"])
    return answer
