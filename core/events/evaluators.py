"""Evaluators: the probes of a run, the examination of evaluator candidates, and the votes of judges."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from ..critique import Critique
from ..examined import AttackCount
from ..values import Call, Episode, EvaluatorCandidate, Examination, Exploit, Probe, Program
from .base import Fact, Order


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordProbes(Order):
    """Put the probes of the run on record, and those of tests if there are any. Answered by ProbesRecorded."""

    split: str
    seed: int
    episodes: tuple[Episode, ...]  # T_0
    program: Program | None = None  # p_0, to be disturbed for tests of evaluators; None: no tests


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbesRecorded(Fact):
    """The probes of the run; their trajectories were written before this fact."""

    probes: tuple[Probe, ...]

    @property
    def recorded(self) -> tuple[Episode, ...]:
        """The episodes of the probes."""
        return tuple(probe.episode for probe in self.probes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examine(Order):
    """Apply an evaluator candidate to T_0 and to the probes, and check it. Answered by EvaluatorExamined."""

    evaluator: Program
    episodes: tuple[Episode, ...]
    probes: tuple[Probe, ...] = ()
    tested: bool = False  # whether the examination holds tests


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorExamined(Fact):
    """The results of an evaluator candidate on T_0 and the probes."""

    examination: Examination


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackEvaluator(Order):
    """Look for programs that an evaluator likes although they do not do the task. Answered by EvaluatorAttacked."""

    evaluator: Program
    split: str
    seed: int  # of the one episode of each program, and of breeding
    bar: float  # the f_e from which a program without success is an exploit
    tries: int  # programs to be bred
    programs: tuple[Program, ...] = ()  # programs to begin with: p_0 and what models wrote


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorAttacked(Fact):
    """The result of an attack, with the fittest exploits; their trajectories were written before this fact."""

    count: AttackCount
    exploits: tuple[Exploit, ...] = ()

    @property
    def recorded(self) -> tuple[Episode, ...]:
        """The episodes of the exploits."""
        return tuple(each.probe.episode for each in self.exploits)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorHardened(Fact):
    """E* after the attacks: `before` of the evaluator that was chosen, `after` of the one that is used.

    `rounds` counts the attacks, `revised` the revisions that were accepted. `known` are the exploits of all rounds,
    `open` those that the last evaluator still likes.
    """

    chosen: EvaluatorCandidate
    before: AttackCount
    after: AttackCount
    rounds: int
    revised: int
    known: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge(Order):
    """Request one judge's choice from the pool. Answered by VoteCast."""

    generation: int
    seat: int
    pool: tuple[EvaluatorCandidate, ...]  # valid ones only, in slot order; the judge sees its own order
    success_rate: float | None  # S_0; None if the task has no success predicate
    episodes: tuple[Episode, ...] = ()  # T_0
    probes: tuple[Probe, ...] = ()
    critiques: tuple[Critique, ...] = ()  # of episodes of T_0
    later: int = 0  # of the episodes, the last ones, that are of later programs; 0 outside of a move of the evaluator

    def failed(self, problem: str) -> Fact | None:
        """An abstention."""
        reason = f"abstained: {problem}"
        return VoteCast(order=self.id, generation=self.generation, seat=self.seat, choice=None, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCast(Fact):
    """One judge's vote; `choice` is a slot of the pool, None an abstention.

    `seen` holds the slots in the order in which the judge saw them, A first; empty in the logs of older versions.
    """

    replayed: ClassVar[bool] = True

    generation: int
    seat: int
    choice: int | None
    reason: str
    call: Call | None = None
    earlier: tuple[Call, ...] = ()  # earlier, unusable answers
    seen: tuple[int, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """All answers of the model."""
        return self.earlier if self.call is None else (*self.earlier, self.call)

    @property
    def role(self) -> str:
        """Always the judge."""
        return "judge"

    @property
    def call_failure(self) -> str | None:
        """Why the judge abstains."""
        return self.reason if self.choice is None else None

    @property
    def unanswered(self) -> bool:
        """Whether the judge abstains because its model did not answer."""
        return self.choice is None and self.call is None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorPoolScored(Fact):
    """D_i is complete: every slot of the evaluator pool, valid or not."""

    generation: int
    pool: tuple[EvaluatorCandidate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorChosen(Fact):
    """E_i* by majority of the votes (votes[j] for slot j) among those that lead in the tests, or carried over.

    `final`: it is E* from now on. An evaluator that moves has more than one such fact.
    """

    generation: int
    chosen: EvaluatorCandidate
    votes: Mapping[str, int] = field(default_factory=dict)
    final: bool = False
