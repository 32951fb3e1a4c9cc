"""The programs of a run that are worth fresh episodes, each once. Pure: facts -> contenders."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from ..core.events import (
    CandidateScored,
    EliteChanged,
    EnvironmentRemembered,
    EvaluatorMoved,
    Fact,
    InitialChosen,
)
from ..core.programs.program_text import digest
from ..core.values import Operator, Program

CHOSEN_FROM: Final = (InitialChosen, CandidateScored, EliteChanged, EvaluatorMoved, EnvironmentRemembered)
"""The facts that decide which ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A program of a run under the id of the first candidate that has it; `also` are later ones with equal code.

    `fitness` is F in the search, by the evaluator in use at its end. `initial`: it is p_0; `returned`: it is the run's
    elite. `early`: rolled out in the search before it found that the environment remembers episodes.
    """

    candidate: str
    operator: Operator
    program: Program
    fitness: float | None
    initial: bool = False
    returned: bool = False
    also: tuple[str, ...] = ()
    early: bool = False


def contenders(facts: Iterable[Fact], *, most: int) -> list[Contender]:
    """The best distinct programs, at most `most` but p_0 and the elite always; in the order in which they arrived.

    The best are those with the highest F in the search. Programs are the same if their code is, without comments and
    history.
    """
    pool = _Pool()
    for fact in facts:
        pool.apply(fact)
    if pool.initial is None:
        return []
    returned = pool.elite or pool.initial
    fittest = sorted(pool.fitness, key=lambda name: -pool.fitness[name])  # of equals the one that came first
    by_code: dict[str, list[str]] = {}
    for name, program in pool.programs.items():
        by_code.setdefault(digest(program), []).append(name)
    code_of = {name: code for code, names in by_code.items() for name in names}
    chosen: dict[str, None] = {}
    for place, name in enumerate((pool.initial, returned, *(name for name in fittest if name in code_of))):
        if place < 2 or len(chosen) < most:
            chosen.setdefault(code_of[name])
    return [
        Contender(
            candidate=names[0], operator=pool.operators[names[0]], program=pool.programs[names[0]],
            fitness=max((pool.fitness[name] for name in names if name in pool.fitness), default=None),
            initial=pool.initial in names, returned=returned in names, also=tuple(names[1:]),
            early=not pool.early.isdisjoint(names),
        )
        for code, names in by_code.items() if code in chosen
    ]


@dataclass(slots=True)
class _Pool:
    """The sound candidates of a run, in order of arrival."""

    initial: str | None = None
    programs: dict[str, Program] = field(default_factory=dict)
    operators: dict[str, Operator] = field(default_factory=dict)
    fitness: dict[str, float] = field(default_factory=dict)
    elite: str | None = None
    early: frozenset[str] = frozenset()

    def apply(self, fact: Fact) -> None:
        match fact:
            case InitialChosen(order=str(order)):
                self.initial = order
                self.programs[order], self.operators[order] = fact.program, Operator.INITIAL
            case CandidateScored(candidate=found) if found.fault is None and found.bound is None:
                self.programs[found.id], self.operators[found.id] = found.program, found.operator
                self.fitness[found.id] = found.fitness
            case EliteChanged() if fact.candidate in self.programs:
                self.elite = fact.candidate
                self.fitness[fact.candidate] = fact.fitness
            case EvaluatorMoved(moved=True):    # F by earlier versions cannot be compared with what comes
                self.fitness = dict(zip(fact.candidates, fact.fitnesses, strict=False))
            case EnvironmentRemembered(alone=True) if fact.before:
                self.early = frozenset(self.programs)
