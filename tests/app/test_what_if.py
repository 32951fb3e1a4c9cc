"""What-ifs on a run of a language model over a real socket: the recorded prompts, conversations, another model."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from memento.app.recorded_state import candidates_in, state_before
from memento.app.what_if import prompt_of
from memento.core.call_times import without_call_times
from memento.core.events import ProposalMade, ToolAnswered, TurnTaken, WhatIfBegun
from memento.core.order_ids import owner_of
from memento.memory.runs import WHAT_IFS
from memento.memory.store import RunStore

from ..support.language_server import policy, program_reply, serving
from ..support.services import Act
from .conftest import Runs
from .served import SHORT, call, finish, of, start

RUN = [
    "run", "hanoi-kinematic", *SHORT, "--name", "one", "--evaluator", "reference", "--set", "proposer_turns=2",
    "--set", "n_roll=2", "--set", "notes=on", "--set", "k_hc=2",
]
LOOK = "Tool: look_closer\nRecording: parent 0\nFrom: 0\nTo: 3\nFields: eef_pos[2]\n"


def answer(number: int, prompt: str) -> Act:
    """A look at the parent's recording, then a program; in the first answer to a proposal without tools a program."""
    if "look_closer" in prompt and "### The answer to it" not in prompt:
        return Act(text=LOOK)
    return Act(text=f"Note: number {number}.\n{program_reply(policy(number), f'number {number}')}")


async def prompts_of(folder: Path) -> Mapping[str, str]:
    return {name: await prompt_of(state_before(folder, name, {}, trusted=True)) for name in candidates_in(folder, "*")}


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_conversations_begin_as_recorded_and_another_model_draws_after_a_kill(runs: Runs) -> None:
    async with serving(answer) as service:
        await finish(await start(runs, *RUN, "--model", service.model))
    folder = runs.folder / "one"
    facts = runs.facts("one")
    first = {owner_of(str(fact.order)): fact.call.prompt.text for fact in reversed(of(facts, TurnTaken, ProposalMade))}
    made = await prompts_of(folder)
    assert len(made) == 4
    for name, prompt in made.items():
        assert without_call_times(prompt) == without_call_times(first[name])
    with RunStore.read(folder) as store:
        before = store.last_seq
    what_if = ["what-if", "one", "g1/macro/0", "-n", "3"]
    async with serving(answer) as other:
        process = await start(runs, *what_if, "--model", other.model)
        async with asyncio.timeout(100):
            await other.wait_for_requests(4)    # three looks, and the answer after the first one
        process.kill()
        await process.communicate()
        result = await call(runs, *what_if, "--model", other.model)
        asked = len(other.prompts)
        await call(runs, *what_if, "--model", other.model, "--replay")
        assert len(other.prompts) == asked, "a repetition asks nobody"
    [state] = result["states"]
    [arm] = state["arms"]
    assert (arm["draws"], arm["failures"], arm["model"]) == (3, 0, other.model)
    assert arm["calls"] == 6 and arm["tokens"] > 0 and all(row["calls"] == 2 for row in arm["rows"])
    [log] = (folder / WHAT_IFS).iterdir()
    with RunStore.read(log) as store:
        drawn = [*store.facts()]
    assert [fact.candidate for fact in of(drawn, WhatIfBegun)] == ["g1/macro/0"]
    orders = [fact.order for fact in of(drawn, TurnTaken, ToolAnswered, ProposalMade)]
    assert len(orders) == len(set(orders)) == 9, "nothing on the log is paid for twice"
    assert all("rows" in fact.answer.text for fact in of(drawn, ToolAnswered)), "the parent's recording is there"
    with RunStore.read(folder) as store:
        assert store.last_seq == before, "the run stays as it is"
