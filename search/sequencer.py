"""The sequencer joins the stages of a run: p_0 and its rollouts T_0, evaluator, policy search, final measure.

Where the evaluator moves, it alternates between the stage of the evaluator and parts of the search.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..core.errors import SearchError
from ..core.events import Fact, StageEntered
from ..core.keeper import Decision, Keeper
from ..core.values import CandidateState, EvaluatorCandidate, Exploit, Probe, Program
from .evaluator_search import EvaluatorBudget, EvaluatorKeeper, Evolution, Predecessor
from .final import FinalKeeper, split_of
from .hardening import AttackTerms, HardeningKeeper
from .initial import InitialKeeper, score_baseline
from .keepers import MakeKeeper
from .memento import PAPER
from .moving.keeper import MovingKeeper
from .moving.recordings import DrawnRecordings, Moves, draw
from .moving.successor import MoveRecordings
from .moving.trial import Rescoring, RescoringKeeper
from .options import PLAIN, Choices, GenerationBudget, SearchOptions
from .rollout_plan import RolloutPlan
from .state import Search
from .trials import chain, success_rate
from .unevolved_evaluator import UnevolvedEvaluatorKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All inputs of a run's decisions: budgets, seeds, given programs."""

    method: MakeKeeper
    slots: GenerationBudget
    search: RolloutPlan  # of p_0 and all candidates; its evaluator is a given E*
    final_seeds: tuple[int, ...]
    options: SearchOptions = PLAIN
    choices: Choices = PAPER
    initial: Program | None = None  # a given p_0; None requests one from the model
    evaluator_budget: EvaluatorBudget | None = None  # evolve E*; None without a given one: request one evaluator
    probe_seed: int | None = None  # the seed of the probes in the evolution of E*; None: no probes
    tested: bool = False  # evaluators are tested on probes before the votes
    attacks: AttackTerms | None = None  # tested evaluators are attacked, and the chosen one is revised
    reference: Program | None = None  # scores the final measure
    conditions: tuple[str, ...] = ()  # changed ones, under which the final measure is repeated

    @property
    def revisions(self) -> EvaluatorBudget:
        """The budget of a move of the evaluator: its generations without the first pool, which is there already."""
        assert self.evaluator_budget is not None
        return replace(self.evaluator_budget, generations=max(1, self.evaluator_budget.generations - 1))

    @property
    def attack_numbers(self) -> int:
        """How many numbers the attacks before and after each revision take, in one stage at most."""
        return 0 if self.attacks is None else self.attacks.rounds + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What the stages before the search have found, and what a move of the evaluator adds.

    `baseline` is p_0 with T_0, which took `ordered` episodes. `probes` are those of the run, with the exploits of
    earlier attacks among them.
    """

    baseline: CandidateState
    ordered: int
    chosen: EvaluatorCandidate
    probes: tuple[Probe, ...] = ()
    exploits: tuple[Exploit, ...] = ()

    def with_exploits(self, found: tuple[Exploit, ...]) -> "Course":
        """With those of another attack, which are probes from now on."""
        probes = (*self.probes, *(each.probe for each in found))
        return replace(self, probes=probes, exploits=(*self.exploits, *found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A move under way: the search that waits for it, with its C_0, and T as the rollouts of p_0 and later programs."""

    course: Course
    initial: CandidateState
    search: Search
    drawn: DrawnRecordings
    recordings: CandidateState


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStage:
    """The keeper of a stage, and the function that enters the next stage from the last state of this one."""

    keeper: Keeper[Any]
    onward: "Callable[[Any], Decision[Stages]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The state of a run: the current stage (None at the end) and the state of its keeper."""

    stage: RunStage | None = None
    inner: Any = None


