"""The agents over the pool pass the order on unchanged and report the result."""

import dataclasses
from collections.abc import Sequence

import pytest
from memento.agents.rollout_agents import Examiner, Roller, Scorer
from memento.core.errors import RolloutError
from memento.core.events import EpisodeEnded, EpisodeScored, EvaluatorExamined, Examine, Roll, ScoreEpisode
from memento.core.ports import RollTask
from memento.core.values import Episode, Examination, Program, Score

from ..support.prompt_samples import EPISODES, EVALUATOR, POLICY


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
