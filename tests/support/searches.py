"""Searches by any method in a scripted world, with budgets for property tests."""

from dataclasses import replace

from hypothesis import strategies as st
from memento.core.events import Fact, Roll
from memento.core.values import CandidateState, Operator, Program, Score
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.parts.memory import MemorySettings
from memento.search.parts.speculation import SpeculationSettings
from memento.search.rollout_plan import RolloutPlan
from memento.search.setting_groups import PartSettings

from .keeper_world import Repeating

seeds = st.integers(0, 10**6)
budgets = st.builds(
    GenerationBudget,
    generations=st.integers(0, 3),
    hill_climb=st.integers(0, 4),
    macro=st.integers(0, 4),
    crossover=st.integers(0, 3),
)
FULL = MemorySettings(memory_detail="full")
PLAN = RolloutPlan(split="search", seeds=(11, 12, 13), evaluator=Program("E*"))


def initial(seed: int) -> CandidateState:
    """C_0 is one of the world's programs, with its episodes."""
    program = Program("program = 0\n")
    world = Repeating(seed, failure_rate=0.0)
    rolls = [Roll(id="r", program=program, split="search", index=i, seed=s) for i, s in enumerate(PLAN.seeds)]
    episodes = tuple(world.answer(roll).episode for roll in rolls)
    scores = tuple(Score(fitness=episode.info["fitness"]) for episode in episodes)
    return CandidateState(
        id="init/0", program=program, operator=Operator.INITIAL, generation=0, slot=0,
        fitness=sum(score.fitness for score in scores) / len(scores), episodes=episodes, scores=scores,
    )


def make(method: str, slots: GenerationBudget, seed: int, saving: tuple[bool, bool, bool], *settings: PartSettings):
    racing, duplicates, speculation = saving
    plan = replace(PLAN, racing=racing, duplicates=duplicates)
    choices = PAPER.but(SpeculationSettings(speculation=speculation), *settings)
    return KEEPERS[method](initial(seed), plan, slots, SearchOptions(seed=seed), choices)


def of(log: list[Fact], kind: type) -> list:
    """The facts of this kind."""
    return [fact for fact in log if isinstance(fact, kind)]
