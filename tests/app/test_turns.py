"""Conversations with proposers in runs of the real program over a real socket: hostile drafts, kills, replays."""

import asyncio
import re

import pytest
from memento.app.budgets import require_usable
from memento.cli.show_candidate import describe_record
from memento.core.call_times import without_call_times
from memento.core.errors import UsageError
from memento.core.events import Fact, ProposalMade, ToolAnswered, TurnTaken
from memento.core.order_ids import owner_of
from memento.core.seeds import derive_seed
from memento.memory.lookup import look_up
from memento.memory.store import RunStore
from memento.settings import build_settings

from ..support.language_server import KEY, program_reply, serving
from ..support.language_server import policy as shelf_policy
from ..support.processes import members_of, wait_until_gone
from ..support.services import Act
from .conftest import Runs
from .served import SHORT, call, finish, of, start

pytestmark = pytest.mark.quick

RUN = [
    "run", "hanoi-kinematic", *SHORT, "--name", "one", "--evaluator", "reference", "--set", "proposer_turns=5",
    "--set", "practice_episodes=2", "--set", "n_roll=2", "--set", "notes=on",
]
BODY = """
import os, sys, numpy as np
class FrankaPolicy:
    def reset(self):
        self.calls = 0
    def compute_action(self, obs):
        self.calls += 1
        {body}
"""
IDLE = BODY.format(body="return np.zeros(7)")
HANG = BODY.format(body="while self.calls > 1: pass\n        return np.zeros(7)")
DRAFTS = {
    "hill": (BODY.format(body="print('in the first step'); os.fork()"), HANG),
    "macro": (BODY.format(body="return np.ones(10 * 2**30 // 8)"), BODY.format(body="open('/proc/self/environ')")),
    "cross": (IDLE, IDLE),
}
KIND = {"micro-mutation": "hill", "macro-mutation": "macro", "crossover": "cross"}
TALK = (
    "Let me see.\n\nTool: try_program\nEpisode: 1\n\n```python\n# whole program\n{drafts[0]}```\n",
    "Tool: try_program\n\n```python\n# whole program\n{drafts[1]}```\n",
    "Tool: fly\nTo: the moon\n",
    "Tool: compute\nRecording: draft 1\n\n```python\nprint(sorted(arrays), len(arrays['actions']))\n```\n",
    "Tool: look_closer\nRecording: parent 0\nFrom: 3\nTo: 5\nFields: eef_pos[2]\n",
)


def answer(number: int, prompt: str) -> Act:
    """Five turns, the first with hostile drafts, then a sound program."""
    kind = next((word for words, word in KIND.items() if f"## What to write: a {words}" in prompt), "")
    turns = prompt.count("\n### The answer to it\n")
    if not kind or turns >= len(TALK):
        seed = sum(map(ord, kind)) + prompt.count("g1")
        program = program_reply("# whole program\n" * bool(kind) + shelf_policy(seed), f"after {turns} turns")
        return Act(text=f"Note: {kind or 'the first'} slips.\n{program}")
    return Act(text=TALK[turns].format(drafts=DRAFTS[kind]))


