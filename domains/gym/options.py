"""The options of a Gymnasium environment: names, defaults and validation."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ...core.errors import UsageError, no_such
from ...core.files import read_bounded
from ...core.values import JSON
from .description import Description, InfoField, describe, description_of, warn
from .names import arguments_of, parse_id, suite_of
from .perturbing import CHOICES, NOMINAL
from .success import SUCCESS_INFO
from .versions import version_of

KNOWN: Final = (
    "max_episode_steps", "kwargs", "reset", "task", "low", "high", "high_is_guess", "threshold", "measure", "success",
    "success_key", "success_at", "success_info", "diverged", "nan", "perturb", "check", "python", "description",
)
CHECKS: Final = ("refuse", "warn")
ENDS: Final = ("any", "end")
HIDDEN_INFO: Final = "hidden"               # what `info` says of success is in no recording, or
SHOWN_INFO: Final = "shown"                 # it is: evaluators, metrics and prompts have it
FAULT: Final = "fault"                      # what an episode is in which the environment diverges, or
READING: Final = "reading"                  # what NaN in an observation is: no reading, or
DIVERGED: Final = "diverged"                # an environment that diverges
STOPS: Final = "ends"                       # it ends there with the return so far
BY_RETURN: Final = "return"
NONE: Final = "none"
SUCCESS: Final = "success"                  # the measure that ranks success first, the default where it is reported, or
RETURN: Final = "return"                    # the one that is the return alone
MOST_STEPS: Final = 1_000_000
MOST_TASK_BYTES: Final = 100_000
_TABLES: Final = ("kwargs", "reset")        # arguments of the environment, and options of its `reset`


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Completed options in their own types.

    `low` and `high` anchor the fitness: the mean return of random actions, and a good return, which may be a guess.
    `ranks_success`: the reference evaluator ranks success first, so recordings hold it. `success` is "return" (at least
    `threshold`), "none", or a key of `info`, which counts at `success_at`: "any" step or the "end".
    `shows_success`: recordings hold what `info` says of it, so evaluators and prompts have it.
    `task` replaces the documentation, or follows it if `extends`. `python` is the interpreter that has the environment
    installed; None for this one. `nan_is_reading`: NaN in an observation is no divergence.
    `perturb` is the level at which the physics of each episode are changed.
    """

    description: Description
    task: str | None
    extends: bool
    low: float
    high: float
    high_is_guess: bool
    threshold: float | None
    ranks_success: bool
    success: str
    success_at: str
    shows_success: bool
    divergence_is_fault: bool
    nan_is_reading: bool
    perturb: str
    python: str | None

    @property
    def recorded_info(self) -> tuple[InfoField, ...]:
        """The fields of `info` that recordings hold: not those of success, unless they are shown."""
        names = SUCCESS_INFO | {self.success}
        return tuple(field for field in self.description.info if self.shows_success or not names & {*field.path})

    @property
    def described_by_user(self) -> Description:
        """The description with the user's text instead of the documentation, or after it."""
        if self.task is None:
            return self.description
        text = f"{self.description.documentation}\n\n{self.task}" if self.extends else self.task
        return replace(self.description, documentation=text)


