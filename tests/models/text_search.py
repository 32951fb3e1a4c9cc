"""A search without a simulator, for tests of models: a program's fitness comes from its text."""

from collections.abc import Iterable, Sequence

from memento.agents.proposers import Crosser, HillClimber, Mutator
from memento.core.events import Fact, Propose
from memento.core.ports import Model, RollTask
from memento.core.values import Episode, Examination, Operator, Program, Score
from memento.domains import load
from memento.runtime.prompts import PromptFolder

HANOI = load("hanoi")


def shelf_program() -> str:
    """The text of a policy that satisfies the contract."""
    shelf = HANOI.shelf()
    assert shelf is not None
    return shelf.initial.text


class HashPool:
    """Rollouts without a simulator: a program's fitness comes from its text."""

    async def roll(self, task: RollTask) -> Episode:
        fitness = int(task.program.digest[:4], 16) / 0xFFFF
        return Episode(
            index=task.index, seed=task.seed, steps=9, ended_by="horizon", success=False, info={"fitness": fitness}
        )

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        fitness = episode.info["fitness"]
        assert isinstance(fitness, float)
        return Score(fitness=fitness)

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        return Examination(scores=tuple([await self.score(evaluator, episode) for episode in episodes]))


class Log:
    """A store of facts in a list."""

    def __init__(self) -> None:
        self.kept: list[Fact] = []

    def append(self, facts: Iterable[Fact]) -> None:
        self.kept.extend(facts)

    def facts(self) -> Iterable[Fact]:
        return tuple(self.kept)


class ByOperator:
    """One proposer per operator, on one model."""

    def __init__(self, model: Model) -> None:
        brief = HANOI.brief(HANOI.options({}, preset="smoke"))
        shared = {"model": model, "prompts": PromptFolder(), "brief": brief, "contract": HANOI.contract, "limits": "-"}
        kinds = {Operator.HILL_CLIMB: HillClimber, Operator.MACRO: Mutator, Operator.CROSSOVER: Crosser}
        self.agents = {operator: kind(**shared) for operator, kind in kinds.items()}  # type: ignore[arg-type]

    async def carry_out(self, order: Propose) -> Fact:
        return await self.agents[order.operator].carry_out(order)
