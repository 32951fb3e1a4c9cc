"""The agents over the pool pass the order on unchanged and report the result."""

import dataclasses
from collections.abc import Sequence
from dataclasses import replace

import pytest
from memento.agents.rollout_agents import Examiner, ProbeAgent, Roller, Scorer
from memento.core.errors import RolloutError
from memento.core.events import (
    EpisodeEnded,
    EpisodeScored,
    EvaluatorExamined,
    Examine,
    RecordProbes,
    Roll,
    ScoreEpisode,
)
from memento.core.faults import FaultKind
from memento.core.ports import ProbeTask, RollTask
from memento.core.values import CallTimes, Episode, EpisodeNotes, Examination, Probe, Program, Score

from ..support.prompt_samples import CRASH, EPISODES, EVALUATOR, POLICY


class Counting:
    """A pool whose answers depend on its arguments, so that swapped arguments show."""

    async def roll(self, task: RollTask) -> Episode:
        if task.split == "broken":
            raise RolloutError("the simulator is gone")
        kind = f"{task.order} {task.split} {task.program.digest}"
        return Episode(index=task.index, seed=task.seed, steps=1, ended_by=kind, success=False)

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        return Score(fitness=episode.index / 10, metrics={"by": evaluator.digest})

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        return Examination(scores=tuple([await self.score(evaluator, episode) for episode in episodes]))


async def test_roller() -> None:
    order = Roll(id="g1/macro/2/e3", program=POLICY, split="search", index=3, seed=11)
    fact = await Roller(pool=Counting()).carry_out(order)
    ended = Episode(index=3, seed=11, steps=1, ended_by=f"g1/macro/2/e3 search {POLICY.digest}", success=False)
    assert fact == EpisodeEnded(order=order.id, episode=ended)


async def test_a_roller_applies_the_step_limit_and_a_replay_judges_by_the_recorded_times() -> None:
    slow, fast = (CallTimes(median_ms=ms, p99_ms=ms, most_ms=ms, start_ms=1.0, steady_ms=ms) for ms in (60.0, 1.0))

    class Timed(Counting):
        async def roll(self, task: RollTask) -> Episode:
            return dataclasses.replace(await super().roll(task), notes=EpisodeNotes(times=slow))

    order = Roll(id="g1/macro/2/e3", program=POLICY, split="search", index=3, seed=11)
    fact = await Roller(pool=Timed(), step_limit_ms=50.0).carry_out(order)
    assert fact.episode.fault is None, "within the margin"
    fact = await Roller(pool=Timed(), step_limit_ms=40.0).carry_out(order)
    assert fact.episode.fault is not None
    assert fact.episode.fault.kind is FaultKind.TOO_SLOW
    fact = await Roller(pool=Timed(), step_limit_ms=40.0, recorded={order.id: fast}).carry_out(order)
    assert (fact.episode.fault, fact.episode.notes.times) == (None, fast)


async def test_a_rollout_error_is_not_hidden() -> None:
    order = Roll(id="g1/macro/2/e3", program=POLICY, split="broken", index=3, seed=11)
    with pytest.raises(RolloutError):
        await Roller(pool=Counting()).carry_out(order)


async def test_scorer() -> None:
    whole = dataclasses.replace(EPISODES[3], fault=None)
    cut = dataclasses.replace(EPISODES[3], scored_to_fault=True)
    for episode, fitness in ((whole, 0.3), (cut, 0.0)):
        order = ScoreEpisode(id="g1/macro/2/e3/score", evaluator=EVALUATOR, episode=episode)
        fact = await Scorer(pool=Counting()).carry_out(order)
        assert fact == EpisodeScored(order=order.id, score=Score(fitness=fitness, metrics={"by": EVALUATOR.digest}))


async def test_examiner() -> None:
    order = Examine(id="eval/g1/3/examine", evaluator=EVALUATOR, episodes=EPISODES)
    fact = await Examiner(pool=Counting()).carry_out(order)
    assert isinstance(fact, EvaluatorExamined)
    assert fact.order == order.id
    assert [score.fitness for score in fact.examination.scores] == [0.0, 0.1, 0.2, 0.3]


def probe(name: str, index: int, *below: str) -> Probe:
    return Probe(name=name, episode=replace(EPISODES[1], index=index), below=below)


async def test_the_examiner_counts_wrong_orders_on_the_probes() -> None:
    probes = (probe("less", 5, "more"), probe("more", 7), probe("wrong", 9, "more"))
    order = Examine(id="eval/g1/3/examine", evaluator=EVALUATOR, episodes=EPISODES, probes=probes)
    examination = (await Examiner(pool=Counting()).carry_out(order)).examination
    assert [score.fitness for score in examination.probe_scores] == [0.5, 0.7, 0.9]
    # Episode 0 succeeded and got 0.0: worth more than episodes 1 and 2 and the probes; "more" beats "less" and "wrong".
    assert (examination.order_pairs, examination.order_violations) == (7, 6)


async def test_an_evaluator_that_fails_on_a_probe_is_not_valid() -> None:
    class Failing(Counting):
        async def score(self, evaluator: Program, episode: Episode) -> Score:
            found = await super().score(evaluator, episode)
            return found if episode.index < 9 else replace(found, fault=CRASH)

    order = Examine(id="eval/g1/3/examine", evaluator=EVALUATOR, episodes=EPISODES, probes=(probe("idle", 9),))
    examination = (await Examiner(pool=Failing()).carry_out(order)).examination
    assert examination.fault == replace(CRASH, message="on the probe 'idle': KeyError: 'velocity'")


async def test_probes_are_requested_for_the_rollouts_of_t0() -> None:
    class Recording(Counting):
        async def record_probes(self, task: ProbeTask) -> tuple[Probe, ...]:
            return tuple(probe(f"{cut.key} {cut.steps}", task.steps) for cut in task.cuts)

    episodes = tuple(replace(episode, trajectory=f"e{episode.index}", steps=40) for episode in EPISODES)
    order = RecordProbes(id="eval/probes", split="search", seed=5, episodes=episodes)
    fact = await ProbeAgent(pool=Recording()).carry_out(order)
    assert [(each.name, each.episode.index) for each in fact.probes] == [
        (f"{key} {steps}", 40) for key in ("e0", "e3") for steps in (10, 20, 30)
    ]
