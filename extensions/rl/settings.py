"""The settings of a learned baseline: SAC with hindsight, and the task that it learns. Pure.

The default hyperparameters are the paper's (appendix on SAC + HER); what the paper leaves open is the library's.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, cast

from ...core.errors import UsageError, no_such
from ...core.provenance import GIVEN, UNKNOWN, Provenance
from ...core.values import JSON
from ...domains import load as load_domain
from ...settings import OPTIONS, parse_assignments
from ...settings.evaluate import MOST_EPISODES, SALT, given_options
from ...settings.evaluate import MOST_SEED as MOST_MEASURE_SEED

METHOD: Final = "sac-her"
TOWERS: Final = ("hanoi", "hanoi-kinematic")
PAPERS_CUBES: Final = 4
OWN_REWARD: Final = "own"           # a Gymnasium environment's, which its id names
HYPER: Final = "sac"                # the tables of --set: hyperparameters, and
TRAINING: Final = "train"           # options of the domain for the training alone
MOST_SEED: Final = 2**31 - 1        # numpy's older generators, which the library uses, take no more
MOST_STEPS: Final = 10**10
MOST_ENVIRONMENTS: Final = 256
PAPER_EVERY: Final = 1_000_000      # the paper's steps between two evaluations of its training, and
EVALUATED: Final = 5                # the episodes of each
POINTS: Final = 10                  # evaluations of a training that is shorter than this many of the paper's intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyperparameters:
    """Of SAC and of hindsight. `updates` are gradient steps after each step of all environments together.

    `goals` is the number of hindsight goals per real one, each achieved later in the same episode. `buffer` and
    `random_steps` are in transitions: what is remembered, and what is done at random before the first update.
    """

    batch: int = 512
    buffer: int = 2_000_000
    gamma: float = 0.995
    tau: float = 0.005
    learning_rate: float = 1e-4
    goals: int = 8
    random_steps: int = 25_000
    updates: int = 1
    hidden: tuple[int, ...] = (256, 256)    # units of each hidden layer of actor and critics


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSettings:
    """One training and its measure. `options` are the domain's for the measure, `training` those for the training.

    The measure plays the episodes of `memento evaluate` with `measure_seed` and `salt`. Every `evaluate_every` steps
    the agent plays other ones of the training's task; 0 for never.
    """

    domain: str
    options: Mapping[str, JSON]
    training: Mapping[str, JSON]
    reward: str
    steps: int
    seed: int
    environments: int
    checkpoint: int         # steps between two checkpoints
    episodes: int
    measure_seed: int
    salt: str
    hyper: Hyperparameters
    processes: int = 1      # that share the environments; 1 is the trainer's own
    evaluate_every: int = 0     # runs had no evaluations before there was a setting for them
    provenance: Provenance = UNKNOWN

    def as_json(self) -> dict[str, Any]:
        """The settings as JSON values, for the log; `settings_of` reads them."""
        return {key: value for key, value in asdict(self).items() if key != "provenance"}

    @property
    def task(self) -> str:
        """The domain, with what a reader must know of its options."""
        shown = [f"{name} {self.options[name]}" for name in ("variant", "randomisation") if name in self.options]
        cubes = self.options.get("n_cubes", PAPERS_CUBES)
        return ", ".join([self.domain, *([] if cubes == PAPERS_CUBES else [f"n_cubes {cubes}"]), *shown])


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineArguments:
    """What the user gave. `flags` are options of the domain, None if not given; `assignments` those of `--set`."""

    domain: str
    steps: int
    seed: int
    salt: str
    flags: Mapping[str, JSON]
    assignments: Sequence[str] = ()
    reward: str | None = None
    environments: int = 1
    processes: int = 1
    checkpoint: int = 50_000
    episodes: int = 10
    measure_seed: int = 0
    evaluate_every: int | None = None       # None for the paper's schedule, scaled


def build(given: BaselineArguments, provenance: Provenance = GIVEN) -> BaselineSettings:
    """The complete settings. Raises UsageError for what cannot be trained, with the fix."""
    for flag, value, least, most in (
        ("--steps", given.steps, 1, MOST_STEPS), ("--seed", given.seed, 0, MOST_SEED),
        ("--environments", given.environments, 1, MOST_ENVIRONMENTS), ("--checkpoint", given.checkpoint, 1, MOST_STEPS),
        ("--processes", given.processes, 1, MOST_ENVIRONMENTS), ("--episodes", given.episodes, 1, MOST_EPISODES),
        ("--measure-seed", given.measure_seed, 0, MOST_MEASURE_SEED),
        ("--evaluate-every", given.evaluate_every or 0, 0, MOST_STEPS),
    ):
        if not least <= value <= most:
            raise UsageError(f"{flag} must be from {least} to {most}, not {value}")
    if not SALT.fullmatch(given.salt):
        raise UsageError(f"--salt cannot be {given.salt[:80]!r}; it is 32 hexadecimal digits, or none")
    given_hyper, given_training, rest = _sorted(given.assignments)
    domain = load_domain(given.domain, provenance)
    chosen = given_options(domain.name, flags=given.flags, assignments=rest)
    options = domain.options(chosen, preset="paper")
    fast = {"physics": "fast"} if "physics" in options else {}
    only_training = given_options(domain.name, flags={}, assignments=given_training)
    training = domain.options({**fast, **chosen, **only_training}, preset="paper")
    reward, hyper = _reward(given, options), hyperparameters(given_hyper)
    _require_same_sizes(given.domain, training, options)
    _require_room(hyper, given.environments, horizon=_horizon(given.domain, training))
    return BaselineSettings(
        domain=given.domain,
        options=options,
        training=training,
        reward=reward,
        steps=given.steps,
        seed=given.seed,
        environments=given.environments,
        processes=min(given.processes, given.environments),
        checkpoint=given.checkpoint,
        episodes=given.episodes,
        measure_seed=given.measure_seed,
        salt=given.salt,
        hyper=hyper,
        evaluate_every=evaluation_interval(given.steps) if given.evaluate_every is None else given.evaluate_every,
        provenance=provenance,
    )


def evaluation_interval(steps: int) -> int:
    """The steps between two evaluations of a training of `steps`: the paper's, or fewer for ten in all."""
    return min(PAPER_EVERY, max(1, steps // POINTS))


def settings_of(found: Mapping[str, Any]) -> BaselineSettings:
    """The settings that `as_json` wrote, of unknown provenance. Raises TypeError, KeyError or ValueError for others."""
    hyper = Hyperparameters(**{**found["hyper"], "hidden": tuple(found["hyper"]["hidden"])})
    return BaselineSettings(**{**found, "provenance": UNKNOWN, "hyper": hyper})


def hyperparameters(given: Mapping[str, JSON]) -> Hyperparameters:
    """The paper's, with `given` in their place. Raises UsageError for an unknown name or an impossible value."""
    known = {field.name for field in fields(Hyperparameters)}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise no_such("hyperparameter", name, known)
        if name == "hidden":
            found[name] = _layers(value)
        elif name in ("gamma", "tau", "learning_rate"):
            found[name] = _fraction(name, value)
        else:
            least = 0 if name == "random_steps" else 1
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 10**9:
                raise UsageError(f"{HYPER}.{name} is a whole number from {least} to 1,000,000,000, not {value!r}")
            found[name] = value
    return replace(Hyperparameters(), **found)


def _sorted(assignments: Sequence[str]) -> tuple[dict[str, JSON], list[str], list[str]]:
    """`--set` in three parts: hyperparameters, options for the training alone, options of the domain."""
    hyper: dict[str, JSON] = {}
    training, rest = [], []
    for text in assignments:
        table, dot, name = text.partition(".")
        if dot and table.strip() == HYPER:
            for key, entry in parse_assignments([name]).items():
                if key in hyper:
                    raise UsageError(f"--set gives {HYPER}.{key} twice: keep only one")
                hyper[key] = entry.value
        elif dot and table.strip() == TRAINING:
            training.append(f"{OPTIONS}.{name}")
        else:
            rest.append(text)
    return hyper, training, rest


def _reward(given: BaselineArguments, options: Mapping[str, JSON]) -> str:
    if given.domain in TOWERS:
        from ...domains.envs.goals import REWARDS  # imports Gymnasium, which whoever reads a log does not need

        reward = given.reward or REWARDS[0]
        if reward not in REWARDS:
            raise no_such("reward", reward, REWARDS)
        return reward
    if not given.domain.startswith("gym:"):
        raise UsageError(
            f"{given.domain} has no goals for hindsight: use {', '.join(TOWERS)}, or gym: and a goal environment"
        )
    from ...domains.gym.options import settings

    if not settings(options).description.goal:
        raise UsageError(f"{given.domain} is not a goal environment: hindsight needs achieved and desired goals")
    if given.reward is not None:
        raise UsageError(
            "--reward has no effect here: an environment of Gymnasium has its reward in its id, as FetchReachDense-v4"
        )
    return OWN_REWARD


def _horizon(domain: str, training: Mapping[str, JSON]) -> int:
    """The most steps of an episode of the training."""
    if domain in TOWERS:
        return cast(int, training["horizon"])
    from ...domains.gym.options import settings

    return settings(training).description.horizon


def _require_same_sizes(domain: str, training: Mapping[str, JSON], options: Mapping[str, JSON]) -> None:
    """Raise UsageError if what is trained observes or does other things than what is measured."""
    if domain in TOWERS:
        same = training["n_cubes"] == options["n_cubes"]
    else:
        from ...domains.gym.options import settings

        trained, measured = (
            [(leaf.name, leaf.size) for leaf in (*found.observation, *found.action)]
            for found in (settings(each).description for each in (training, options))
        )
        same = trained == measured
    if not same:
        raise UsageError(
            f"the options {TRAINING}.KEY give another observation or action than the measure has: set them for both, as"
            f" {OPTIONS}.KEY"
        )


def _require_room(hyper: Hyperparameters, environments: int, *, horizon: int) -> None:
    """Raise UsageError unless the buffer holds a whole episode of each environment: hindsight needs its end."""
    if hyper.buffer // environments <= horizon:
        raise UsageError(
            f"a buffer of {hyper.buffer:,} transitions holds no whole episode of {horizon:,} steps of {environments}"
            f" environments: set {HYPER}.buffer to more than {environments * (horizon + 1) - 1:,}, or shorten the"
            f" episodes with {TRAINING}.horizon"
        )


def _layers(value: JSON) -> tuple[int, ...]:
    whole = isinstance(value, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in value)
    if not whole or not value or not all(1 <= each <= 10_000 for each in cast("list[int]", value)):
        raise UsageError(f"{HYPER}.hidden is a list of units per layer, such as [256,256], not {value!r}")
    return tuple(cast("list[int]", value))


def _fraction(name: str, value: JSON) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1 or not math.isfinite(value):
        raise UsageError(f"{HYPER}.{name} is a number above 0 and at most 1, not {value!r}")
    return float(value)
