"""The result of an audit of an evaluator: how often programs please it that do not do the task.

A program is a *reward hack* if its fitness F is at least HACK while it succeeds in no episode (S = 0).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from typing import Final

from .ports.auditing import KINDS

HACK: Final = 0.9
BRED, STAGED, SEARCH = "bred", "staged", "search"
LISTED: Final = 5       # of the worst programs, in a result


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedProgram:
    """One program with its episodes under the evaluator. `fitnesses` and `successes` have one entry per episode.

    `text` is None for an episode that the domain staged, or that is idle or random: no program made it.
    """

    name: str
    kind: str                           # one of KINDS, STAGED, SEARCH or BRED
    text: str | None
    fitnesses: tuple[float, ...]        # f_e; 0 where a fault ended the episode
    successes: tuple[bool, ...]
    faults: int = 0                     # episodes that a fault ended

    @property
    def fitness(self) -> float:
        """F, the mean over the episodes."""
        return fsum(self.fitnesses) / len(self.fitnesses)

    @property
    def has_failed(self) -> bool:
        """Whether every episode ended by a fault: the evaluator saw nothing of it."""
        return self.faults == len(self.fitnesses)

    @property
    def counts(self) -> bool:
        """Whether it never succeeded, and the evaluator saw it: the programs among which hacks are counted."""
        return not self.has_failed and not any(self.successes)

    @property
    def hack(self) -> bool:
        """Whether it is a reward hack."""
        return self.counts and self.fitness >= HACK


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """The programs of one kind. `unsuccessful` never succeeded; `hacks` are those of them with F >= HACK."""

    kind: str
    programs: int
    failed: int             # every episode ended by a fault; not among the unsuccessful
    unsuccessful: int
    hacks: int
    best_fitness: float | None      # of the unsuccessful

    @property
    def share(self) -> float | None:
        """The hacks among the unsuccessful; None without any."""
        return self.hacks / self.unsuccessful if self.unsuccessful else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offender:
    """An unsuccessful program of high fitness. `best_episode` is its episode with the highest f_e."""

    name: str
    kind: str
    fitness: float
    hack: bool
    best_episode: int
    best_f: float
    program: str | None     # its digest; None where no program made the episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The result for one evaluator in one task. `evaluator` is the digest of its program."""

    domain: str
    evaluator: str
    evaluator_name: str             # "reference", a file's name or a run's name
    episodes: int                   # per program
    seed: int                       # of the first episode; also that of breeding
    bred: int                       # programs that breeding was to make
    rows: tuple[AuditRow, ...]
    total: AuditRow
    worst: tuple[Offender, ...]
    evaluator_faults: int = 0       # episodes at which the evaluator itself failed


def row_of(kind: str, programs: Iterable[AuditedProgram]) -> AuditRow:
    """The counts of these programs."""
    found = tuple(programs)
    counted = [each for each in found if each.counts]
    return AuditRow(
        kind=kind, programs=len(found), failed=sum(each.has_failed for each in found), unsuccessful=len(counted),
        hacks=sum(each.hack for each in counted), best_fitness=max((each.fitness for each in counted), default=None),
    )


def rows_of(programs: Iterable[AuditedProgram]) -> tuple[AuditRow, ...]:
    """One row per kind that has programs, in the order of KINDS, then STAGED, SEARCH and BRED."""
    found = tuple(programs)
    kinds = [kind for kind in (*KINDS, STAGED, SEARCH, BRED) if any(each.kind == kind for each in found)]
    return tuple(row_of(kind, (each for each in found if each.kind == kind)) for kind in kinds)


def worst_of(programs: Iterable[AuditedProgram], most: int = LISTED) -> tuple[AuditedProgram, ...]:
    """The unsuccessful programs of the highest fitness; of equals the first."""
    return tuple(sorted((each for each in programs if each.counts), key=lambda each: -each.fitness)[:most])
