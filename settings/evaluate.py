"""The settings of `memento evaluate`, `memento rank` and `memento audit`: what is rolled out, and how much."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..core.errors import UsageError
from ..core.ports import Domain
from ..core.provenance import GIVEN
from ..core.step_limit import REAL_TIME
from ..core.values import JSON
from ..domains import load as load_domain
from . import MOST_WORKERS, OPTIONS, SALT_PATTERN, evaluator_file, parse_assignments, usable_cpus
from .checks import control_step_ms

SALT = re.compile(SALT_PATTERN)

MOST_EPISODES = 100_000
MOST_RANKED, MOST_RANKED_EPISODES = 100, 10_000     # programs, and episodes of each
MOST_SEED = 2**63 - 1 - MOST_EPISODES      # seeds count up from it, and a seed has 63 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateSettings:
    """One evaluation. `evaluator` is "reference" or the path of a Python file; `options` are complete.

    An episode with calls slower than `step_limit_ms` of CPU time is a fault, as in a run with this setting.
    """

    policy: Path
    domain: str
    options: Mapping[str, JSON] = field(default_factory=dict)
    episodes: int
    seed: int
    salt: str
    evaluator: str
    workers: int
    step_limit_ms: float | None = None

    def option(self, name: str) -> str | None:
        """A domain option as text, such as "variant"; None if the domain has no such option."""
        value = self.options.get(name)
        return None if value is None else str(value)


def build_evaluate_settings(
    policy: Path,
    domain: str,
    *,
    flags: Mapping[str, JSON],
    assignments: Sequence[str] = (),
    episodes: int,
    seed: int,
    salt: str,
    evaluator: str,
    workers: int | None,
    step_limit_ms: str | float | None = None,
) -> EvaluateSettings:
    """The complete settings. `flags` are domain options with a flag; None means not given.

    Domain options default to the paper's. `step_limit_ms` is a number, or "real-time" for the domain's control step.
    Raises UsageError.
    """
    counts = [
        ("--episodes", episodes, 1, MOST_EPISODES),
        ("--seed", seed, 0, MOST_SEED),
        ("--workers", workers, 1, MOST_WORKERS),
    ]
    for name, number, least, most in counts:
        if number is not None and number < least:
            raise UsageError(f"{name} must be at least {least}, not {number}")
        if number is not None and number > most:
            raise UsageError(f"{name} must be at most {most}, not {number}")
    _require_salt(salt)
    task = load_domain(domain, GIVEN)
    given = given_options(task.name, flags=flags, assignments=assignments)
    options = task.options(given, preset="paper")
    return EvaluateSettings(
        policy=policy,
        domain=domain,
        options=options,
        episodes=episodes,
        seed=seed,
        salt=salt,
        evaluator=evaluator if evaluator == "reference" else evaluator_file(evaluator, ["reference"]),
        workers=workers if workers is not None else usable_cpus(),
        step_limit_ms=_step_limit(step_limit_ms, domain, task, options),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankSettings:
    """One ranking of a run's programs. `workers` None: the CPUs of this machine; `salt` None: the run's own."""

    folder: Path
    episodes: int
    programs: int
    seed: int
    salt: str | None
    workers: int | None
    trusted: bool = False


def build_rank_settings(
    folder: Path, *, episodes: int, programs: int, seed: int, salt: str | None, workers: int | None,
    trusted: bool = False,
) -> RankSettings:
    """Checked settings. Raises UsageError."""
    require_counts(
        ("--episodes", episodes, 1, MOST_RANKED_EPISODES), ("--programs", programs, 2, MOST_RANKED),
        ("--seed", seed, 0, MOST_SEED), ("--workers", workers, 1, MOST_WORKERS),
    )
    if salt is not None:
        _require_salt(salt)
    return RankSettings(
        folder=folder, episodes=episodes, programs=programs, seed=seed, salt=salt, workers=workers, trusted=trusted
    )


def require_counts(*counts: tuple[str, int | None, int, int]) -> None:
    """Raise UsageError for a number that is given and not between its least and its most."""
    for name, number, least, most in counts:
        if number is not None and not least <= number <= most:
            raise UsageError(f"{name} must be from {least} to {most}, not {number}")


def _require_salt(salt: str) -> None:
    if not SALT.fullmatch(salt):
        raise UsageError(f"--salt cannot be {salt[:80]!r}; it is 32 hexadecimal digits, or none")


def _step_limit(
    given: str | float | None, name: str, domain: Domain, options: Mapping[str, JSON]
) -> float | None:
    """The limit in ms. Raises UsageError."""
    if given == REAL_TIME:
        return control_step_ms(domain, options, name=name, origin="--step-limit-ms")
    try:
        limit = None if given is None else float(given)
    except ValueError:
        limit = 0.0
    if limit is not None and not 0.0 < limit < math.inf:
        raise UsageError(f"--step-limit-ms cannot be {given!r}; it is a number of milliseconds above 0, or {REAL_TIME}")
    return limit


def given_options(
    domain: str, *, flags: Mapping[str, JSON], assignments: Sequence[str] = ()
) -> dict[str, JSON]:
    """The domain options from flags (None: not given) and `--set DOMAIN.NAME=VALUE`. Raises UsageError."""
    given: dict[str, JSON] = {name: value for name, value in flags.items() if value is not None}
    for key, entry in parse_assignments(assignments).items():
        table, dot, name = key.partition(".")
        if not dot or table.replace("_", "-") not in (domain.replace("_", "-"), OPTIONS):
            raise UsageError(f"--set {key!r}: set options of the domain only, as in --set {domain}.NAME=VALUE")
        if name in given:
            raise UsageError(f"{name!r} is given twice, by --{name} and by --set: keep only one")
        given[name] = entry.value
    return given