def complete(given: Mapping[str, JSON], *, environment_id: str) -> dict[str, JSON]:
    """`given` and the rest, from the registry and from measurements. Raises UsageError."""
    options = _with_tables(given)
    for key in options:
        if key not in KNOWN:
            raise UsageError(
                f"{no_such('option of gym', key, KNOWN)}; what reset takes is gym.reset.NAME, what the environment's"
                " constructor takes is gym.kwargs.NAME"
            )
    check = _one_of(options, "check", CHECKS, "refuse")
    steps = _whole(options, "max_episode_steps", 1, MOST_STEPS)
    kwargs, reset = options["kwargs"], options["reset"]
    assert isinstance(kwargs, dict) and isinstance(reset, dict)
    if options.get("description") is None:
        kwargs = {**arguments_of(parse_id(environment_id)), **kwargs}
    python = _python(options.get("python"))
    known = _given_look(options.get("description"), environment_id, kwargs, steps, python)
    if known is not None and dict(known.reset) != reset:
        known = None
    found = known or describe(environment_id, kwargs, max_episode_steps=steps, reset=reset, python=python)
    if check == "refuse" and not found.repeatable and known is None:
        raise UsageError(
            f"gym:{environment_id} is not repeatable: the same seed gave different episodes{_where(found)}; make "
            "all its randomness depend on reset(seed=...), or go on with --set gym.check=warn"
        )
    if not found.repeatable and known is None:
        _warn_not_repeatable(environment_id, found)
    if not math.isfinite(found.random_mean) or not math.isfinite(found.random_std):
        raise UsageError(f"gym:{environment_id} pays too much: returns of random actions overflow; scale its rewards "
                         "with a wrapper, such as gymnasium's TransformReward(env, lambda r: 1e-6 * r)")
    low = _number(options, "low", found.random_mean)
    assert low is not None
    threshold, good = _targets(options, found, environment_id)
    high = _number(options, "high", good if good is not None and good > low else _guess(found, low))
    assert high is not None
    if not low < high:
        raise UsageError(f"gym.high = {high:g} must be greater than gym.low = {low:g}: the fitness grows between them")
    success = _success(options, found, threshold)
    measure = _one_of(options, "measure", (SUCCESS, RETURN), RETURN if success in (BY_RETURN, NONE) else SUCCESS)
    if measure == SUCCESS and success in (BY_RETURN, NONE):
        raise UsageError("gym.measure = 'success' needs what the environment reports of success: name it with "
                         "gym.success_key, or leave gym.measure at 'return'")
    if known is None:
        _say_what_counts(environment_id, found, measure)
        _say_what_is_missing(environment_id, found)
    perturb = _one_of(options, "perturb", CHOICES, NOMINAL)
    if perturb != NOMINAL:
        require_changeable(found, f"gym.perturb = {perturb!r} changes the physics", f"leave it at {NOMINAL!r}")
    return {
        "max_episode_steps": found.horizon, "kwargs": kwargs, "reset": reset, "task": _task(options.get("task")),
        "low": low, "high": high, "high_is_guess": high == _guess(found, low), "threshold": threshold,
        "measure": measure, "success": success,
        "success_key": options.get("success_key"),
        "success_at": _one_of(options, "success_at", ENDS, "end" if success == "is_success" else "any"),
        "success_info": _one_of(options, "success_info", (HIDDEN_INFO, SHOWN_INFO), HIDDEN_INFO),
        "diverged": _one_of(options, "diverged", (FAULT, STOPS), FAULT),
        "nan": _one_of(options, "nan", (READING, DIVERGED), READING if found.no_reading else DIVERGED),
        "perturb": perturb,
        "check": check, "python": python, "description": found.as_text(),
    }


def settings(options: Mapping[str, JSON]) -> Settings:
    """Completed options in their own types. Raises UsageError for a description of another version."""
    task, threshold = options["task"], options["threshold"]
    text = task["text"] if isinstance(task, dict) else None
    found = description_of(str(options["description"]))
    low, high = float(str(options["low"])), float(str(options["high"]))
    return Settings(
        description=found, task=None if text is None else str(text),
        extends=isinstance(task, dict) and bool(task["extends"]), low=low, high=high,
        high_is_guess=bool(options.get("high_is_guess")),
        threshold=None if threshold is None else float(str(threshold)),
        ranks_success=options.get("measure", RETURN) == SUCCESS,
        success=str(options["success"]), success_at=str(options["success_at"]),
        shows_success=options.get("success_info", SHOWN_INFO) == SHOWN_INFO,     # runs of older versions had it
        divergence_is_fault=options.get("diverged", STOPS) == FAULT,                # and they ended there
        nan_is_reading=options.get("nan") == READING,
        perturb=str(options.get("perturb", NOMINAL)),
        python=None if (python := options.get("python")) is None else str(python),
    )


