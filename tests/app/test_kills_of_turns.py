"""Runs whose proposers use turns and whose parents a critic looks at, killed at random moments over a real socket."""

import asyncio
import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path

import pytest
from memento.app.sight import QUESTION
from memento.core.call_times import without_call_times
from memento.core.events import (
    Criticised,
    Fact,
    ProposalMade,
    RunResumed,
    RunStarted,
    RunStopped,
    ToolAnswered,
    TurnTaken,
)
from memento.memory.spending import list_calls

from ..support import ON_PATH
from ..support.language_server import Service, program_reply, serving
from ..support.processes import kill_nine, wait_until_gone
from ..support.services import Act
from .conftest import Runs
from .served import finish, of, start

KILLS = 2       # of a run
SEED = 0        # of their moments
AT_ONCE = 4     # calls under way: at most so many are lost by one kill
RUN = [
    "run", "painter:DOMAIN", "--preset", "smoke", "--seed", "5", "--workers", "2", "--set", "n_roll=2",
    "--set", "k_hc=1", "--set", "k_macro=1", "--set", "k_cross=1", "--set", "generations=1", "--set", "reply=whole",
    "--set", "options.horizon=30", "--set", "proposer_turns=4", "--set", "practice_episodes=2", "--set", "notes=on",
    "--set", f"calls_at_once={AT_ONCE}",
]
POLICY = """
class P:
    def reset(self):
        self.report = {{"speed": {speed}}}
    def compute_action(self, obs):
        print("x is", float(obs["x"][0]))
        return [{speed}]
"""
EVALUATOR = """
class Evaluator:
    def evaluate(self, trajectory):
        return min(1.0, max(0.0, float(trajectory["x"][-1]) / 40)), {"last": float(trajectory["x"][-1])}
"""
CALLS = (
    "Tool: try_program\nEpisode: 1\n\n```python\n{program}```\n",
    "Tool: look_closer\nRecording: draft 1\nFrom: -3\nFields: x\n",
    "Tool: fly\n",
    "Tool: compute\nRecording: parent 0\n\n```python\nprint(arrays['x'][-1], {speed})\n```\n",
)
MEASURED = re.compile(r"CPU time in all: [^\n]*|The tools have used [\d.,]+ s of CPU time so far\. ")
NOT_COMPARED = (RunStarted, RunResumed, RunStopped)     # how the run was carried out


def settled(text: str) -> str:
    """A text without what no two runs share: measured times."""
    return MEASURED.sub("", without_call_times(text))


def answer(number: int, prompt: str) -> Act:
    """What the model says to a prompt; it depends on all of the prompt that is not measured."""
    if prompt == QUESTION:
        return Act(text="Blue.")
    seen = int(hashlib.sha256(settled(prompt).encode()).hexdigest(), 16)
    if "You look at one recorded episode" in prompt:
        return Act(text=f"The square slows down at step {seen % 30}.")
    program = POLICY.format(speed=0.05 + seen % 1000 / 1000)
    turns = prompt.count("\n### The answer to it\n")
    if "## Before you submit" in prompt and turns < len(CALLS):
        return Act(text=CALLS[turns].format(program=program, speed=seen % 1000))
    return Act(text=f"Note: it saw {seen % 1000}.\n{program_reply(program, f'saw {seen % 1000}')}")


def plain(value: object, name: str = "") -> object:
    """A fact or a part of it as text and tuples, without times."""
    if name in ("wall_s", "latency_s", "times", "cpu_s", "at"):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *(plain(getattr(value, each.name), each.name) for each in fields(value)))
    if isinstance(value, Mapping):
        return tuple((key, plain(each, str(key))) for key, each in value.items())
    if isinstance(value, tuple | list):
        return tuple(plain(each) for each in value)
    return settled(value) if isinstance(value, str) and not isinstance(value, Enum) else value


def log_of(facts: list[Fact]) -> Counter[str]:
    """The facts of a run in any order, since two orders at once may be answered in any."""
    return Counter(repr(plain(fact)) for fact in facts if not isinstance(fact, NOT_COMPARED))


async def begin(runs: Runs, name: str, service: Service, evaluator: Path) -> asyncio.subprocess.Process:
    models = ["--model", service.model, "--critic", service.model, "--evaluator", str(evaluator)]
    return await start(runs, *RUN, "--name", name, *models)


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("evaluator") / "evaluator.py"
    path.write_text(EVALUATOR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ON_PATH), prepend=":")
        yield path


@pytest.fixture(scope="module")
def whole(evaluator: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Fact]:
    """The log of the run that nobody disturbs."""
    runs = Runs(tmp_path_factory.mktemp("whole"))

    async def carried_out() -> None:
        async with serving(answer) as service:
            await finish(await begin(runs, "whole", service, evaluator))

    asyncio.run(carried_out())
    return runs.facts("whole")


async def kill(process: asyncio.subprocess.Process, *, everything: bool) -> None:
    """End the controller, or it and all that descends from it, and wait until all of them are gone."""
    members = await asyncio.to_thread(kill_nine, process.pid, everything=everything)
    await process.communicate()
    await asyncio.to_thread(wait_until_gone, members)


async def disturbed(runs: Runs, seed: int, service: Service, evaluator: Path, requests: int) -> int:
    """The run, killed at moments between two of its requests that the seed draws. Returns the kills."""
    draw, kills = random.Random(seed), 0
    process = await begin(runs, "one", service, evaluator)
    for moment in sorted(draw.sample(range(2, requests - 1), KILLS)):
        arrived = asyncio.create_task(service.wait_for_requests(moment))
        ended = asyncio.create_task(process.wait())
        async with asyncio.timeout(100):
            await asyncio.wait({arrived, ended}, return_when=asyncio.FIRST_COMPLETED)
        arrived.cancel()
        await asyncio.sleep(draw.uniform(0.0, 0.3))
        if process.returncode is None:
            ended.cancel()
            await kill(process, everything=draw.random() < 0.5)
            kills += 1
            process = await start(runs, "resume", "one")
    await finish(process)
    return kills


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_killed_run_has_the_same_log_and_nothing_is_paid_for_twice(
    runs: Runs, evaluator: Path, whole: list[Fact]
) -> None:
    """Of the moments of a kill, runtime/test_kills_at_every_fact.py tries every one."""
    paid = len(list_calls(whole))
    async with serving(answer) as service:
        kills = await disturbed(runs, SEED, service, evaluator, requests=paid)
    facts = runs.facts("one")
    assert {TurnTaken, ToolAnswered, Criticised, ProposalMade} <= {type(fact) for fact in facts}
    assert log_of(facts) == log_of(whole)
    again = Counter(settled(prompt) for prompt in service.prompts if prompt != QUESTION)
    once = Counter(settled(row.call.prompt.text) for row in list_calls(whole))
    assert again.keys() == once.keys()
    assert (again - once).total() <= AT_ONCE * kills, "only what was under way at a kill is asked again"
    answers = [fact.order for fact in of(facts, TurnTaken, ToolAnswered, Criticised, ProposalMade)]
    assert len(answers) == len(set(answers))