class Sequencer:
    """Decides a whole run."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan

    def start(self) -> Decision[Stages]:
        """Begin with p_0, given or requested."""
        search = self._plan.search
        keeper = InitialKeeper(
            given=self._plan.initial, seeds=search.seeds,
            has_success=search.has_success, episodes=search.episodes, fitness=search.fitness,
        )
        return self._enter("initial", keeper, lambda ended: self._begin_evaluator(ended.baseline, ended.ordered))

    def decide(self, state: Stages, fact: Fact) -> Decision[Stages]:
        """Pass the fact to the current stage, and enter the next stage if this one ended."""
        if state.stage is None:
            return Decision(state=state)
        return self._follow(state.stage, state.stage.keeper.decide(state.inner, fact))

    def finished(self, state: Stages) -> bool:
        """Whether the run is done."""
        return state.stage is None

    def _begin_evaluator(self, baseline: CandidateState, ordered: int) -> Decision[Stages]:
        budget, given = self._plan.evaluator_budget, self._plan.search.evaluator

        def course(chosen: EvaluatorCandidate | None, probes: tuple[Probe, ...] = ()) -> Course:
            assert chosen is not None
            return Course(baseline=baseline, ordered=ordered, chosen=chosen, probes=probes)

        if budget is None or given is not None:
            unevolved = UnevolvedEvaluatorKeeper(baseline=baseline, given=given)
            return self._enter("evaluator", unevolved, lambda ended: self._begin_search(course(ended.chosen)))
        keeper = EvaluatorKeeper(
            baseline=baseline, budget=budget, probe_seed=self._plan.probe_seed, tested=self._plan.tested,
            attacks=self._plan.attacks,
        )
        return self._enter(
            "evaluator", keeper, lambda ended: self._begin_hardening(course(ended.chosen, ended.probes or ()))
        )

    def _begin_hardening(self, course: Course) -> Decision[Stages]:
        """The attacks on E*, if there are any."""
        if self._plan.attacks is None or course.chosen.examination.tests is None:
            return self._begin_search(course)
        keeper = HardeningKeeper(
            baseline=course.baseline, chosen=course.chosen, probes=course.probes, terms=self._plan.attacks
        )
        return self._enter("hardening", keeper, lambda ended: self._begin_search(
            replace(course, chosen=ended.chosen).with_exploits(ended.exploits)
        ))

    def _begin_search(self, course: Course) -> Decision[Stages]:
        chosen = course.chosen
        if chosen.program is None:
            raise SearchError("the chosen evaluator has no program")
        given, limit = self._plan.search, self._plan.search.episodes
        plan = replace(
            given, evaluator=chosen.program, fitness=chosen.says if given.evaluator is None else given.fitness,
            episodes=None if limit is None else limit - course.ordered,
        )
        initial = score_baseline(course.baseline, chosen.examination)
        keeper = self._search(initial, plan)
        return self._enter("search", keeper, lambda ended: self._after_search(course, initial, ended))

    def _search(self, initial: CandidateState, plan: RolloutPlan) -> Keeper[Any]:
        """The keeper of the policy search."""
        return self._plan.method(initial, plan, self._plan.slots, self._plan.options, self._plan.choices)

    def _after_search(self, course: Course, initial: CandidateState, ended: Any) -> Decision[Stages]:
        """The final measure, or a move of the evaluator if the search waits for one."""
        if isinstance(ended, Search) and ended.slices.get(Moves, Moves()).due:
            return self._begin_move(course, initial, ended)
        return self._begin_final(course.baseline.program, ended.elite.program)

    def _begin_final(self, initial: Program, elite: Program) -> Decision[Stages]:
        if not self._plan.final_seeds:
            return self._end()
        entered: Decision[Stages] = Decision(state=Stages(), facts=(StageEntered(stage="final"),))
        return chain(entered, self._measure(initial, elite, ("", *self._plan.conditions)))

    def _measure(self, initial: Program, elite: Program, conditions: tuple[str, ...]) -> Decision[Stages]:
        """One final measure after the other, on the same seeds."""
        if not conditions:
            return self._end()
        here, *others = conditions
        plan = RolloutPlan(
            split=split_of(here), seeds=self._plan.final_seeds, evaluator=self._plan.reference,
            has_success=self._plan.search.has_success,
        )
        keeper = FinalKeeper(initial=initial, elite=elite, plan=plan, conditions=here)
        stage = RunStage(keeper=keeper, onward=lambda ended: self._measure(initial, elite, tuple(others)))
        return self._follow(stage, keeper.start())

    # ------------------------------------------------------------------------------ a move of the evaluator

    def _begin_move(self, course: Course, initial: CandidateState, search: Search) -> Decision[Stages]:
        """Draw T again, and evolve the pool again from the evaluator in use."""
        plan, moves = self._plan, search.slice(Moves)
        first = course.baseline.episodes
        found = draw(first, search.elite, moves.archive, len(plan.search.seeds))
        recordings = replace(
            course.baseline, episodes=found.episodes, scores=(),
            success_rate=success_rate(found.episodes) if plan.search.has_success else None,
        )
        assert plan.evaluator_budget is not None
        before = Predecessor(
            chosen=course.chosen, move=moves.moves + 1, probes=course.probes, later=found.later,
            first=plan.evaluator_budget.generations + moves.moves * plan.revisions.generations,
        )
        keeper = EvaluatorKeeper(
            baseline=recordings, budget=plan.revisions, probe_seed=plan.probe_seed, tested=plan.tested,
            attacks=plan.attacks, replaces=before,
        )
        move = Move(course=course, initial=initial, search=search, drawn=found, recordings=recordings)
        return self._enter("evaluator", keeper, lambda ended: self._attack_successor(move, ended))

    def _attack_successor(self, move: Move, ended: Evolution) -> Decision[Stages]:
        chosen, kept = ended.chosen, ended.kept
        assert chosen is not None and kept is not None
        move = replace(move, course=replace(move.course, chosen=kept))
        terms = self._plan.attacks
        if terms is None or chosen.examination.tests is None or chosen.program == kept.program:
            return self._begin_rescoring(move, chosen)
        keeper = HardeningKeeper(
            baseline=move.recordings, chosen=chosen, probes=move.course.probes, terms=terms, moves=True,
            first=(move.search.slice(Moves).moves + 1) * self._plan.attack_numbers, known=move.course.exploits,
            later=move.drawn.later,
        )
        return self._enter("hardening", keeper, lambda ended: self._begin_rescoring(move, ended.chosen, ended.exploits))

    def _begin_rescoring(
        self, move: Move, successor: EvaluatorCandidate, exploits: tuple[Exploit, ...] = ()
    ) -> Decision[Stages]:
        """The successor scores all that the search remembers: what the stage before has left to do."""
        course, search = move.course, move.search
        moves = search.slice(Moves)
        keeper = RescoringKeeper(
            recordings=MoveRecordings(
                episodes=move.drawn.episodes, probes=course.probes, archive=moves.archive
            ),
            before=course.chosen, successor=successor, elite=search.elite, moves=moves,
            generation=search.generation,
        )
        stage = RunStage(
            keeper=keeper, onward=lambda ended: self._resume_search(move, successor, exploits, ended)
        )
        return self._follow(stage, keeper.start())

    def _resume_search(
        self, move: Move, successor: EvaluatorCandidate, exploits: tuple[Exploit, ...], ended: Rescoring
    ) -> Decision[Stages]:
        assert ended.outcome is not None
        course = move.course.with_exploits(exploits)
        if ended.outcome.moved:
            course = replace(course, chosen=successor)
        keeper = self._search(move.initial, move.search.trials.plan)
        assert isinstance(keeper, MovingKeeper)
        first = keeper.resume(
            move.search, ended.outcome, ended.scores, move.drawn.owners, evaluator=course.chosen
        )
        return self._begin("search", keeper, first, lambda last: self._after_search(course, move.initial, last))

    def _end(self) -> Decision[Stages]:
        return Decision(state=Stages(), facts=(StageEntered(stage="done"),))

    def _enter(
        self, name: str, keeper: Keeper[Any], onward: Callable[[Any], Decision[Stages]]
    ) -> Decision[Stages]:
        return self._begin(name, keeper, keeper.start(), onward)

    def _begin(
        self, name: str, keeper: Keeper[Any], first: Decision[Any], onward: Callable[[Any], Decision[Stages]]
    ) -> Decision[Stages]:
        begun = self._follow(RunStage(keeper=keeper, onward=onward), first)
        return replace(begun, facts=(StageEntered(stage=name), *begun.facts))

    def _follow(self, stage: RunStage, decision: Decision[Any]) -> Decision[Stages]:
        """Adopt the decision of the stage's keeper, and enter the next stage if this one is finished."""
        state = Stages(stage=stage, inner=decision.state)
        here = Decision(state=state, orders=decision.orders, facts=decision.facts)
        return chain(here, stage.onward(decision.state)) if stage.keeper.finished(decision.state) else here
