"""Runs of the real program against a language server of the test's own event loop."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence

from memento.core.events import Fact

from ..support.language_server import KEY
from .conftest import Runs

SHORT = ["--preset", "smoke", "--seed", "5", "--set", "hanoi-kinematic.horizon=20", "--workers", "2"]


async def start(runs: Runs, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "memento", *arguments, "--runs", str(runs.folder),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=os.environ | {"LAB_API_KEY": KEY},
        start_new_session=True,
    )


async def finish(process: asyncio.subprocess.Process, *, code: int = 0, within_s: float = 150) -> tuple[str, str]:
    async with asyncio.timeout(within_s):
        out, err = await process.communicate()
    assert process.returncode == code, err.decode()
    return out.decode(), err.decode()


async def call(runs: Runs, *arguments: str, within_s: float = 150) -> dict:
    out, _ = await finish(await start(runs, *arguments, "--json"), within_s=within_s)
    return json.loads(out.splitlines()[-1])


def of(facts: Sequence[Fact], *kinds: type) -> list:
    return [fact for fact in facts if isinstance(fact, kinds)]
