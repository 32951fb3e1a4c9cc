"""A whole search over a socket, and the same search from its tape with no network: the same conclusions."""

import itertools
from collections.abc import Iterable

import pytest
from memento.agents.rollout_agents import Examiner, Roller, Scorer
from memento.core.errors import ModelError
from memento.core.events import (
    CandidateScored,
    EliteChanged,
    Examine,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    Roll,
    ScoreEpisode,
    SearchEnded,
)
from memento.core.ports import Model
from memento.core.values import Document, Program
from memento.models import close_model
from memento.models.tape import ReplayModel, tape_of
from memento.runtime.bus import EventBus
from memento.runtime.lanes import Agent, Lane
from memento.runtime.supervisor import Supervisor
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.services import Act, serving
from .asking import client
from .text_search import ByOperator, HashPool, Log, shelf_program


async def search(model: Model, *, at_once: int) -> list[Fact]:
    plan = RunPlan(
        method=KEEPERS["memento"],
        slots=GenerationBudget(generations=2, hill_climb=3, macro=3, crossover=2),
        # without racing: the episodes that it prunes, and so the facts, may depend on the order of arrival
        search=RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E")),
        final_seeds=(9,),
        initial=Program(shelf_program()),
    )
    pool = HashPool()
    rollouts: dict[type[Order], Agent] = {
        Roll: Roller(pool=pool), ScoreEpisode: Scorer(pool=pool), Examine: Examiner(pool=pool)
    }
    lanes = [
        Lane(name="proposals", limit=at_once, agents={Propose: ByOperator(model)}),
        Lane(name="rollouts", limit=4, agents=rollouts),
    ]
    log = Log()
    assert await Supervisor(keeper=Sequencer(plan), bus=EventBus(log), lanes=lanes).run() == "done"
    return log.kept


def acts() -> list[Act]:
    """Programs of many kinds, and replies without a program: truncated, refused, empty, a failure between them."""
    made = []
    for number in range(40):
        text = f"Summary: NUMBER is {number}.\n\n```python\n{shelf_program()}\nNUMBER = {number}\n```\n"
        finish = {3: "length", 5: "refusal"}.get(number % 8, "stop")
        made.append(Act(text="" if number % 8 == 6 else text, finish=finish, status=500 if number % 8 == 7 else 200))
    return made


def conclusions(facts: Iterable[Fact]) -> dict[object, Fact]:
    """What the search concluded, independent of the order of arrival."""
    kinds = (CandidateScored, EliteChanged, SearchEnded, ProposalMade, ProposalFailed)
    counted = itertools.count()
    concluded: dict[object, Fact] = {}
    for fact in facts:
        if isinstance(fact, kinds):
            key = fact.candidate.id if isinstance(fact, CandidateScored) else fact.order
            concluded[type(fact).__name__, key or next(counted)] = fact
    return concluded


@pytest.mark.slow
async def test_a_replayed_search_is_the_same_search() -> None:
    async with serving(*acts(), dialect="openai-chat") as service:
        model = client("compatible", service.url)
        recorded = await search(model, at_once=4)
        await close_model(model)
        asked = len(service.asked)
        tape = tape_of(recorded)
        replayed = await search(ReplayModel(tape), at_once=1)
        assert len(service.asked) == asked, "a replay calls no service"
    assert asked > len(tape.calls) >= 16
    assert {call.stop for call in tape.calls.values()} == {"end", "length", "refusal"}
    assert conclusions(replayed) == conclusions(recorded)


async def test_a_tape_of_another_search_does_not_fit() -> None:
    async with serving(*acts(), dialect="openai-chat") as service:
        model = client("compatible", service.url)
        recorded = await search(model, at_once=4)
        await close_model(model)
    tape = tape_of(recorded)
    call = tape.calls["g1/macro/0", 0]
    other = type(call)(model=call.model, prompt=Document(call.prompt.text + " "), reply=call.reply)
    spoilt = type(tape)(calls={**tape.calls, ("g1/macro/0", 0): other})
    with pytest.raises(ModelError, match="does not fit: the prompt of the order g1/macro/0"):
        await search(ReplayModel(spoilt), at_once=4)
