"""The first stage of a run: p_0 with T_0, its rollouts. Pure."""

from dataclasses import dataclass, replace
from math import fsum

from ..core import order_ids
from ..core.errors import SearchError
from ..core.events import (
    Fact,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    Propose,
)
from ..core.faults import Fault, FaultKind, is_service_failure
from ..core.keeper import Decision
from ..core.metrics import aggregate
from ..core.programs.program_text import MAX_FAULT
from ..core.text import one_line
from ..core.values import CandidateState, Episode, Examination, Operator, Program, Rejection
from .lineage import with_edit
from .rollout_plan import RolloutPlan
from .trials import Trial, Trials

ATTEMPTS = 5  # at a first policy that works, before the run gives up


@dataclass(frozen=True, slots=True, kw_only=True)
class Initial:
    """The state between two facts: the attempt, the earlier failures, and the rollouts of this attempt."""

    attempt: int = 0
    failures: tuple[Rejection, ...] = ()  # shown to the model in the next attempt
    trials: Trials | None = None  # None until there is a program
    baseline: CandidateState | None = None  # p_0 with T_0, not scored; set at the end of the stage
    ordered: int = 0  # episodes of all attempts

    @property
    def order(self) -> str:
        """The id of the attempt."""
        return str(order_ids.initial(self.attempt))


class InitialKeeper:
    """Settles p_0: the given program, or the model's first program that does something in some episode.

    `fitness` says what f_e will measure, "" where the evaluator is not known yet.
    """

    def __init__(
        self, *, given: Program | None, seeds: tuple[int, ...], has_success: bool = True,
        episodes: int | None = None, fitness: str = "",
    ) -> None:
        self._fitness = fitness
        self._given = given
        self._plan = RolloutPlan(
            split="search", seeds=seeds, evaluator=None, has_success=has_success, episodes=episodes
        )

    def start(self) -> Decision[Initial]:
        """Roll the given program out, or request one."""
        return self._ask(Initial()) if self._given is None else self._roll(Initial(), self._given, "")

    def decide(self, state: Initial, fact: Fact) -> Decision[Initial]:
        """The decision after one proposal or episode. Raises SearchError if there is no valid p_0."""
        if state.trials is not None:
            return self._take(state, state.trials, fact)
        if fact.order == state.order and isinstance(fact, ProposalMade):
            return self._roll(state, fact.program, fact.summary)
        if fact.order == state.order and isinstance(fact, ProposalFailed):
            return self._retry(state, fact.fault, fact.summary)
        return Decision(state=state)

    def finished(self, state: Initial) -> bool:
        """Whether p_0 is settled and T_0 is complete."""
        return state.baseline is not None

    def _ask(self, state: Initial) -> Decision[Initial]:
        order = Propose(
            id=state.order, operator=Operator.INITIAL, generation=0, slot=state.attempt, rejections=state.failures,
            fitness=self._fitness,
        )
        return Decision(state=state, orders=(order,))

    def _roll(self, state: Initial, program: Program, summary: str) -> Decision[Initial]:
        ordered = state.ordered + len(self._plan.seeds)
        if self._plan.episodes is not None and ordered > self._plan.episodes:
            raise SearchError(
                f"no working initial policy within the budget of {self._plan.episodes} episodes: {state.ordered} were "
                "rolled out; give a policy with --initial FILE, or allow more with --budget-episodes"
            )
        trial = Trial(
            id=state.order, program=program, operator=Operator.INITIAL, generation=0, slot=0, summary=summary
        )
        step = Trials(plan=self._plan, open={}).begin(trial)
        return Decision(state=replace(state, trials=step.trials, ordered=ordered), orders=step.orders)

    def _take(self, state: Initial, trials: Trials, fact: Fact) -> Decision[Initial]:
        step = trials.take(fact)
        state = replace(state, trials=step.trials)
        if not step.settled:
            return Decision(state=state, orders=step.orders)
        (candidate,) = step.settled
        fault = candidate.fault or why_dead(candidate.episodes)
        if fault is not None:
            return self._retry(state, fault, candidate.summary)
        chosen = InitialChosen(order=candidate.id, program=candidate.program)
        return Decision(state=replace(state, baseline=candidate), facts=(chosen,))

    def _retry(self, state: Initial, fault: Fault, summary: str) -> Decision[Initial]:
        if self._given is not None:
            raise SearchError(f"the given initial policy does not work: {fault.message}")
        if state.attempt + 1 >= ATTEMPTS:
            raise SearchError(
                f"no working initial policy in {ATTEMPTS} attempts (the last: {fault.kind}, {fault.message}); "
                "give one with --initial FILE, or use another model"
            )
        failure = Rejection(
            summary=summary,
            candidate=state.order,
            fitness_difference=None,
            reason=f"{fault.kind}: {fault.message}",
        )
        explained = () if is_service_failure(fault) else (failure,)  # which says nothing about the program
        failures = (*state.failures, *explained)
        return self._ask(Initial(attempt=state.attempt + 1, failures=failures, ordered=state.ordered))


def why_dead(episodes: tuple[Episode, ...]) -> Fault | None:
    """Why a policy did nothing in any episode: each ended with a fault, or before the first step. None if it did."""
    if not episodes or any(episode.fault is None and (episode.steps or episode.success) for episode in episodes):
        return None
    faults = [episode.fault for episode in episodes if episode.fault is not None]
    if not faults:
        ends = ", ".join(sorted({episode.ended_by for episode in episodes}))
        return Fault(kind=FaultKind.NOT_STARTED, message=f"every episode ended before its first step ({ends})")
    first = faults[0]
    every = "every episode ended with a fault" if len(faults) == len(episodes) else (
        f"{len(faults)} of {len(episodes)} episodes ended with a fault, the others before their first step"
    )
    message = one_line(f"{every}; the first: {first.message}", MAX_FAULT)
    return Fault(kind=first.kind, message=message, traceback=first.traceback)


def score_baseline(baseline: CandidateState, examination: Examination) -> CandidateState:
    """C_0: p_0 with T_0 reused, scored by E*. An episode that ended with a fault has f_e = 0."""
    scores = tuple(
        episode.counted(score)
        for episode, score in zip(baseline.episodes, examination.scores, strict=True)
    )
    fitness = fsum(score.fitness for score in scores) / len(scores)
    lineage = with_edit(
        (), name=baseline.id, operator=baseline.operator, summary=baseline.summary, before=(), fitness=fitness
    )
    return replace(baseline, scores=scores, fitness=fitness, metrics=aggregate(scores), lineage=lineage)
