"""The sequencer joins the stages of a run: p_0 and its rollouts T_0, evaluator, policy search, final measure."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...core.errors import SearchError
from ...core.events import Fact, StageEntered
from ...core.keeper import Decision, Keeper
from ...core.values import Candidate, EvaluatorCandidate, Program
from .by_method import MakeKeeper
from .evaluator_search import EvaluatorBudget, EvaluatorKeeper
from .final import FinalKeeper
from .initial import InitialKeeper, score_baseline
from .memento import Slots
from .options import PLAIN, SearchOptions
from .trials import RolloutPlan, chained
from .unevolved_evaluator import UnevolvedEvaluatorKeeper


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All inputs of a run's decisions: budgets, seeds, given programs."""

    method: MakeKeeper
    slots: Slots
    search_seeds: tuple[int, ...]
    final_seeds: tuple[int, ...]
    racing: bool = True
    duplicates: bool = False
    options: SearchOptions = PLAIN
    initial: Program | None = None  # a given p_0; None requests one from the model
    evaluator: Program | None = None  # a given E*
    evaluator_budget: EvaluatorBudget | None = None  # evolve E*; None without `evaluator`: request one evaluator
    probe_seed: int | None = None  # the seed of the probes in the evolution of E*; None: no probes
    reference: Program | None = None  # scores the final measure
    has_success: bool = True  # whether the task has a success predicate
    fitness: str = ""  # what f_e measures under a given `evaluator`, for prompts
    practice: int = 0  # episodes in which one proposal may try drafts
    budget_episodes: int | None = None  # of p_0, the search and its confirmations together; None: no budget
    confirm_episodes: int = 0  # fresh episodes on which a candidate is compared with the elite; 0: none
    confirm_seed: int = 0  # from which the seeds of these derive
    refuses_dead: bool = True  # request p_0 again if it does nothing in any episode; not by rules of version 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The keeper of a stage, and the function that enters the next stage from the last state of this one."""

    keeper: Keeper[Any]
    onward: "Callable[[Any], Decision[Stages]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The state of a run: the current stage (None at the end) and the state of its keeper."""

    stage: Stage | None = None
    inner: Any = None


class Sequencer:
    """Decides a whole run."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan

    def start(self) -> Decision[Stages]:
        """Begin with p_0, given or requested."""
        keeper = InitialKeeper(
            given=self._plan.initial, seeds=self._plan.search_seeds, refuses_dead=self._plan.refuses_dead,
            has_success=self._plan.has_success, episodes=self._plan.budget_episodes, fitness=self._plan.fitness,
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

    def _begin_evaluator(self, baseline: Candidate, ordered: int) -> Decision[Stages]:
        budget, given = self._plan.evaluator_budget, self._plan.evaluator
        keeper: Keeper[Any] = (
            EvaluatorKeeper(baseline=baseline, budget=budget, probe_seed=self._plan.probe_seed)
            if budget is not None and given is None
            else UnevolvedEvaluatorKeeper(baseline=baseline, given=given)
        )
        return self._enter("evaluator", keeper, lambda ended: self._begin_search(baseline, ended.chosen, ordered))

    def _begin_search(self, baseline: Candidate, chosen: EvaluatorCandidate, ordered: int) -> Decision[Stages]:
        if chosen.program is None:
            raise SearchError("the chosen evaluator has no program")
        limit = self._plan.budget_episodes
        plan = RolloutPlan(
            split="search",
            seeds=self._plan.search_seeds,
            evaluator=chosen.program,
            racing=self._plan.racing,
            duplicates=self._plan.duplicates,
            has_success=self._plan.has_success,
            fitness=chosen.summary if self._plan.evaluator is None else self._plan.fitness,
            episodes=None if limit is None else limit - ordered,
            practice=self._plan.practice,
            confirm_episodes=self._plan.confirm_episodes,
            confirm_seed=self._plan.confirm_seed,
        )
        initial = score_baseline(baseline, chosen.examination)
        keeper = self._plan.method(initial, plan, self._plan.slots, self._plan.options)
        return self._enter("search", keeper, lambda ended: self._begin_final(baseline.program, ended.elite.program))

    def _begin_final(self, initial: Program, elite: Program) -> Decision[Stages]:
        if not self._plan.final_seeds:
            return self._end()
        plan = RolloutPlan(
            split="final", seeds=self._plan.final_seeds, evaluator=self._plan.reference,
            has_success=self._plan.has_success,
        )
        keeper = FinalKeeper(initial=initial, elite=elite, plan=plan)
        return self._enter("final", keeper, lambda ended: self._end())

    def _end(self) -> Decision[Stages]:
        return Decision(state=Stages(), facts=(StageEntered(stage="done"),))

    def _enter(
        self, name: str, keeper: Keeper[Any], onward: Callable[[Any], Decision[Stages]]
    ) -> Decision[Stages]:
        begun = self._follow(Stage(keeper=keeper, onward=onward), keeper.start())
        return replace(begun, facts=(StageEntered(stage=name), *begun.facts))

    def _follow(self, stage: Stage, decision: Decision[Any]) -> Decision[Stages]:
        """Adopt the decision of the stage's keeper, and enter the next stage if this one is finished."""
        state = Stages(stage=stage, inner=decision.state)
        here = Decision(state=state, orders=decision.orders, facts=decision.facts)
        return chained(here, stage.onward(decision.state)) if stage.keeper.finished(decision.state) else here
