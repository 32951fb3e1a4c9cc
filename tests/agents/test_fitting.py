"""Prompts are kept within what a service showed that it can read, in order, and the same in a replay."""

from dataclasses import replace

import pytest
from memento.agents.fitting import (
    EPISODES,
    HISTORY,
    MEMORY,
    PARTS_OF_POLICIES,
    SECOND,
    PromptLimits,
    fitting,
    recorded_limits,
)
from memento.agents.fitting import OTHER as CODE
from memento.agents.proposers import Aids, Crosser, HillClimber, Mutator
from memento.agents.writing import Question, question
from memento.core.errors import ModelError
from memento.core.events import ProposalFailed, Propose
from memento.core.ports import Ask, Reply
from memento.core.values import Operator
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, LINEAGE, OTHER, POLICY, REJECTIONS, TRIED, candidate, propose

KINDS = {Operator.HILL_CLIMB: HillClimber, Operator.MACRO: Mutator, Operator.CROSSOVER: Crosser}


class Window:
    """A model that reads a number of characters."""

    name = "lab:m"

    def __init__(self, most: int) -> None:
        self.most = most
        self.prompts: list[str] = []

    async def complete(self, ask: Ask) -> Reply:
        self.prompts.append(ask.prompt)
        if len(ask.prompt) > self.most:
            raise ModelError("lab:m cannot read a prompt this long", room=self.most)
        return Reply(text=f"Summary: x\n\n```python\n# whole program\n{POLICY.text}```\n", model="lab:m")


def order_of(operator: Operator) -> Propose:
    parent = replace(candidate(), lineage=LINEAGE)
    other = replace(parent, id="g1/hill/1", program=OTHER)
    parents = (parent, other) if operator is Operator.CROSSOVER else (parent,)
    return replace(propose(operator, *parents), tried=TRIED, rejections=REJECTIONS)


@pytest.mark.parametrize("operator", KINDS)
async def test_after_a_prompt_that_was_too_long_later_ones_are_shorter_and_say_so(operator: Operator) -> None:
    order, model, limits = order_of(operator), Window(10**6), PromptLimits()
    agent = KINDS[operator](
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="", aids=Aids(limits=limits)
    )
    await agent.carry_out(order)
    model.most = len(model.prompts[0]) - 100
    failed = await agent.carry_out(order)
    assert isinstance(failed, ProposalFailed)
    assert failed.prompt_room == model.most
    limits.on_fact(failed)
    made = await agent.carry_out(order)
    assert made.prompt_limit == model.most and made.left_out[0] in (SECOND, EPISODES)
    assert len(model.prompts[-1]) <= model.most
    assert made.left_out[0] in model.prompts[-1]
    replayed = KINDS[operator](
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="",
        aids=Aids(limits=PromptLimits(recorded_limits([made]))),
    )
    await replayed.carry_out(order)
    assert model.prompts[-1] == model.prompts[-2], "the same prompt, without any refusal"


def test_parts_go_in_order_and_no_more_than_needed() -> None:
    sizes = {CODE: 2, SECOND: 5, EPISODES: 10, HISTORY: 20, MEMORY: 30}

    def make(left_out: tuple[str, ...]) -> Question:
        return question("", "x" * (99 + sum(size for name, size in sizes.items() if name not in left_out)))

    def left_out(bound: int) -> tuple[str, ...]:
        made, names = fitting(make, PARTS_OF_POLICIES, bound)
        assert made == make(names)
        return names

    assert left_out(0) == ()
    assert left_out(167) == ()
    assert left_out(166) == (CODE,)
    assert left_out(164) == (CODE, SECOND)
    assert left_out(159) == (CODE, SECOND, EPISODES)
    assert left_out(149) == (CODE, SECOND, EPISODES, HISTORY)
    assert left_out(1) == PARTS_OF_POLICIES
    sizes[HISTORY] = 0
    assert left_out(1) == (CODE, SECOND, EPISODES, MEMORY), "a part that is not there is not named"