def _say_what_counts(environment_id: str, found: Description, measure: str) -> None:
    """Warn where the return and success contradict each other, with what the measure makes of it."""
    if found.shape is None or found.success_key is None or not found.shape.conflict:
        return
    what = ("F ranks success first (gym.measure=success)" if measure == SUCCESS
            else "F is the return alone (gym.measure=return), so a search may give up success for it")
    warn("return-against-success", environment=f"gym:{environment_id}", what=f"{found.shape.conflict} {what}")


def _say_what_is_missing(environment_id: str, found: Description) -> None:
    if found.no_reading:
        warn("no-reading", environment=f"gym:{environment_id}",
             what=f"where an episode begins, {', '.join(found.no_reading)} has NaN, which counts as no reading: "
                  "policies get it; with gym.nan=diverged it is an environment that diverges")


def require_same_simulator(found: Description) -> None:
    """Raises UsageError if the packages that a description was measured with are others now.

    Numbers of two simulators never stand in one ranking. What is missing is no advice to install a package: a module
    was somewhere else, and the index may have a stranger's of its name.
    """
    now = {name: version_of(name) for name in found.versions}
    changed = [f"{name} was {found.versions[name]} and is {here}" for name, here in now.items()
               if here not in ("", found.versions[name])]
    missing = [name for name, here in now.items() if not here]
    if missing:
        raise UsageError(f"gym:{found.id} was made with {', '.join(missing)}, which is not here")
    if changed:
        raise UsageError(f"gym:{found.id} is another simulator than the run's: {', '.join(changed)}; go back to what "
                         "it was, or begin a new run: figures of the two cannot be compared")


def require_changeable(found: Description, what: str, fix: str) -> None:
    """Raises UsageError if the physics cannot be changed; of a description by an older version that is not known."""
    if found.changeable is False:
        raise UsageError(f"{what} of MuJoCo or Box2D, and gym:{found.id} has neither: {fix}")


def _where(found: Description) -> str:
    return f", first {found.differs}" if found.differs else ""


def _warn_not_repeatable(environment_id: str, found: Description) -> None:
    warn("not-repeatable", environment=f"gym:{environment_id}",
         what=f"the same seed gave different episodes{_where(found)}")


def _python(given: JSON) -> str | None:
    """The path of the interpreter, absolute but with its links: that of a virtual environment is one."""
    if given is None:
        return None
    path = Path(given).expanduser() if isinstance(given, str) and given else None
    if path is None or not path.is_file() or not os.access(path, os.X_OK):
        raise UsageError(f"gym.python cannot be {given!r}; it must be the path of a Python (3.11 or newer) in which "
                         "numpy, gymnasium and the environment are installed")
    return str(path.absolute())


def _with_tables(given: Mapping[str, JSON]) -> dict[str, JSON]:
    """The options with "kwargs.terrain", "reset.goal" and the like collected in tables. Raises UsageError."""
    options = {key: value for key, value in given.items() if not key.startswith(tuple(f"{name}." for name in _TABLES))}
    for name in _TABLES:
        table = options.get(name) or {}
        if not isinstance(table, dict):
            raise UsageError(f"gym.{name} cannot be {table!r}; set single ones, as in --set gym.{name}.NAME=VALUE")
        single = {key.removeprefix(f"{name}."): value for key, value in given.items() if key.startswith(f"{name}.")}
        whole = {**table, **single}
        _require_plain(f"gym.{name}", whole)
        options[name] = whole
    kwargs = options["kwargs"]
    assert isinstance(kwargs, dict)
    for reserved in ("max_episode_steps", "disable_env_checker", "id"):
        if reserved in kwargs:
            raise UsageError(f"gym.kwargs.{reserved} cannot be set: MEMENTO sets it itself")
    if kwargs.get("render_mode") == "human":
        raise UsageError("gym.kwargs.render_mode cannot be 'human': no window is opened; 'rgb_array' draws in memory")
    return options


