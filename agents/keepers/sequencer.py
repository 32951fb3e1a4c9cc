"""The sequencer joins the stages of a run: p_0 and its rollouts T_0, evaluator, policy search, final measure."""

from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from ...core.errors import SearchError
from ...core.events import (
    EvaluatorChosen,
    EvaluatorExamined,
    Examine,
    Fact,
    InitialChosen,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeEvaluator,
    SearchEnded,
    StageEntered,
)
from ...core.keeper import Decision, Keeper
from ...core.metrics import aggregate
from ...core.values import (
    Candidate,
    EvaluatorCandidate,
    Examination,
    Fault,
    Operator,
    Program,
    Rejection,
    Score,
)
from .by_method import MakeKeeper
from .evaluator_search import EvaluatorKeeper, Panel
from .final import FinalKeeper
from .memento import Slots
from .options import PLAIN, SearchOptions
from .trials import RolloutPlan, Trial, Trials

ATTEMPTS = 5  # tries at a first valid policy, or at the one evaluator of `zero-shot`
EXAMINE_FIXED = "eval/fixed/examine"
ZERO_SHOT = "eval/zero-shot"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """All that a run decides by: budgets, seeds, given programs."""

    method: MakeKeeper
    slots: Slots
    search_seeds: tuple[int, ...]
    final_seeds: tuple[int, ...]
    racing: bool = True
    duplicates: bool = False
    options: SearchOptions = PLAIN
    initial: Program | None = None  # a given p_0; None asks the model
    evaluator: Program | None = None  # a given E*
    panel: Panel | None = None  # evolve E*; None with no `evaluator` asks for one unevolved evaluator
    reference: Program | None = None  # what the final measure is graded by


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The state of a run: its stage, that stage's own state, and what earlier stages settled."""

    stage: str
    attempt: int = 0
    failures: tuple[Rejection, ...] = ()  # of earlier attempts at p_0, told to the next
    trials: Trials | None = None  # of T_0
    keeper: Keeper[Any] | None = None  # of the stage
    inner: Any = None
    baseline: Candidate | None = None  # p_0 with T_0, not yet scored
    evaluator: Program | None = None  # E*
    elite: Program | None = None


