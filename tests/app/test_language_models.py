"""Whole runs of the real program over real sockets: bad services, budgets, kills, replays, and secrecy of the key."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from memento.core.events import (
    CandidateScored,
    Fact,
    ProposalFailed,
    ProposalMade,
    RunResumed,
    RunStopped,
    VoteCast,
)
from memento.core.faults import FaultKind
from memento.core.values import Document
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ..support.language_server import KEY, USED, policy, program_reply, serving, sound_reply
from ..support.processes import members_of, wait_until_gone
from ..support.services import Act
from .conftest import Runs
from .served import SHORT, call, finish, of, start

pytestmark = pytest.mark.slow

SMALL = [*SHORT, "--set", "k_macro=3", "--set", "k_hc=2"]


# ------------------------------------------------------------------------------------ a bad service

HICCUPS = (
    Act(status=500), Act(status=503, headers={"Retry-After": "0.2"}), Act(status=429, headers={"Retry-After": "0.2"}),
    Act(ending="hang"), Act(ending="stall"),
    Act(ending="reset"), Act(ending="quiet"), Act(ending="page"), Act(ending="garbage"), Act(status=500, echo=True),
)
LOST = (
    Act(text="A whole", finish="length"), Act(finish="refusal"), Act(text=""), Act(text="I cannot write code today."),
    Act(text=program_reply("class FrankaPolicy(:", "broken")), Act(echo=True),
    Act(text=program_reply("import os\nraise RuntimeError(str(dict(os.environ)))\n" + policy(1), "tells all")),
)


def unreliable(number: int, prompt: str) -> Act:
    """Three of ten requests fail: two in a way that is retried, one in a way that costs the slot."""
    if number % 10 in (2, 6):
        return HICCUPS[number // 5 % len(HICCUPS)]
    if number % 10 == 8:
        return LOST[number // 10 % len(LOST)]
    return Act(text=sound_reply(number, prompt))


@pytest.mark.timeout(300)
async def test_a_hundred_candidates_through_a_bad_service_and_the_key_stays_in_the_controller(runs: Runs) -> None:
    async with serving(unreliable) as service:
        process = await start(
            runs, "run", "hanoi-kinematic", *SHORT, "--name", "one", "--model", service.model, "--json",
            "--evaluator", "reference", "--set", "generations=2", "--set", "k_macro=50", "--set", "k_hc=0",
            "--set", "k_cross=0", "--set", "prices.lab:toy-1={input=1.0,output=2.0}", "--budget-usd", "5",
            "--set", "sampling.read_s=2", "--set", "repairs=0",
        )
        seen: dict[int, bytes] = {}
        watching = asyncio.create_task(watch_environments(process.pid, seen))
        out, err = await finish(process, within_s=280)
        watching.cancel()
        requests = len(service.prompts)
    result = json.loads(out.splitlines()[-1])
    facts = runs.facts("one")
    scored = Counter(fact.candidate.id for fact in of(facts, CandidateScored))
    assert scored == Counter(f"g{generation}/macro/{slot}" for generation in (1, 2) for slot in range(50))
    answered = [fact for fact in of(facts, ProposalMade, ProposalFailed) if fact.call is not None]
    failed = Counter(fact.fault.kind for fact in of(facts, ProposalFailed))
    assert {FaultKind.TRUNCATED, FaultKind.REFUSED, FaultKind.EMPTY, FaultKind.NO_PROGRAM} <= set(failed)
    assert FaultKind.NOT_PYTHON in failed
    assert result["status"] == "done"
    assert result["candidates"] == 100
    assert result["model_calls"] == len(answered) >= 100
    assert result["tokens"] == USED * len(answered)
    assert result["cost_usd"] == pytest.approx(len(answered) * (11 + 2 * 7) / 1e6)
    sent = sum(fact.call.usage.attempts for fact in answered)
    assert len(answered) < sent <= requests
    assert service.keys == {KEY}
    # Every byte that the run left, packed or not, and the environment of everything that it started.
    assert KEY not in out and KEY not in err
    left = everything_in(runs.folder / "one", facts)
    assert len(left) > 3
    assert not [name for name, content in left.items() if KEY.encode() in content]
    assert seen
    assert not [pid for pid, content in seen.items() if KEY.encode() in content]


async def watch_environments(controller: int, seen: dict[int, bytes]) -> None:
    """Read the environment of every process that the controller starts, as far as it can be read.

    A process on its way from fork to exec is still the controller's own image, and has its command line.
    """
    own = (Path("/proc") / str(controller) / "cmdline").read_bytes()
    while True:
        for pid in members_of(controller):
            folder = Path("/proc") / str(pid)
            try:
                command, environ = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
            except OSError:
                continue
            if command != own:
                seen[pid] = environ
        await asyncio.sleep(0.1)


def everything_in(folder: Path, facts: Sequence[Fact]) -> dict[str, bytes]:
    left = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for path in folder.rglob("*.npz"):
        with np.load(path) as arrays:
            parts = [arrays[name] for name in arrays.files]
        left[f"{path.name} unpacked"] = b"".join(
            part if isinstance(part, bytes) else part.tobytes() for part in parts
        )
    assert "run.sqlite" in left
    return left | {"facts": repr(facts).encode()}


# ------------------------------------------------------------------------------------------- budgets


@pytest.mark.timeout(300)
async def test_a_spent_budget_ends_the_run_cleanly_and_a_larger_one_goes_on(runs: Runs) -> None:
    async with serving() as service:
        first = await call(
            runs, "run", "hanoi-kinematic", *SMALL, "--name", "one", "--model", service.model,
            "--evaluator", "reference", "--budget-calls", "3",
        )
        assert (first["status"], first["model_calls"], len(service.prompts)) == ("budget", 3, 3)
        assert isinstance(of(runs.facts("one"), RunStopped)[-1], RunStopped)
        _, err = await finish(await start(runs, "resume", "one"), code=2)
        assert "3 calls is spent; resume with a larger one" in err
        _, err = await finish(await start(runs, "resume", "one", "--budget-calls", "2"), code=2)
        assert "2 calls is spent" in err
        assert len(service.prompts) == 3
        second = await call(runs, "resume", "one", "--budget-calls", "50", "--set", "budget.proposer.calls=40")
        assert second["status"] == "done"
        assert second["model_calls"] == len(service.prompts) == 7, "p_0, 2 climbs, 3 macros and a crossover, each once"
        assert of(runs.facts("one"), RunResumed)[-1].budgets == {"budget_calls": 50, "budget.proposer.calls": 40}


async def test_wall_time_is_a_budget_of_everything(runs: Runs) -> None:
    result = await call(
        runs, "run", "hanoi-kinematic", "--preset", "paper", "--name", "one", "--evaluator", "reference",
        "--budget-wall-s", "4",
    )
    assert result["status"] == "budget"
    assert 4 <= result["wall_s"] < 30


# ------------------------------------------------------------------------------------ kills and replays


@pytest.mark.timeout(300)
async def test_a_killed_run_pays_for_no_finished_call_twice_and_its_replay_calls_no_service(runs: Runs) -> None:
    held: list[str] = []  # the further question that gets no answer
    holding = asyncio.Event()

    def act(number: int, prompt: str) -> Act:
        climbs = "## What to write: a micro-mutation" in prompt
        if climbs and "Once more" in prompt and not held:
            held.append(prompt)
            holding.set()
            return Act(ending="hang")
        if ('"choice"' in prompt or climbs) and "Once more" not in prompt:      # so that each of them is asked twice
            return Act(text="I like them all.")
        patch = program_reply(f"# patch\nNUMBER = {number}", f"number {number}")
        return Act(text=patch if climbs else sound_reply(number, prompt))

    async with serving(act) as service:
        process = await start(runs, "run", "hanoi-kinematic", *SMALL, "--name", "one", "--model", service.model)
        kills = 0
        # Requests after which the controller is killed; at last it is killed during a further question.
        for enough in (3, 7, 10, None):
            async with asyncio.timeout(50):
                await (holding.wait() if enough is None else service.wait_for_requests(enough))
            started = members_of(process.pid)
            if process.returncode is None:
                process.kill()
                kills += 1
            asked_before = Counter(service.prompts)
            await process.communicate()
            await asyncio.to_thread(wait_until_gone, started)
            process = await start(runs, "resume", "one")
        await finish(process)
        assert kills >= 3
        facts = runs.facts("one")
        calls = Counter(call.prompt.text for fact in of(facts, ProposalMade, ProposalFailed, VoteCast)
                        for call in (*getattr(fact, "earlier", ()), fact.call))
        asked = Counter(service.prompts)
        assert set(calls) <= set(asked)
        (further,) = held
        (first,) = (prompt for prompt in asked if further.startswith(prompt) and prompt != further)
        assert asked[first] == asked_before[first], "the run continues at the further question"
        assert asked[further] == 2
        climbs = [fact for fact in of(facts, ProposalMade) if "/hill/" in str(fact.order)]
        assert climbs
        for fact in climbs:
            assert [each.attempt for each in (*fact.earlier, fact.call)] == [0, 1]
            assert "# patch\nNUMBER = " in fact.call.reply.text
            assert "class FrankaPolicy" in fact.program.text, "the merged program is what is kept"
        # A kill can lose what was in flight, at most `calls_at_once` of each lane; nothing that was committed.
        again = sum(asked.values()) - sum(calls.values())
        assert again <= kills * 16
        before = answered_before_each_resume(facts)
        assert all(count == 1 for count in before.values()), "no order is answered twice"
        total = len(service.prompts)
        replay = await call(runs, "run", "hanoi-kinematic", "--replay", "one", "--name", "again")
        assert len(service.prompts) == total, "a replay calls no service"
    whole = await call(runs, "resume", "one")       # its result once more; the service is gone
    same = ("elite", "fitness", "initial_fitness", "reference_fitness", "candidates", "model_calls", "tokens")
    assert {key: replay[key] for key in same} == {key: whole[key] for key in same}
    assert runs.elite("again") == runs.elite("one")


def answered_before_each_resume(facts: Sequence[Fact]) -> Counter[str | None]:
    return Counter(fact.order for fact in of(facts, ProposalMade, ProposalFailed, VoteCast))


@pytest.mark.timeout(300)
async def test_a_tape_of_another_prompt_and_settings_with_a_replay_are_refused(runs: Runs) -> None:
    whole = await call(runs, "run", "hanoi-kinematic", *SHORT, "--name", "one", "--evaluator", "reference")
    for arguments, words in [
        (["hanoi", "--replay", "one"], "was in the domain 'hanoi-kinematic', not 'hanoi'"),
        (["--replay", "one", "--seed", "7"], "omit --seed"),
        (["--replay", "one", "--set", "k_hc=7"], "omit --set and --config"),
        (["--replay", "two"], "known: one"),
    ]:
        _, err = await finish(await start(runs, "run", *arguments), code=2)
        assert words in err, err
    # The same log with one prompt changed by a letter.
    spoil(runs.folder / "one", runs.folder / "spoilt", "g1/macro/0")
    _, err = await finish(await start(runs, "run", "--replay", "spoilt"), code=3)
    assert "the tape does not fit: the prompt of the order g1/macro/0" in err
    assert whole["status"] == "done"


def spoil(source: Path, target: Path, order: str) -> None:
    """Copy a run, with another prompt on record for one order."""
    with RunStore.read(source) as store:
        facts = list(store.facts())
    with RunStore.create(target, clock=SystemClock()) as store:
        for fact in facts:
            if isinstance(fact, ProposalMade) and fact.order == order:
                fact = replace(fact, call=replace(fact.call, prompt=Document(fact.call.prompt.text + "!")))
            store.append([fact])