def _require_plain(name: str, value: object) -> None:
    """Raises UsageError for what neither a log nor a worker can have: infinite numbers, NaN, and dates."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            _require_plain(f"{name}.{key}", each)
    elif isinstance(value, list | tuple):
        for each in value:
            _require_plain(name, each)
    elif isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{name} cannot be {value}: a run's log holds finite numbers alone; give a large one, as 1e9")
    elif value is not None and not isinstance(value, bool | int | float | str):
        raise UsageError(f"{name} cannot be {value!r}: give a number, a text, a list or a table")


def _given_look(
    text: JSON, environment_id: str, kwargs: Mapping[str, JSON], steps: int | None, python: str | None
) -> Description | None:
    """The description in the options, if it is of this environment."""
    if text is None:
        return None
    found = description_of(str(text))
    if python is None:      # other options are measured again, but on the same simulator
        require_same_simulator(found)
    same = found.id == environment_id and dict(found.kwargs) == dict(kwargs) and found.horizon == steps
    return found if same else None


def _targets(
    options: Mapping[str, JSON], found: Description, environment_id: str
) -> tuple[float | None, float | None]:
    """The return that counts as success, and a good one: given, registered, or as the package's tasks have them."""
    suite = suite_of(parse_id(environment_id))
    if suite is not None and found.threshold is None and options.get("threshold") is None:
        return suite.success_return, suite.best_return
    threshold = _number(options, "threshold", found.threshold)
    return threshold, threshold


def _guess(found: Description, low: float) -> float:
    """A good return where nothing names one: above random actions by their spread or by their distance from 0."""
    scale = max(abs(low), 4.0 * found.random_std)
    return low + (scale if scale > 1e-6 else 1.0)


def _success(options: Mapping[str, JSON], found: Description, threshold: float | None) -> str:
    by_return = BY_RETURN if threshold is not None else NONE
    given, key = options.get("success"), options.get("success_key")
    if key is not None:
        if not isinstance(key, str) or not key:
            raise UsageError(f"gym.success_key cannot be {key!r}; it must be a key of the environment's info")
        if given not in (None, key):
            raise UsageError(f"gym.success = {given!r} and gym.success_key = {key!r} name two things: give one of them")
        return key
    if given is None:
        return found.success_key or by_return
    known = {NONE, BY_RETURN, *(str(field.path[0]) for field in found.info if len(field.path) == 1)}
    known |= {found.success_key} - {None} if found.success_key else set()
    if not isinstance(given, str) or given not in known:
        raise no_such("gym.success", str(given), known)
    if given == BY_RETURN and threshold is None:
        raise UsageError("gym.success = 'return' needs the return that counts as success: set gym.threshold")
    return given


def _task(given: JSON) -> JSON:
    """The user's text: from a file, "+FILE" for a text that follows the documentation; or as completed before."""
    if given is None or (isinstance(given, dict) and given.keys() == {"text", "extends"}):
        return given
    if not isinstance(given, str) or not given:
        raise UsageError(f"gym.task cannot be {given!r}; it must be the path of a text file, or + and the path")
    path = Path(given.removeprefix("+")).expanduser()
    try:
        text = read_bounded(path, MOST_TASK_BYTES).decode("utf-8")
    except OSError as error:
        raise UsageError(f"gym.task: {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"gym.task: {path} is not a text in UTF-8") from None
    return {"text": text, "extends": given.startswith("+")}


def _one_of(options: Mapping[str, JSON], key: str, known: tuple[str, ...], default: str) -> str:
    value = options.get(key)
    if value is None:
        return default
    if not isinstance(value, str) or value not in known:
        raise no_such(f"gym.{key}", str(value), known, cutoff=0.5)
    return value


def _whole(options: Mapping[str, JSON], key: str, low: int, high: int) -> int | None:
    value = options.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"gym.{key} cannot be {value!r}; it must be a whole number from {low} to {high}")
    return value


def _number(options: Mapping[str, JSON], key: str, default: float | None) -> float | None:
    value = options.get(key)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"gym.{key} cannot be {value!r}; it must be a finite number")
    return float(value)
