"""A run outlasts the death of its model's server: the process is killed and started again while the run goes on."""

import asyncio
import os
import random
import socket
import sys
from collections import Counter
from pathlib import Path

import pytest
from memento.core.events import ProposalFailed, ProposalMade, ServiceNoted
from memento.domains import load
from memento.memory.spending import list_calls
from memento.memory.store import RunStore

from ..support import killed_server
from .conftest import Runs
from .served import SHORT, finish, of, start

KILLS = int(os.environ.get("MEMENTO_TEST_KILLS", "3"))
DEADLINE_S = 240 + 60 * KILLS


@pytest.mark.slow
@pytest.mark.nightly
async def test_a_run_loses_no_slot_and_pays_nothing_twice_while_its_server_is_killed(
    runs: Runs, tmp_path: Path
) -> None:
    program, answered = tmp_path / "program.py", tmp_path / "answered.txt"
    shelf = load("hanoi-kinematic").shelf()
    assert shelf is not None
    program.write_text(shelf.initial.text)
    answered.touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def serve() -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, killed_server.__file__, str(port), str(program), str(answered)
        )
        for _ in range(600):
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return process
        raise AssertionError("the server did not start")

    draw = random.Random(7)
    server = await serve()
    run = await start(
        runs, "run", "hanoi-kinematic", *SHORT, "--evaluator", "reference", "--name", "killed",
        "--set", f"generations={2 + KILLS}", "--set", "k_macro=3",
        "--model", f"compatible:lab@http://127.0.0.1:{port}/v1#m",
    )
    ended = asyncio.create_task(finish(run, within_s=DEADLINE_S))
    try:
        kills = 0
        while not ended.done() and kills < KILLS:
            before = answered.read_text().count("\n")
            for _ in range(1200):       # the next kill meets a run that is at work again
                if ended.done() or answered.read_text().count("\n") > before:
                    break
                await asyncio.sleep(0.1)
            await asyncio.wait([ended], timeout=draw.uniform(0.0, 1.5))
            server.kill()
            await server.wait()
            kills += 1
            await asyncio.wait([ended], timeout=draw.uniform(1.0, 7.0))
            server = await serve()
        await ended
    finally:
        server.kill()
        await server.wait()
    with RunStore.read(runs.folder / "killed") as store:
        facts = tuple(store.facts())
    assert kills == KILLS, "the run was over before"
    assert not [fact.fault.message for fact in of(facts, ProposalFailed)]
    calls = Counter(row.call.prompt.digest for row in list_calls(facts))
    assert calls.total() == len(of(facts, ProposalMade))
    served = Counter(answered.read_text().split())
    assert not served - calls, "every answer that was sent is in the log, once"
    assert {fact.event for fact in of(facts, ServiceNoted)} <= {"lost", "back"}
