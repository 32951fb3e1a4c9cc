"""The supervisor with real asyncio and scripted agents: lanes, requests, faults, and resuming after any stop."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from memento.core.errors import BudgetSpent, MementoError, RolloutError, ServiceLost, StoreError
from memento.core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Examine,
    Fact,
    Judge,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeEvaluator,
    Roll,
    RunContinued,
    RunPaused,
    RunStopped,
    ScoreEpisode,
    SearchEnded,
    Withdraw,
)
from memento.core.values import Program
from memento.runtime.bus import EventBus
from memento.runtime.lanes import Lane
from memento.runtime.supervisor import Supervisor
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import World
from ..support.supervised import Doer, Log

pytestmark = pytest.mark.quick

PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=GenerationBudget(generations=2, hill_climb=2, macro=2, crossover=1),
    search=RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E"), racing=True),
    final_seeds=(9,),
)
ANSWERS = (ProposalMade, ProposalFailed, EpisodeEnded, EpisodeScored)
KINDS = (Propose, ProposeEvaluator, Judge, Roll, ScoreEpisode, Examine)


def supervisor(
    store: Log, doer: object, *, limit: int = 3, bus: EventBus | None = None, **rest: object
) -> Supervisor:
    lane = Lane(name="all", limit=limit, agents=dict.fromkeys(KINDS, doer))
    return Supervisor(keeper=Sequencer(PLAN), bus=bus or EventBus(store), lanes=[lane], **rest)


def world() -> World:
    return World(4, failure_rate=0.2)


async def test_the_architecture_shows_a_generation_as_it_is_logged() -> None:
    store, sent = Log(), dict[str, str]()

    class Noting(Doer):
        async def carry_out(self, order: Order) -> Fact:
            sent[order.id] = type(order).__name__
            return self.world.answer(order)

    plan = replace(
        PLAN, slots=GenerationBudget(generations=1, hill_climb=1, macro=1, crossover=1),
        search=replace(PLAN.search, seeds=(1,)),
    )
    lane = Lane(name="all", limit=1, agents=dict.fromkeys(KINDS, Noting(World(4))))
    assert await Supervisor(keeper=Sequencer(plan), bus=EventBus(store), lanes=[lane]).run() == "done"
    kinds = [type(fact).__name__ for fact in store.kept]
    begin, end = (place for place, kind in enumerate(kinds) if kind == "EliteChanged")
    agents = {"hill": "the HillClimber", "macro": "the Mutator", "cross": "the Crosser"}
    lines = []
    for fact in store.kept[begin + 1 : end + 1]:
        order, kind, head = str(fact.order or ""), sent.get(str(fact.order)), type(fact).__name__
        told = agents[order.split("/")[1]] if kind == "Propose" else "a worker"
        answers = not head.startswith(("Candidate", "Branch", "Elite"))
        said = f"answers {kind}, sent to {told}" if answers else "concluded by the EliteKeeper"
        lines.append(f"{head:19}{order:22}{said}")
    text = Path(__file__).parents[2].joinpath("ARCHITECTURE.md").read_text()
    shown = text.partition("<!-- one generation -->\n```text\n")[2].partition("\n```")[0]
    assert shown.splitlines() == lines


def elites(facts: Iterable[Fact]) -> list[Fact]:
    return [fact for fact in facts if isinstance(fact, EliteChanged | SearchEnded)]


async def test_a_run_ends_and_lanes_keep_their_limit() -> None:
    store, doer, begun = Log(), Doer(world()), list[str]()
    bus = EventBus(store)
    bus.observe(begun.append)
    assert await supervisor(store, doer, limit=2, bus=bus).run() == "done"
    assert doer.most == 2
    assert len(doer.asked) == len(set(doer.asked)), "every order is carried out once"
    assert begun == doer.asked, "observers hear of each as it begins"
    assert elites(store.kept)


async def test_answers_that_arrive_together_are_one_commit_before_anyone_hears_of_them() -> None:
    commits: list[list[Fact]] = []

    class Counting(Log):
        def append(self, facts: Iterable[Fact]) -> None:
            commits.append(list(facts))
            super().append(commits[-1])

    class AtOnce(Doer):
        async def carry_out(self, order: Order) -> Fact:
            return self.world.answer(order)

    store = Counting()
    bus = EventBus(store)
    heard: list[Fact] = []

    def listener(fact: Fact) -> None:
        assert fact in commits[-1]
        heard.append(fact)

    bus.subscribe(listener)
    assert await supervisor(store, AtOnce(world()), limit=3, bus=bus).run() == "done"
    assert heard == store.kept
    answers = [sum(not fact.interim and isinstance(fact, ANSWERS) for fact in facts) for facts in commits]
    assert max(answers) == 3 and sum(answers) > len(commits)


async def test_a_log_of_other_rules_is_refused() -> None:
    store = Log()
    await supervisor(store, Doer(world())).run()
    broken = [fact for fact in store.kept if not isinstance(fact, EliteChanged)]
    with pytest.raises(StoreError, match="rules"):
        await supervisor(Log(broken), Doer(world())).run(broken)


async def test_a_fault_of_ours_ends_the_run_as_itself_and_keeps_the_log() -> None:
    class Broken(Doer):
        async def carry_out(self, order: Order) -> Fact:
            if isinstance(order, Roll) and order.id.startswith("g1"):
                raise RolloutError("the simulator does not start")
            return await super().carry_out(order)

    store = Log()
    with pytest.raises(RolloutError, match="does not start"):
        await supervisor(store, Broken(world())).run()
    assert store.kept


async def test_a_spent_budget_stops_cleanly() -> None:
    class Poor(Doer):
        async def carry_out(self, order: Order) -> Fact:
            if order.id == "g1/macro/1":
                raise BudgetSpent("3 of 3 calls are spent")
            return await super().carry_out(order)

    store = Log()
    assert await supervisor(store, Poor(world())).run() == "budget"
    assert store.kept[-1] == RunStopped(reason="budget", why="3 of 3 calls are spent")
    assert await supervisor(store, Doer(world())).run(store.facts()) == "done"


@pytest.mark.slow
async def test_pause_and_stop_are_heeded() -> None:
    asked: list[str] = ["pause"]

    def requests() -> list[str]:
        taken, asked[:] = list(asked), []
        return taken

    class Slow(Doer):
        async def carry_out(self, order: Order) -> Fact:
            await asyncio.sleep(0.05)
            return await super().carry_out(order)

    store, doer = Log(), Slow(world())
    bus, paused, continued = EventBus(store), asyncio.Event(), asyncio.Event()
    bus.subscribe(lambda fact: paused.set() if isinstance(fact, RunPaused) else None)
    bus.subscribe(lambda fact: continued.set() if isinstance(fact, RunContinued) else None)
    running = asyncio.create_task(supervisor(store, doer, limit=1, bus=bus, requests=requests).run())
    async with asyncio.timeout(10):
        await paused.wait()
        await asyncio.sleep(0.2)
        done = len(doer.asked)
        await asyncio.sleep(0.3)
        assert len(doer.asked) == done, "a pause starts nothing new"
        asked.append("continue")
        await continued.wait()
        asked.append("stop")
        assert await running == "stopped"
    assert store.kept[-1] == RunStopped(reason="stopped")


@pytest.mark.parametrize(
    ("what", "last"), [("stop-after-candidate", CandidateScored), ("stop-after-generation", EliteChanged)]
)
async def test_a_run_can_be_left_when_a_candidate_or_a_generation_is_over(what: str, last: type[Fact]) -> None:
    asked: list[str] = []

    def requests() -> list[str]:
        taken, asked[:] = list(asked), []
        return taken

    class Slow(Doer):
        async def carry_out(self, order: Order) -> Fact:
            await asyncio.sleep(0.02)
            if order.id == "g1/macro/0":
                asked.append(what)
                await asyncio.sleep(0.7)        # until the request is read
            return await super().carry_out(order)

    store = Log()
    async with asyncio.timeout(20):
        assert await supervisor(store, Slow(world()), limit=1, requests=requests).run() == "stopped"
    assert store.kept[-1] == RunStopped(reason="stopped")
    begun = next(place for place, fact in enumerate(store.kept) if fact.order == "g1/macro/0")
    assert sum(isinstance(fact, last) for fact in store.kept[begun:]) == 1
    assert await supervisor(store, Doer(world())).run(store.facts()) == "done"


async def test_a_listener_that_fails_is_dropped_and_the_run_goes_on() -> None:
    store = Log()
    bus = EventBus(store)
    heard: list[Fact] = []

    def broken(what: object) -> None:
        raise RuntimeError("a display bug")

    begun: list[str] = []
    for subscribe, listener in ((bus.subscribe, heard), (bus.observe, begun)):
        subscribe(broken)
        subscribe(listener.append)
    bus.publish([RunPaused(), RunContinued()])
    bus.announce(Order(id="g1/hill/0"))
    assert (heard, begun) == ([RunPaused(), RunContinued()], ["g1/hill/0"])


def test_an_order_goes_to_its_addressee_alone() -> None:
    bus, proposals, rollouts = EventBus(Log()), list[Order](), list[Order]()
    bus.address([Propose, Judge], proposals.append)
    bus.address([Withdraw], rollouts.append)
    bus.send([Withdraw(id="w", target="g1/hill/0")])
    assert (len(proposals), len(rollouts)) == (0, 1)
    with pytest.raises(MementoError, match="no agent takes orders of the kind Roll"):
        bus.send([Roll(id="r", program=Program("P"), split="search", index=0, seed=1)])


async def test_a_withdrawn_order_is_not_begun_or_not_answered() -> None:
    class Never(Doer):
        async def carry_out(self, order: Order) -> Fact:
            self.asked.append(order.id)
            await asyncio.Event().wait()
            raise AssertionError

    doer, answers = Never(world()), list[object]()
    lane, bus = Lane(name="all", limit=1, agents={Withdraw: doer}), EventBus(Log())
    lane.join(bus, answers.append)
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        bus.send([Withdraw(id=name, target="") for name in "abc"])
        for begun in ("a", "c"):
            lane.begin(group)
            await asyncio.sleep(0)
            assert (doer.asked[-1], lane.busy) == (begun, 1)
            lane.withdraw("b")
            lane.withdraw(begun)
    assert (doer.asked, answers, lane.open, lane.busy) == (["a", "c"], [], {}, 0)


async def test_an_order_nobody_takes_is_our_fault() -> None:
    lane = Lane(name="models", limit=1, agents={Propose: Doer(world())})
    with pytest.raises(MementoError, match="Roll"):
        await Supervisor(keeper=Sequencer(PLAN), bus=EventBus(Log()), lanes=[lane]).run()


async def test_a_service_that_is_lost_stops_the_run_and_the_resumed_one_asks_again() -> None:
    whole = Log()
    await supervisor(whole, Doer(world())).run()

    class Lost(Doer):
        async def carry_out(self, order: Order) -> Fact:
            if isinstance(order, Propose) and order.id.startswith("g2"):
                raise ServiceLost("lab:m answered nothing since 14:03:10")
            return await super().carry_out(order)

    store = Log()
    assert await supervisor(store, Lost(world())).run() == "stopped"
    assert store.kept[-1] == RunStopped(reason="stopped", why="lab:m answered nothing since 14:03:10")
    assert not [fact for fact in store.kept if (fact.order or "").startswith("g2")], "no slot is spent"
    assert await supervisor(store, Doer(world())).run(store.facts()) == "done"
    assert elites(store.kept) == elites(whole.kept)
