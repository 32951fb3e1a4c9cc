"""What f_e measures reaches the prompts of the search: a reference evaluator's text, or what the chosen one says."""

from dataclasses import replace

import pytest
from memento.agents.evaluator_evolver import MAX_MEASURES, EvaluatorEvolver, measures_of
from memento.agents.proposers import MAX_FITNESS, HillClimber
from memento.core.events import ProposeEvaluator
from memento.core.provenance import GIVEN
from memento.core.values import Operator, Program
from memento.domains import load
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, Scripted, candidate, program_reply, propose


async def prompt_of(fitness: str, **settings: object) -> str:
    model = Scripted(lambda _: program_reply())
    texts = {"prompts": PromptFolder(), "brief": BRIEF, "limits": "1 s a call."}
    climber = HillClimber(model=model, contract=CONTRACT, **texts, **settings)
    await climber.carry_out(replace(propose(Operator.HILL_CLIMB, candidate()), fitness=fitness))
    return model.asked[0].prompt


async def test_prompts_show_it_bounded_and_as_data_unless_they_show_metrics_alone() -> None:
    heading = "## What the fitness measures"
    assert heading in await prompt_of("milestones")
    assert heading not in await prompt_of("")
    assert heading not in await prompt_of("milestones", feedback="metrics")
    assert len(await prompt_of("x" * 100_000)) < len(await prompt_of("")) + MAX_FITNESS + 300


@pytest.mark.parametrize("name", ["hanoi", "hanoi-kinematic", "kitchen"])
def test_the_texts_name_the_constants_of_the_reference_evaluators(name: str) -> None:
    domain = load(name, GIVEN)
    text = domain.brief(domain.options({}, preset="quick")).reference_fitness
    program = domain.reference_evaluator()
    assert program is not None
    numbers = [word.strip("(),;") for word in text.split() if word.strip("(),;").replace(".", "").isdigit()]
    decimals = [number for number in numbers if "." in number]
    assert len(decimals) >= 6
    assert not [number for number in decimals if number not in program.text and f"{number}0" not in program.text]
    assert len(text) <= 900


async def test_a_reply_says_what_its_evaluator_measures() -> None:
    reply = f"Measures: it counts cubes.\n**Measures:** cubes {'and ' * 200}\n{program_reply(Program(EVALUATOR))}"
    domain = load("hanoi-kinematic")
    evolver = EvaluatorEvolver(
        model=Scripted(lambda _: reply), prompts=PromptFolder(), brief=BRIEF, contract=domain.evaluator_contract
    )
    order = ProposeEvaluator(id="eval/g0/0", generation=0, slot=0, parent=None, episodes=(), success_rate=0.0)
    fact = await evolver.carry_out(order)
    assert fact.measures.startswith("cubes and and")
    assert len(fact.measures) == MAX_MEASURES
    assert measures_of(program_reply()) == measures_of("```python\n# Measures: nothing\n```") == ""


EVALUATOR = """
class Evaluator:
    def evaluate(self, trajectory):
        return 0.0, {}
"""
