"""The port of a domain that brings programs for an audit of evaluators."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from ..values import JSON, Program

WAITING: Final = "waiting"
OSCILLATING: Final = "oscillating"
ENDING_EARLY: Final = "ending early"
PARKING: Final = "parking"
KNOCKING: Final = "knocking"
NEAR_MISS: Final = "near miss"
FORGING: Final = "forged progress"
KINDS: Final = (WAITING, OSCILLATING, ENDING_EARLY, PARKING, KNOCKING, NEAR_MISS, FORGING)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProgram:
    """A policy written to please an evaluator without doing the task. `kind` is one of KINDS.

    `options` are the completed options of its episodes where they must differ from those of the audit, such as
    scenes that it knows.
    """

    name: str
    kind: str
    program: Program
    options: Mapping[str, JSON] | None = None


@runtime_checkable
class Auditable(Protocol):
    """An optional port of a domain: hand-written programs for `memento audit`."""

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """The programs for these (completed) options, each with another name; deterministic.

        Episode k of each program has the seed `seeds[k]`, which a program that must know its episode may contain.
        """