def talked(facts: list[Fact]) -> dict[str | None, object]:
    """What was said and answered in the conversations, without measured times."""
    said = {fact.order: (fact.request, fact.said, without_call_times(fact.call.prompt.text))
            for fact in of(facts, TurnTaken)}
    return said | {
        fact.order: (fact.answer, fact.score, fact.episode and (fact.episode.seed, fact.episode.fault))
        for fact in of(facts, ToolAnswered)
    }


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_conversations_survive_a_kill_and_a_replay_is_exact(runs: Runs) -> None:
    async with serving(answer) as service:
        process = await start(runs, *RUN, "--model", service.model)
        async with asyncio.timeout(60):
            await service.wait_for_requests(7)
        started = members_of(process.pid)
        process.kill()
        await process.communicate()
        await asyncio.to_thread(wait_until_gone, started)
        await finish(await start(runs, "resume", "one"))
        total = len(service.prompts)
        replay = await call(runs, "run", "--replay", "one", "--name", "again")
        assert len(service.prompts) == total, "a replay calls no service"
    facts = runs.facts("one")
    assert replay["candidates"] == 3
    talk = talked(facts)
    assert talk == talked(runs.facts("again"))
    assert len(of(facts, TurnTaken)) == 3 * len(TALK)
    orders = [fact.order for fact in of(facts, TurnTaken, ToolAnswered, ProposalMade)]
    assert len(orders) == len(set(orders)), "nothing on the log is paid for twice"
    assert total - len(of(facts, TurnTaken, ProposalMade)) <= 2, "only what was in flight is asked again"
    check_answers({str(fact.order): fact for fact in of(facts, ToolAnswered)})
    with RunStore.read(runs.folder / "one") as store:
        shown = "\n".join(describe_record(look_up(store, "g1/hill/0"), None, parts=()))
    assert re.search(r"tool1   practice episode 0: f 0\.000, 1 steps, [\d.]+ s of CPU time; timed-out", shown)
    assert "turn2   no usable reply: unknown tool 'fly'" in shown
    assert "note: hill slips." in shown
    check_notes(facts)
    practice = {derive_seed(5, "practice", episode) for episode in range(2)}
    assert {fact.episode.seed for fact in of(facts, ToolAnswered) if fact.episode} <= practice
    secrets = {KEY, *(str(derive_seed(5, word, e)) for word in ("final", "search", "practice") for e in range(2))}
    assert not [prompt for prompt in service.prompts if any(secret in prompt for secret in secrets)]


def check_notes(facts: list[Fact]) -> None:
    """What the prompts of the lineage showed of earlier notes: also those after the kill."""
    made = {owner_of(str(fact.order)): fact for fact in of(facts, ProposalMade)}
    assert {name: fact.note for name, fact in made.items()} == {
        "init/0": "the first slips.", "g1/hill/0": "hill slips.", "g1/macro/0": "macro slips.",
        "g1/cross/0": "cross slips.",
    }
    prompts = {name: fact.call.prompt.text for name, fact in made.items()}
    assert "slips." not in prompts["init/0"]
    for name in ("g1/hill/0", "g1/macro/0", "g1/cross/0"):
        assert "g0 first program, kept: the first slips." in prompts[name]
    assert "hill-climb, kept: hill slips." in prompts["g1/cross/0"] or "macro slips." in prompts["g1/cross/0"]


def check_answers(answers: dict[str, ToolAnswered]) -> None:
    """The answers of the tools, by order."""
    forked, greedy, idle = (answers[f"g1/{slot}/tool0"] for slot in ("hill/0", "macro/0", "cross/0"))
    hung, reads = (answers[f"g1/{slot}/tool1"] for slot in ("hill/0", "macro/0"))
    assert forked.episode.fault.kind == "crashed" and "PermissionError" in forked.answer.text
    assert "in the first step" in forked.answer.text
    assert greedy.episode.fault.kind == "crashed" and "MemoryError" in greedy.answer.text
    assert idle.episode.fault is None and "practice episode 1" in idle.answer.text
    assert hung.episode.fault.kind == "timed-out" and "CPU time" in hung.answer.text
    assert reads.episode.fault.kind == "crashed" and "PermissionError" in reads.answer.text
    assert "'cube_pos'" in answers["g1/cross/0/tool3"].answer.text
    assert "success" not in answers["g1/cross/0/tool3"].answer.text
    assert "steps 3 to 5 of 20, 3 rows" in answers["g1/macro/0/tool4"].answer.text
    assert not any(order.endswith("/tool2") for order in answers), "an unknown tool needs no order"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["practice_episodes=2"], "has no effect without proposer_turns"),
        (["notes=on"], "notes = 'on' has no effect with the offline model"),
        (["model=openai:m", "sampling.tools=text"], "'sampling.tools' has no effect but on proposers"),
        (["model=openai:m", "proposer_turns=2", "sampling.judge.tools=text"], "'sampling.judge.tools' has no effect"),
        (["notes=on", "method=zero-shot"], "'notes' has no effect"),
        (["proposer_turns=2", "speculation=true", "memory_detail=summary"], "'speculation' has no effect"),
        (["proposer_turns=21"], "less than or equal to 20"),
    ],
)
def test_settings_without_effect_are_refused(more: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        require_usable(build_settings({"domain": "hanoi-kinematic"}, assignments=more, environment={}))
