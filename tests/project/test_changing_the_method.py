"""The examples of docs/changing-the-method.md decide whole searches, and each does what the guide says of it."""

import importlib
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from memento.core.events import BranchEnded, CandidateAccepted, EliteChanged, Fact, ProposalMade
from memento.core.operators import OPERATORS
from memento.core.values import CandidateState, Operator, Program
from memento.runtime.prompts import PromptFolder
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import World, play
from ..support.prompt_samples import BRIEF, CONTRACT, Scripted, candidate, program_reply, propose

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "changing-the-method.md"
EXAMPLES = dict(re.findall(r'```python\n"""(\w+)\.py"""\n(.*?)```', GUIDE.read_text("utf-8"), flags=re.DOTALL))
SLOTS = GenerationBudget(generations=4, hill_climb=4, macro=3, crossover=2)
PLAN = RolloutPlan(split="search", seeds=(11, 12), evaluator=Program("E*"), racing=True)
INITIAL = CandidateState(
    id="init/0", program=Program("p0"), operator=Operator.INITIAL, generation=0, slot=0, fitness=0.25
)


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the examples, from which they can be imported; their operators leave the table again."""
    for name, text in EXAMPLES.items():
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(OPERATORS)
    yield tmp_path
    for operator in [*OPERATORS]:
        if operator not in before:
            del OPERATORS[operator]
    for name in EXAMPLES:
        sys.modules.pop(name, None)


def searched(module: ModuleType, seed: int, arrival: int) -> list[Fact]:
    keeper = module.keeper(INITIAL, PLAN, SLOTS, SearchOptions(seed=seed))
    log, last = play(keeper, World(seed), random.Random(arrival).randrange)
    assert keeper.finished(last.state)
    return log


def test_the_guide_has_the_three_examples() -> None:
    assert EXAMPLES.keys() == {"annealing", "simplify", "map_elites"}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_decides_the_same_in_any_order_of_arrival(name: str, examples: Path) -> None:
    module = importlib.import_module(name)
    for seed in range(5):
        elites = [
            [fact for fact in searched(module, seed, arrival) if isinstance(fact, EliteChanged | BranchEnded)]
            for arrival in (1, 2)
        ]
        assert sorted(map(repr, elites[0])) == sorted(map(repr, elites[1]))
        assert max(each.generation for each in elites[0]) == SLOTS.generations


def test_annealing_accepts_losses_and_ends_with_the_fittest(examples: Path) -> None:
    module = importlib.import_module("annealing")
    logs = [searched(module, seed, 0) for seed in range(20)]
    assert any(isinstance(fact, CandidateAccepted) and fact.fitness_difference < 0 for log in logs for fact in log)
    for log in logs:
        elites = [fact.fitness for fact in log if isinstance(fact, EliteChanged)]
        assert elites == sorted(elites)


def test_a_simplification_wins_with_a_program_that_is_as_fit(examples: Path) -> None:
    module = importlib.import_module("simplify")
    logs = [searched(module, seed, 0) for seed in range(20)]
    assert any("/simple/" in fact.candidate for log in logs for fact in log if isinstance(fact, EliteChanged))
    assert OPERATORS[module.SIMPLIFY].title == "simplify"


async def test_the_prompt_of_a_simplification_asks_for_it(examples: Path) -> None:
    module = importlib.import_module("simplify")
    model = Scripted(lambda _: program_reply())
    agent = module.Simplifier(
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="1 s a call.",
    )
    fact = await agent.carry_out(propose(module.SIMPLIFY, candidate()))
    assert isinstance(fact, ProposalMade)
    assert module.ASK.strip() in model.asked[0].prompt


def test_map_elites_draws_parents_from_several_cells(examples: Path) -> None:
    module = importlib.import_module("map_elites")
    rule = module.MapElites(8, seed=1)
    grid = {(0, 0): INITIAL, (0, 1): replace(INITIAL, id="b")}
    assert {request.parents[0].id for request in rule.ask(1, grid)} == {"init/0", "b"}