class Sequencer:
    """Decides a whole run."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan

    def start(self) -> Decision[Stages]:
        """Begin with p_0, given or asked for."""
        begun = self._try_initial(Stages(stage="initial"))
        return replace(begun, facts=(StageEntered(stage="initial"), *begun.facts))

    def decide(self, state: Stages, fact: Fact) -> Decision[Stages]:
        """Hand the fact to the stage, and go on where the stage ended."""
        match state.stage:
            case "initial":
                return self._decide_initial(state, fact)
            case "evaluator" if state.keeper is None:
                return self._decide_fixed_evaluator(state, fact)
            case "evaluator" | "search" | "final":
                return self._decide_inner(state, fact)
        return Decision(state=state)

    def finished(self, state: Stages) -> bool:
        """Whether the run is done."""
        return state.stage == "done"

    # -------------------------------------------------------------------------------- p_0 and T_0

    def _try_initial(self, state: Stages) -> Decision[Stages]:
        if self._plan.initial is not None:
            return self._roll_baseline(state, self._plan.initial, "")
        order = Propose(
            id=f"init/{state.attempt}",
            operator=Operator.INITIAL,
            generation=0,
            slot=state.attempt,
            rejections=state.failures,
        )
        return Decision(state=state, orders=(order,))

    def _decide_initial(self, state: Stages, fact: Fact) -> Decision[Stages]:
        if state.trials is None:
            if fact.order != f"init/{state.attempt}":
                return Decision(state=state)
            if isinstance(fact, ProposalMade):
                return self._roll_baseline(state, fact.program, fact.summary)
            if isinstance(fact, ProposalFailed):
                return self._next_initial(state, fact.fault, fact.summary)
            return Decision(state=state)
        step = state.trials.take(fact)
        state = replace(state, trials=step.trials)
        if not step.settled:
            return Decision(state=state, orders=step.orders)
        (candidate,) = step.settled
        if candidate.fault is not None:
            return self._next_initial(state, candidate.fault, candidate.summary)
        chosen = InitialChosen(order=candidate.id, program=candidate.program)
        return _after(chosen, self._begin_evaluator(replace(state, trials=None, baseline=candidate)))

    def _roll_baseline(self, state: Stages, program: Program, summary: str) -> Decision[Stages]:
        plan = RolloutPlan(setting="search", seeds=self._plan.search_seeds, evaluator=None)
        trial = Trial(
            id=f"init/{state.attempt}",
            program=program,
            operator=Operator.INITIAL,
            generation=0,
            slot=0,
            summary=summary,
        )
        step = Trials(plan=plan, open={}).begin(trial)
        return Decision(state=replace(state, trials=step.trials), orders=step.orders)

    def _next_initial(self, state: Stages, fault: Fault, summary: str) -> Decision[Stages]:
        if self._plan.initial is not None:
            raise SearchError(f"the given initial policy cannot start: {fault.message}")
        attempt = state.attempt + 1
        if attempt >= ATTEMPTS:
            raise SearchError(
                f"no valid initial policy in {ATTEMPTS} replies (the last: {fault.kind}, {fault.message}); "
                "give one with --initial FILE, or use another model"
            )
        failure = Rejection(
            summary=summary,
            candidate=f"init/{state.attempt}",
            fitness_difference=None,
            reason=f"{fault.kind}: {fault.message}",
        )
        failures = (*state.failures, failure)
        return self._try_initial(replace(state, attempt=attempt, trials=None, failures=failures))

    # --------------------------------------------------------------------------------- the evaluator

    def _begin_evaluator(self, state: Stages) -> Decision[Stages]:
        baseline = state.baseline
        assert baseline is not None
        state = replace(state, stage="evaluator", attempt=0)
        entered = StageEntered(stage="evaluator")
        if self._plan.evaluator is not None:
            return _after(entered, self._examine(state, EXAMINE_FIXED, self._plan.evaluator))
        if self._plan.panel is None:
            return _after(entered, self._ask_zero_shot(state))
        keeper = EvaluatorKeeper(baseline=baseline, panel=self._plan.panel)
        return _after(entered, self._enter(state, keeper))

    def _ask_zero_shot(self, state: Stages) -> Decision[Stages]:
        assert state.baseline is not None
        order = ProposeEvaluator(
            id=f"{ZERO_SHOT}/{state.attempt}",
            generation=0,
            slot=state.attempt,
            parent=None,
            episodes=state.baseline.episodes,
            success_rate=state.baseline.success_rate,
        )
        return Decision(state=state, orders=(order,))

    def _examine(self, state: Stages, order: str, program: Program) -> Decision[Stages]:
        assert state.baseline is not None
        examine = Examine(id=order, evaluator=program, episodes=state.baseline.episodes)
        return Decision(state=replace(state, evaluator=program), orders=(examine,))

    def _decide_fixed_evaluator(self, state: Stages, fact: Fact) -> Decision[Stages]:
        given = self._plan.evaluator is not None
        ask = f"{ZERO_SHOT}/{state.attempt}"
        match fact:
            case ProposalMade() if fact.order == ask and not given:
                return self._examine(state, f"{ask}/examine", fact.program)
            case ProposalFailed() if fact.order == ask and not given:
                return self._next_zero_shot(state, fact.fault)
            case EvaluatorExamined() if fact.order == (EXAMINE_FIXED if given else f"{ask}/examine"):
                return self._fix_evaluator(state, fact.examination, given=given)
        return Decision(state=state)

    def _fix_evaluator(self, state: Stages, examination: Examination, *, given: bool) -> Decision[Stages]:
        assert state.evaluator is not None
        if examination.fault is not None:
            if given:
                raise SearchError(f"the given evaluator is not valid: {examination.fault.message}")
            return self._next_zero_shot(state, examination.fault)
        chosen = EvaluatorCandidate(
            id="eval/fixed" if given else f"{ZERO_SHOT}/{state.attempt}",
            generation=0,
            slot=state.attempt,
            program=state.evaluator,
            examination=examination,
        )
        fact = EvaluatorChosen(generation=0, chosen=chosen, final=True)
        return _after(fact, self._begin_search(state, chosen))

    def _next_zero_shot(self, state: Stages, fault: Fault) -> Decision[Stages]:
        attempt = state.attempt + 1
        if attempt >= ATTEMPTS:
            raise SearchError(
                f"no valid evaluator in {ATTEMPTS} replies (the last: {fault.message}); "
                "use --evaluator reference, or another model"
            )
        return self._ask_zero_shot(replace(state, attempt=attempt, evaluator=None))

    # ------------------------------------------------------------------------------- search and final

    def _begin_search(self, state: Stages, chosen: EvaluatorCandidate) -> Decision[Stages]:
        assert state.baseline is not None
        if chosen.program is None:
            raise SearchError("the chosen evaluator has no program")
        plan = RolloutPlan(
            setting="search",
            seeds=self._plan.search_seeds,
            evaluator=chosen.program,
            racing=self._plan.racing,
            duplicates=self._plan.duplicates,
        )
        initial = score_baseline(state.baseline, chosen.examination)
        keeper = self._plan.method(initial, plan, self._plan.slots, self._plan.options)
        state = replace(state, stage="search", evaluator=chosen.program)
        return _after(StageEntered(stage="search"), self._enter(state, keeper))

    def _begin_final(self, state: Stages) -> Decision[Stages]:
        assert state.baseline is not None and state.elite is not None
        if not self._plan.final_seeds:
            return Decision(state=replace(state, stage="done"), facts=(StageEntered(stage="done"),))
        plan = RolloutPlan(setting="final", seeds=self._plan.final_seeds, evaluator=self._plan.reference)
        keeper = FinalKeeper(initial=state.baseline.program, elite=state.elite, plan=plan)
        return _after(StageEntered(stage="final"), self._enter(replace(state, stage="final"), keeper))

    def _enter(self, state: Stages, keeper: Keeper[Any]) -> Decision[Stages]:
        return self._follow(replace(state, keeper=keeper), keeper.start())

    def _decide_inner(self, state: Stages, fact: Fact) -> Decision[Stages]:
        assert state.keeper is not None
        return self._follow(state, state.keeper.decide(state.inner, fact))

    def _follow(self, state: Stages, decision: Decision[Any]) -> Decision[Stages]:
        """Take over what the stage's keeper decided, and go on to the next stage where it is finished."""
        keeper = state.keeper
        assert keeper is not None
        state = replace(state, inner=decision.state)
        if not keeper.finished(decision.state):
            return Decision(state=state, orders=decision.orders, facts=decision.facts)
        state = replace(state, keeper=None, inner=None)
        onward = self._next_stage(state, decision.facts[-1])
        orders: tuple[Order, ...] = (*decision.orders, *onward.orders)
        return replace(onward, orders=orders, facts=(*decision.facts, *onward.facts))

    def _next_stage(self, state: Stages, last: Fact) -> Decision[Stages]:
        match last:
            case EvaluatorChosen():
                return self._begin_search(state, last.chosen)
            case SearchEnded():
                return self._begin_final(replace(state, elite=last.program))
        return Decision(state=replace(state, stage="done"), facts=(StageEntered(stage="done"),))


def score_baseline(baseline: Candidate, examination: Examination) -> Candidate:
    """C_0: p_0 with T_0 re-used, scored by E*. An episode that a fault ended has f_e = 0."""
    scores = tuple(
        Score(fitness=0.0) if episode.fault is not None else score
        for episode, score in zip(baseline.episodes, examination.scores, strict=True)
    )
    fitness = fsum(score.fitness for score in scores) / len(scores)
    return replace(baseline, scores=scores, fitness=fitness, metrics=aggregate(scores))


def _after(fact: Fact, decision: Decision[Stages]) -> Decision[Stages]:
    return replace(decision, facts=(fact, *decision.facts))
