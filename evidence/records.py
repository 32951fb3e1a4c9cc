"""One run as evidence: the numbers of its log for tables and curves. Pure: facts -> record."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from hashlib import sha256

from ..core.audits import Audit
from ..core.events import EliteChanged, EvaluatorChosen, Fact, FinalMeasured, InitialChosen
from ..core.faults import is_stopped
from ..core.operators import OPERATORS
from ..core.order_ids import FINAL, owner_of, parse
from ..core.programs.program_text import digest
from ..core.values import JSON, Operator, Program
from ..memory.card import Card, card_of, measured_names
from ..memory.evaluator_pools import EvaluatorPool, list_pools
from ..memory.gate_report import GateReport, gate_report
from ..memory.pace import Pace, pace_of
from ..memory.quality import Quality
from ..memory.run_status import FailureCount, NodeUse, list_failures
from ..memory.run_view import view_of_facts
from ..memory.slots import Remembered
from ..memory.spending import Spending
from .descent import CandidateRow, list_candidates, trace_lineage

SIMULATORS = ("mujoco", "numpy", "robosuite")
NEAR_DUPLICATE = 0.9  # difflib's ratio from which two edit summaries are near-duplicates


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPoint:
    """One generation: the reported elite, and the best so far by F (S is that candidate's)."""

    generation: int
    elite: str
    origin: Operator
    changed: bool
    fitness: float
    success: float | None               # S; None if the task has no success predicate
    best_fitness: float
    best_success: float | None
    version: int = 1  # of the evaluator: the best so far is that by this version
    starts: int = 0  # that joined the search after this generation: the best so far begins again, with them


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorCount:
    """The outcomes of one operator's slots. `elites` counts the generations whose new elite it made."""

    operator: Operator
    slots: int
    failed: int
    cut: int  # by racing
    accepted: int
    rejected: int
    elites: int
    best_fitness: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCount:
    """Counts about the rejection memory. Repeats are proposals that repeat one that their chain had rejected."""

    climbs: int  # hill-climb proposals made while the memory was not empty
    rejections: int
    same_program: int
    near_summary: int  # of the rest, those with a near-duplicate edit summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Merit:
    """F and S of one candidate."""

    id: str
    fitness: float
    success_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run's numbers for tables, curves and tests. Values that the run has not reached are empty or None."""

    name: str
    folder: str
    domain: str
    method: str
    model: str
    seed: int
    status: str
    task: str = ""  # of a comparison: domain with its options; else the domain
    arm: str = ""  # of a comparison: method with its settings; else the method
    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()
    nodes: Mapping[str, NodeUse] = field(default_factory=dict)  # of a cluster, by `node_label`
    curve: tuple[GenerationPoint, ...] = ()
    operators: tuple[OperatorCount, ...] = ()
    memory: MemoryCount
    failures: tuple[FailureCount, ...] = ()
    candidates: int = 0
    failed: int = 0
    episodes_run: int = 0
    episodes_saved: int = 0
    search_episodes: int = 0  # of the episodes run, those that a budget of episodes counts
    confirmations: int = 0  # comparisons of a new elite with the old one on fresh episodes
    refuted: int = 0  # of these, those after which the old elite stayed
    gate_episodes: int = 0  # on the cheap twin, in no other count
    gate: GateReport | None = None
    saved_by_duplicates: int = 0  # of these; racing saved the others
    duplicates: int = 0
    asked_ahead: int = 0
    kept_ahead: int = 0
    hints: int = 0  # that a person gave
    replay_differs: str | None = None  # in a replay by order: the first order whose prompt was not the recorded one
    spending: Spending = Spending()
    pools: tuple[EvaluatorPool, ...] = ()
    pace: Pace | None = None  # of the elite
    card: Card | None = None
    quality: Quality | None = None  # what the run states of its result; None in the archives of older versions
    lineage: tuple[CandidateRow, ...] = ()
    merits: tuple[Merit, ...] = ()  # of all candidates that have both; none in the archives of older versions
    elite: Program | None = None
    initial: Program | None = None
    evaluator: Program | None = None  # E*
    final: FinalMeasured | None = None
    seen_seeds: frozenset[int] = frozenset()  # of every episode before the run's final measure
    wall_s: float = 0.0
    audit: Audit | None = None  # of `evaluator`, if `memento audit` examined it
    version: int = 1  # of `evaluator`, where it moved; then F by earlier versions cannot be compared
    first_fitness: float | None = None  # F of p_0 by `evaluator`; None in the archives of older versions

    @property
    def simulator(self) -> Mapping[str, str]:
        """The versions of what simulated the task: those that a look at it found, else of the packages that can."""
        options = self.settings.get("options")
        text = options.get("description") if isinstance(options, Mapping) else None
        with suppress(ValueError, TypeError, KeyError):
            found: Mapping[str, str] = json.loads(str(text))["versions"]
            return found
        return {name: self.versions[name] for name in SIMULATORS if name in self.versions}

    @property
    def initial_fitness(self) -> float | None:
        """F of p_0, by the same evaluator as the best F."""
        if self.version > 1:
            return self.first_fitness
        return self.curve[0].fitness if self.curve else None

    @property
    def result_fitness(self) -> float | None:
        """F of the run's result: on fresh episodes where it was seen on them, else the best F of the search."""
        return self.quality.fitness if self.quality is not None and self.quality.fresh else self.best_fitness

    @property
    def result_success(self) -> float | None:
        """S of the run's result, on the same episodes where the log has it, else on those of the search."""
        return self.quality.success if self.quality is not None and self.quality.fresh else self.best_success

    @property
    def best_fitness(self) -> float | None:
        """The best F so far."""
        return self.curve[-1].best_fitness if self.curve else None

    @property
    def best_success(self) -> float | None:
        """S of the candidate with the best F so far, on the search's own episodes."""
        return self.curve[-1].best_success if self.curve else None


def node_label(node: str) -> str:
    """A node for readers of a report: the same name in all runs, which is not the machine's name or address."""
    return f"node {sha256(node.encode()).hexdigest()[:4]}"


def read_record(facts: Sequence[Fact], *, name: str, folder: str, wall_s: float) -> RunRecord:
    """The record of the run whose log is `facts`, complete or not."""
    view = view_of_facts(facts)
    run, slots = view.status, view.slots
    rows = list_candidates(slots, facts)
    settings = run.settings
    lineage = trace_lineage(slots, rows)
    measured = measured_names(run)
    return RunRecord(
        name=name,
        folder=folder,
        domain=str(settings.get("domain", "?")),
        method=str(settings.get("method", "?")),
        model=str(settings.get("model", "?")),
        seed=int(str(settings.get("seed", 0))),
        task=str(settings.get("domain", "?")),
        arm=str(settings.get("method", "?")),
        status=run.status,
        settings=settings,
        versions=run.versions,
        sandbox=run.sandbox,
        nodes={node_label(node): use for node, use in run.nodes.items()},
        curve=curve_of(slots.elites, slots.joined),
        operators=count_operators(rows),
        memory=count_repeats(rows, slots.memory),
        failures=tuple(list_failures(run)),
        candidates=run.candidates,
        failed=run.failed,
        episodes_run=run.episodes,
        episodes_saved=run.episodes_saved,
        search_episodes=run.search_episodes,
        confirmations=run.confirmations,
        refuted=run.refuted,
        gate_episodes=run.gate_episodes,
        gate=gate_report(slots),
        saved_by_duplicates=run.saved_by_duplicates,
        duplicates=run.duplicates,
        asked_ahead=run.speculative,
        kept_ahead=run.speculative_kept,
        hints=run.hints,
        replay_differs=run.replay_differs,
        spending=run.spending,
        pools=list_pools(slots.evaluation),
        pace=pace_of(slots, slots.elites[-1].candidate) if slots.elites else None,
        quality=view.quality,
        card=card_of(view, [fact for fact in facts if owner_of(fact.order or "") in measured], facts),
        lineage=lineage,
        merits=tuple(
            Merit(id=row.id, fitness=row.fitness, success_rate=row.success_rate)
            for row in rows
            if row.fitness is not None and row.success_rate is not None and row.version == slots.version
        ),
        elite=lineage[-1].program if lineage else None,
        initial=next((fact.program for fact in facts if isinstance(fact, InitialChosen)), None),
        evaluator=next(
            (fact.chosen.program for fact in reversed(facts) if isinstance(fact, EvaluatorChosen) and fact.final), None
        ),
        version=slots.version,
        first_fitness=None if run.first_elite is None else run.first_elite.fitness,
        final=run.final,
        seen_seeds=frozenset(
            fact.rollout.seed
            for fact in facts
            if fact.rollout is not None
            and parse(fact.order or "").stage != FINAL
        ),
        wall_s=wall_s,
    )


def curve_of(elites: Iterable[EliteChanged], joined: Mapping[int, int] | None = None) -> tuple[GenerationPoint, ...]:
    """The points of a run's curve. Of equal F the later one counts, as in the search.

    The best so far begins again after the evaluator moved, and where starts joined the search after a generation of
    `joined`: F before was on other episodes, and that of the elite was withdrawn.
    """
    starts = joined or {}
    points: list[GenerationPoint] = []
    best: tuple[float, float | None, int] | None = None
    for row in elites:
        if best is None or row.version != best[2] or row.generation in starts or row.fitness >= best[0]:
            best = (row.fitness, row.success_rate, row.version)
        points.append(
            GenerationPoint(
                generation=row.generation,
                elite=row.candidate,
                origin=row.origin,
                changed=row.changed,
                fitness=row.fitness,
                success=row.success_rate,
                best_fitness=best[0],
                best_success=best[1],
                version=row.version,
                starts=starts.get(row.generation, 0),
            )
        )
    return tuple(points)


def count_operators(rows: Iterable[CandidateRow]) -> tuple[OperatorCount, ...]:
    """The outcomes of each operator's slots, in the order of their table; operators without a slot are left out."""
    by_operator: dict[Operator, list[CandidateRow]] = {}
    for row in rows:
        if row.generation > 0:
            by_operator.setdefault(row.operator, []).append(row)
    return tuple(
        OperatorCount(
            operator=operator,
            slots=len(found),
            failed=sum(row.fault is not None and not is_stopped(row.fault) for row in found),
            cut=sum(row.bound is not None for row in found),
            accepted=sum(row.accepted is True for row in found),
            rejected=sum(row.accepted is False for row in found),
            elites=sum(bool(row.elite_of) for row in found),
            best_fitness=max((row.fitness for row in found if row.fitness is not None), default=None),
        )
        for operator in OPERATORS.ordered(by_operator)
        for found in (by_operator[operator],)
    )


def count_repeats(rows: Iterable[CandidateRow], memory: Sequence[Remembered]) -> MemoryCount:
    """How often a hill-climb proposal repeats one that its own chain had already rejected.

    By program (comments, docstrings and history left out), else by a near-duplicate edit summary. A slot without
    a program counts as rejected but cannot repeat a program.
    """
    chains: dict[int, list[CandidateRow]] = {}
    for row in rows:
        if row.operator is Operator.HILL_CLIMB and row.accepted is not None:
            chains.setdefault(row.generation, []).append(row)
    counts = Counter[str]()
    for chain in chains.values():
        programs, summaries = set[str](), list[str]()
        for row in sorted(chain, key=lambda row: row.slot):
            identity = digest(row.program) if row.program.text.strip() else None
            if programs or summaries:
                counts["climbs"] += 1
                if identity is not None and identity in programs:
                    counts["same"] += 1
                elif any(says_the_same(row.summary, old) for old in summaries):
                    counts["near"] += 1
            if row.accepted is False:
                programs |= {identity} if identity is not None else set()
                summaries.append(row.summary)
    return MemoryCount(
        climbs=counts["climbs"],
        rejections=len(memory),
        same_program=counts["same"],
        near_summary=counts["near"],
    )


def says_the_same(one: str, other: str) -> bool:
    """Whether two edit summaries are near-duplicates: equal except for case, white space and a few letters."""
    first, second = (" ".join(text.lower().split()) for text in (one, other))
    if not first or not second:
        return False
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.quick_ratio() >= NEAR_DUPLICATE and matcher.ratio() >= NEAR_DUPLICATE
