"""Fresh starts: an elite with nothing left to gain on the search's episodes is rolled out on others. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ...core import order_ids
from ...core.events import SaturationChecked
from ...core.keeper import Decision
from ...core.methods import SearchPart
from ...core.seeds import derive_seed
from ...core.values import CandidateState
from ..rollout_plan import FreshPlan, RolloutPlan
from ..setting_groups import PartSettings, SettingGroup, Switch
from ..trials import Trial, candidate_of, chain
from .meeting import Adopts, Meeting, S, begin_round
from .stream import Records, Stream, roll_on

SATURATION = SettingGroup(
    name="saturation", parts=frozenset({SearchPart.CLIMB}),
    switches=(Switch(
        name="islands", on=lambda values: values["islands"] == 1,
        otherwise="with islands, whose elites need the same episodes: remove it, or set islands to 1",
    ),),
)


class SaturationSettings(PartSettings):
    """Whether a perfect elite may end the search."""

    stop_when: Literal["saturated", "never"] = SATURATION.field("never", "end a search with nothing left to gain")


STARTS = 8  # of a perfect elite at once,
MOST_STARTS = 24  # and at most: without a failure among them its rate of failures is below 12 % (95 %)


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshStarts(Meeting):
    """The elite on further starts, because it has nothing left to gain on the search's episodes."""

    elite: CandidateState
    length: int
    most: int
    records: Records = field(default_factory=dict)

    def with_records(self, state: S, found: Mapping[str, CandidateState]) -> S:
        """What is seen here is kept apart: these episodes may join the search's."""
        return replace(state, meeting=replace(self, records={**self.records, **found}))

    def end_round(self, keeper: Adopts[Any], state: Any) -> Decision[Any]:
        """A start on which the elite is not perfect joins the search's episodes; without any the search may end."""
        plan = state.trials.plan
        places = failed_starts(self, plan)
        if not places and self.length < self.most:
            return _try_further(keeper, state, self)
        state, elite = replace(state, meeting=None, saturated=not places), state.elite
        if places:
            seeds = tuple(starts_stream(plan.fresh)(place) for place in places)
            state = replace(state, trials=state.trials.with_episodes(seeds, numbers_among(plan, places)))
            elite = with_starts(self, places, state.trials.plan)
            state = replace(state, elite=elite)
        checked = SaturationChecked(
            generation=state.generation, candidate=elite.id, episodes=self.length,
            joined=tuple(state.trials.plan.fresh.first + place for place in places), fitness=elite.fitness,
            success_rate=elite.success_rate,
        )
        return chain(Decision(state=state, facts=(checked,)), keeper.begin_generation(state))


def start_afresh(keeper: Adopts[S], state: S) -> Decision[S] | None:
    """Before a generation: look for a start on which a perfect elite fails. None if the generation may begin."""
    plan = state.trials.plan
    if not plan.fresh.starts or state.saturated or not is_saturated(state.elite):
        return None
    left = plan.fresh.starts if plan.episodes is None else plan.episodes - state.trials.ordered
    most = min(plan.fresh.starts, left)
    if most < 1:
        return None
    return _try_further(keeper, state, FreshStarts(elite=state.elite, trials=state.trials, length=0, most=most))


def _try_further(keeper: Adopts[S], state: S, starts: FreshStarts) -> Decision[S]:
    plan = state.trials.plan
    length = min(starts.most, starts.length + STARTS)
    name = str(order_ids.fresh_starts(state.generation))
    trials, orders = roll_on(plan, starts_stream(plan.fresh), starts.records, {name: starts.elite}, length)
    return begin_round(keeper, state, replace(starts, trials=trials, length=length), orders)


def starts_stream(fresh: FreshPlan) -> Stream:
    """The seeds of fresh starts. They are not those of meetings, which must stay fresh for all programs."""
    return lambda index: derive_seed(fresh.seed, "starts", index)


def is_saturated(elite: CandidateState) -> bool:
    """Whether no program can be fitter on the search's episodes."""
    return bool(elite.scores) and all(score.fitness >= 1.0 for score in elite.scores)


def failed_starts(starts: FreshStarts, plan: RolloutPlan) -> tuple[int, ...]:
    """The starts on which the elite is not perfect, without those that are among the search's episodes already.

    The elite was perfect on these; in a simulator that does not repeat itself it may fail there now.
    """
    known = starts.records[starts.elite.program.text]
    failed = [place for place, score in enumerate(known.scores) if score.fitness < 1.0]
    return tuple(place for place in failed if plan.fresh.first + place not in plan.numbers)


def numbers_among(plan: RolloutPlan, places: Sequence[int]) -> tuple[int, ...]:
    """The numbers that these starts have among the search's episodes: their own, which make them what they are."""
    return tuple(plan.fresh.first + place for place in places)


def with_starts(starts: FreshStarts, places: Sequence[int], plan: RolloutPlan) -> CandidateState:
    """The elite with these starts among its episodes, under the numbers that they have there."""
    elite, known = starts.elite, starts.records[starts.elite.program.text]
    numbers = [plan.number_of(place) for place in range(len(elite.episodes), len(elite.episodes) + len(places))]
    episodes = [replace(known.episodes[place], index=number) for place, number in zip(places, numbers, strict=True)]
    scores = [known.scores[place] for place in places]
    whole = candidate_of(Trial(
        id=elite.id, program=elite.program, operator=elite.operator, generation=elite.generation, slot=elite.slot,
        episodes=(*elite.episodes, *episodes), scores=(*elite.scores, *scores),
    ), plan)
    return replace(
        elite, episodes=whole.episodes, scores=whole.scores, fitness=whole.fitness, success_rate=whole.success_rate,
        metrics=whole.metrics, mean_return=whole.mean_return,
    )
