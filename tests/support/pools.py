"""Pools of measured programs: a search that draws its candidates and their episodes from one, by the real keepers.

A pool has the candidates of a recorded search, by their ids, with f_e and a score on the same unseen episodes. A drawn
search proposes the pool's program for each slot; every seed of the search stands for one of the unseen episodes.
"""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from pathlib import Path

from memento.core.events import (
    EpisodeEnded,
    EpisodeScored,
    EvaluatorExamined,
    Examine,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    Roll,
    RunStarted,
    ScoreEpisode,
    SearchEnded,
)
from memento.core.faults import Fault, FaultKind
from memento.core.values import Call, Document, Episode, Examination, Program, Score
from memento.memory.run_view import view_of_facts
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import FreshPlan, RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

CALL = Call(model="pool", prompt=Document("?"), reply=Document("!"))
FOLDER = Path(__file__).parent.parent / "data" / "pools"


@dataclass(frozen=True)
class Pool:
    """The programs of one search: f_e and the score (such as the return) of each on the same unseen episodes."""

    name: str
    fitness: Mapping[str, tuple[float, ...]]
    score: Mapping[str, tuple[float, ...]]

    @cached_property
    def episodes(self) -> int:
        """The number of unseen episodes."""
        return len(next(iter(self.fitness.values())))

    def mean(self, candidate: str) -> float:
        """The mean score of a candidate over all its episodes."""
        return fsum(self.score[candidate]) / self.episodes


def read(name: str) -> Pool:
    """A committed pool."""
    found = json.loads((FOLDER / f"{name}.json").read_text())["candidates"]
    return Pool(
        name=name, fitness={key: tuple(each["f"]) for key, each in found.items()},
        score={key: tuple(each["score"]) for key, each in found.items()},
    )


class Drawn:
    """Answers the orders of a search from a pool; `draw` decides which unseen episode a seed stands for."""

    def __init__(self, pool: Pool, draw: int) -> None:
        self.pool, self.draw, self.rolled = pool, draw, 0

    def place(self, seed: int) -> int:
        return random.Random(f"{self.draw}/{seed}").randrange(self.pool.episodes)

    def answer(self, order: Order) -> Fact:
        match order:
            case Propose(id=name) if name in self.pool.fitness:
                return ProposalMade(order=name, program=Program(name), summary=name, call=CALL)
            case Propose():
                fault = Fault(kind=FaultKind.NOT_PYTHON, message="not measured")
                return ProposalFailed(order=order.id, fault=fault, call=CALL)
            case Roll():
                self.rolled += 1
                place = self.place(order.seed)
                episode = Episode(
                    index=order.index, seed=order.seed, steps=9, ended_by="horizon", success=False,
                    trajectory=f"{order.id}", info={"f": self.pool.fitness[order.program.text][place]},
                )
                return EpisodeEnded(order=order.id, episode=episode)
            case ScoreEpisode():
                return EpisodeScored(order=order.id, score=Score(fitness=float(order.episode.info["f"])))
            case Examine():
                scores = tuple(Score(fitness=float(episode.info["f"])) for episode in order.episodes)
                return EvaluatorExamined(order=order.id, examination=Examination(scores=scores))
        raise AssertionError(order)


@dataclass(frozen=True)
class Returned:
    """What a drawn search returns: a candidate, its F in the search, the F that the run states, and its episodes."""

    candidate: str
    fitness: float
    stated: float
    episodes: int


def searched(pool: Pool, draw: int, fresh: FreshPlan, *, budget: int, n_roll: int = 3) -> Returned:
    """The result of a drawn search."""
    slots: dict[tuple[int, str], int] = {}
    for name in pool.fitness:
        if not name.startswith("init/"):
            word, branch, place = name.split("/")
            key = int(word[1:]), branch
            slots[key] = max(slots.get(key, 0), int(place) + 1)
    generations = max(generation for generation, _ in slots)
    most = {branch: max((n for (_, b), n in slots.items() if b == branch), default=0) for _, branch in slots}
    plan = RunPlan(
        method=KEEPERS["memento"],
        slots=GenerationBudget(
            generations=generations, hill_climb=most.get("hill", 0), macro=most.get("macro", 0),
            crossover=most.get("cross", 0),
        ),
        search=RolloutPlan(
            split="search", seeds=tuple(range(n_roll)), evaluator=Program("E*"), episodes=budget, fresh=fresh
        ),
        final_seeds=(), initial=Program("init/0"),
    )
    keeper, world = Sequencer(plan), Drawn(pool, draw)
    decision = keeper.start()
    state, waiting, log = decision.state, [*decision.orders], [*decision.facts]
    while waiting:
        decision = keeper.decide(state, world.answer(waiting.pop(0)))
        state, log = decision.state, [*log, *decision.facts]
        waiting += decision.orders
    (ended,) = (fact for fact in log if isinstance(fact, SearchEnded))
    view = view_of_facts([RunStarted(settings={"n_roll": n_roll}, versions={}, sandbox=()), *log])
    assert view.quality is not None
    return Returned(ended.program.text, ended.fitness, view.quality.fitness, world.rolled)
