"""The last stage: p_0 and the elite on held-out seeds, under the reference evaluator. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from ..core import order_ids
from ..core.events import Fact, FinalMeasured, Order, RobustMeasured
from ..core.keeper import Decision
from ..core.methods import SearchPart
from ..core.values import CandidateState, Operator, Program
from .rollout_plan import RolloutPlan
from .setting_groups import PartSettings, Positive, SettingGroup
from .trials import Trial, Trials

FINAL = SettingGroup(name="final", parts=frozenset({SearchPart.FINAL}))


class FinalSettings(PartSettings):
    """The held-out episodes."""

    final_episodes: Positive = FINAL.field(..., "held-out episodes on which p_0 and the elite are compared")
    robust: Literal["on", "off"] = FINAL.field("off", "held-out episodes also under changed conditions")


def split_of(conditions: str) -> str:
    """The split of the run's environments for held-out episodes; "" for those without changed conditions."""
    return f"{order_ids.FINAL}-{conditions}" if conditions else order_ids.FINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The state: open trials and finished measurements."""

    trials: Trials
    measured: Mapping[str, CandidateState]
    over: bool = False


class FinalKeeper:
    """Measures p_0 and the elite; if both are the same program it is rolled out once.

    `conditions` are changed ones, of `order_ids.CONDITIONS`; "" for those of the search.
    """

    def __init__(self, *, initial: Program, elite: Program, plan: RolloutPlan, conditions: str = "") -> None:
        self._initial, self._elite = (str(order_ids.final(who, conditions)) for who in ("initial", "elite"))
        self._programs = {self._initial: initial, **({} if initial == elite else {self._elite: elite})}
        self._plan, self._conditions = plan, conditions

    def start(self) -> Decision[Measurement]:
        """Order all episodes."""
        trials = Trials(plan=self._plan, open={})
        orders: list[Order] = []
        for slot, (name, program) in enumerate(self._programs.items()):
            trial = Trial(id=name, program=program, operator=Operator.INITIAL, generation=0, slot=slot)
            step = trials.begin(trial)
            trials = step.trials
            orders.extend(step.orders)
        return Decision(state=Measurement(trials=trials, measured={}), orders=tuple(orders))

    def decide(self, state: Measurement, fact: Fact) -> Decision[Measurement]:
        """The decision after one episode or score."""
        step = state.trials.take(fact)
        found = {candidate.id: candidate for candidate in step.settled}
        state = replace(state, trials=step.trials, measured={**state.measured, **found})
        if not found:
            return Decision(state=state, orders=step.orders)
        if len(state.measured) < len(self._programs):
            return Decision(state=state)
        initial = state.measured[self._initial]
        return Decision(
            state=replace(state, over=True),
            facts=(self._result(initial, state.measured.get(self._elite, initial)),),
        )

    def finished(self, state: Measurement) -> bool:
        """Whether both programs are measured."""
        return state.over

    def _result(self, initial: CandidateState, elite: CandidateState) -> FinalMeasured:
        graded = self._plan.evaluator is not None
        made = partial(RobustMeasured, conditions=self._conditions) if self._conditions else FinalMeasured
        return made(
            episodes=len(self._plan.seeds),
            initial_fitness=initial.fitness if graded else None,
            initial_success=initial.success_rate,
            elite_fitness=elite.fitness if graded else None,
            elite_success=elite.success_rate,
            initial_return=initial.mean_return,
            elite_return=elite.mean_return,
        )
