"""Every filled prompt, word for word, against the files in golden/.

After an intended change of a prompt, run `MEMENTO_GOLDEN=write pytest tests/prompts` and review the difference.
"""

import os
from pathlib import Path

import pytest
from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.judging import Judges
from memento.agents.proposers import Crosser, HillClimber, Initiator, Mutator
from memento.core.values import Operator
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import (
    BRIEF,
    CONTRACT,
    CRASH,
    EVALUATOR_CONTRACT,
    OTHER,
    REJECTIONS,
    Scripted,
    candidate,
    evaluator_entry,
    judge_order,
    program_reply,
    propose,
    propose_evaluator,
)

GOLDEN = Path(__file__).parent / "golden"

CASES = (
    "initial-policy",
    "initial-policy-again",
    "hill-climb",
    "hill-climb-no-memory",
    "hill-climb-full-memory",
    "macro-mutation",
    "macro-mutation-of-a-failure",
    "crossover",
    "crossover-same-parents",
    "initial-evaluator",
    "evaluator-macro-mutation",
    "judge",
    "judge-once-more",
)


async def filled(case: str) -> str:
    """The prompt that the agent sends."""
    model = Scripted(lambda ask: '{"choice": "none"}' if ask.role == "judge" else program_reply())
    common = {"prompts": PromptFolder(), "brief": BRIEF}
    policy = {"model": model, "contract": CONTRACT, **common}
    climb = propose(Operator.HILL_CLIMB, candidate(), rejections=REJECTIONS)
    failure = candidate(fault=CRASH)
    evolver = EvaluatorEvolver(model=model, contract=EVALUATOR_CONTRACT, **common)
    match case:
        case "initial-policy":
            await Initiator(**policy).carry_out(propose(Operator.INITIAL))
        case "initial-policy-again":
            await Initiator(**policy).carry_out(propose(Operator.INITIAL, rejections=REJECTIONS[1:]))
        case "hill-climb":
            await HillClimber(**policy).carry_out(climb)
        case "hill-climb-no-memory":
            await HillClimber(**policy).carry_out(propose(Operator.HILL_CLIMB, candidate()))
        case "hill-climb-full-memory":
            await HillClimber(**policy, memory_detail="full").carry_out(climb)
        case "macro-mutation":
            await Mutator(**policy).carry_out(propose(Operator.MACRO, candidate()))
        case "macro-mutation-of-a-failure":
            await Mutator(**policy).carry_out(propose(Operator.MACRO, failure))
        case "crossover":
            await Crosser(**policy).carry_out(propose(Operator.CROSSOVER, candidate(), candidate(OTHER)))
        case "crossover-same-parents":
            await Crosser(**policy).carry_out(propose(Operator.CROSSOVER, candidate(), candidate()))
        case "initial-evaluator":
            await evolver.carry_out(propose_evaluator(None))
        case "evaluator-macro-mutation":
            await evolver.carry_out(propose_evaluator(evaluator_entry(2)))
        case "judge" | "judge-once-more":
            await Judges(models=[model], run_seed=7, **common).carry_out(judge_order())
    return model.asked[-1 if case == "judge-once-more" else 0].prompt


@pytest.mark.parametrize("case", CASES)
async def test_filled_prompt(case: str) -> None:
    file = GOLDEN / f"{case}.md"
    prompt = await filled(case)
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        file.write_text(prompt, encoding="utf-8")
    assert prompt == file.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.md")} == set(CASES)


async def test_every_prompt_file_is_used() -> None:
    parts = {"program-rules", "evaluator-rules", "rejection-memory", "earlier-attempts"}
    used = parts | {"crossover-of-two", "crossover-with-itself"} | set(CASES)
    assert set(PromptFolder()) <= used
