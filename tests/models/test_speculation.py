"""A speculative search over a slow model: the same conclusions, withdrawn calls are reported, the tape fits."""

import asyncio

import pytest
from memento.agents.rollout_agents import Examiner, Roller, Scorer
from memento.core.events import (
    CandidateAccepted,
    CandidateRejected,
    EliteChanged,
    Examine,
    Fact,
    Propose,
    Roll,
    ScoreEpisode,
    SearchEnded,
    SpeculationEnded,
)
from memento.core.order_ids import is_ahead, slot_of
from memento.core.ports import Ask, Model, Reply, RollTask
from memento.core.values import Episode, Program, Usage
from memento.memory.spending import SpendingTally
from memento.models.budget import PastSpending
from memento.models.recorded_calls import recorded_in
from memento.models.tape import ReplayModel, tape_of
from memento.runtime.bus import EventBus
from memento.runtime.lanes import Lane
from memento.runtime.supervisor import Supervisor
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget
from memento.search.parts.speculation import SpeculationSettings
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from .text_search import ByOperator, HashPool, Log, shelf_program

pytestmark = pytest.mark.slow


class SlowPool(HashPool):
    """Rollouts that take a moment, so that replies come before and after verdicts."""

    async def roll(self, task: RollTask) -> Episode:
        await asyncio.sleep(0.002 * (1 + task.program.text.count("NUMBER") % 3))
        return await super().roll(task)


class Scripted:
    """A model whose answer and latency depend on the slot and the prompt."""

    name = "scripted"

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.withdrawn: list[str] = []

    async def complete(self, ask: Ask) -> Reply:
        self.begun.append(ask.order.id)
        order = ask.order
        assert isinstance(order, Propose)
        seen = [*(parent.id for parent in order.parents), *(rejection.summary for rejection in order.rejections)]
        number = int(Program(f"{slot_of(order.id)} {seen}").digest[:6], 16)
        try:
            await asyncio.sleep(0.001 if number % 3 else 0.1)
        except asyncio.CancelledError:
            self.withdrawn.append(order.id)
            raise
        text = f"Summary: NUMBER is {number}.\n\n```python\n{shelf_program()}\nNUMBER = {number}\n```\n"
        return Reply(text=text, model=self.name, usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.5))


async def search(model: Model, *, ahead: bool) -> list[Fact]:
    plan = RunPlan(
        method=KEEPERS["hill-only"],
        slots=GenerationBudget(generations=2, hill_climb=10, macro=0, crossover=0),
        search=RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E")),
        final_seeds=(9,),
        initial=Program(shelf_program()),
        choices=PAPER.but(SpeculationSettings(speculation=ahead)),
    )
    pool = SlowPool()
    rollouts = {Roll: Roller(pool=pool), ScoreEpisode: Scorer(pool=pool), Examine: Examiner(pool=pool)}
    lanes = [
        Lane(name="proposals", limit=4, agents={Propose: ByOperator(model)}),
        Lane(name="rollouts", limit=2, agents=rollouts),
    ]
    log = Log()
    assert await Supervisor(keeper=Sequencer(plan), bus=EventBus(log), lanes=lanes).run() == "done"
    return log.kept


def conclusions(facts: list[Fact]) -> list[str]:
    decided = [repr(fact) for fact in facts if isinstance(fact, CandidateAccepted | EliteChanged | SearchEnded)]
    return decided + [f"rejected {fact.candidate}" for fact in facts if isinstance(fact, CandidateRejected)]


async def test_speculation_changes_no_conclusion_and_withdrawn_calls_are_reported() -> None:
    plain, model = Scripted(), Scripted()
    expected = await search(plain, ahead=False)
    facts = await search(model, ahead=True)
    assert conclusions(facts) == conclusions(expected)
    assert not any(is_ahead(order) for order in plain.begun)
    ended = [fact for fact in facts if isinstance(fact, SpeculationEnded)]
    assert {fact.kept for fact in ended} == {True, False}
    lost = {fact.order for fact in ended if not fact.kept and not fact.answered}
    assert set(model.withdrawn) <= lost, "the rest was answered at the moment of the withdrawal, or never begun"
    assert model.withdrawn
    recorded = {one.order for one in recorded_in(facts) if one.withdrawn}
    assert recorded == tape_of(facts).withdrawn
    assert set(model.withdrawn) <= recorded <= lost
    tally = SpendingTally()
    for fact in facts:
        tally.apply(fact)
    spending = tally.so_far()
    assert spending.withdrawn == recorded
    assert spending.total.calls == len(model.begun) - len(model.withdrawn)
    past = PastSpending()
    for fact in facts:
        past.apply(fact)
    assert past.by_role()["proposer"].calls == spending.total.calls + len(recorded)


@pytest.mark.parametrize(("recorded_ahead", "replayed_ahead"), [(True, True), (True, False), (False, True)])
async def test_a_tape_fits_whether_a_slot_was_requested_speculatively_or_in_its_turn(
    recorded_ahead: bool, replayed_ahead: bool
) -> None:
    facts = await search(Scripted(), ahead=recorded_ahead)
    again = await search(ReplayModel(tape_of(facts), patience_s=5), ahead=replayed_ahead)
    assert conclusions(again) == conclusions(facts)
