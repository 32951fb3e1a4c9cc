"""A run of the real program, followed over HTTP: the status agrees with the log."""

import asyncio
import json
import sys
from pathlib import Path

import aiohttp
import pytest
from memento.memory.store import RunStore


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_run_tells_every_fact_its_spend_and_its_progress(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "memento", "run", "hanoi-kinematic", "--preset", "smoke", "--status-port", "0",
        "--set", "hanoi-kinematic.horizon=20", "--name", "one", "--runs", str(tmp_path), "--display", "none",
        "--budget-calls", "500",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )
    assert process.stderr is not None
    async with asyncio.timeout(250):
        first = (await process.stderr.readline()).decode().strip()
        assert first.startswith("memento: status at http://127.0.0.1:"), first
        url = first.rpartition("/")[0].rpartition(" ")[2]
        async with aiohttp.ClientSession() as session, session.get(f"{url}/facts") as response:
            async with session.get(f"{url}/status") as page:
                status = await page.json()
            async with session.get(f"{url}/metrics") as page:
                metrics = await page.text()
            stream = (await response.content.read()).decode()
        await process.communicate()
    assert process.returncode == 0
    facts = [json.loads(row.removeprefix("data: ")) for row in stream.splitlines() if row.startswith("data: ")]
    with RunStore.read(tmp_path / "one") as store:
        kept = [(entry.seq, type(entry.fact).__name__, entry.fact.order) for entry in store.facts_after(0)]
    assert [(fact["seq"], fact["kind"], fact["order"]) for fact in facts] == kept
    assert status["domain"] == "hanoi-kinematic"
    assert status["status"] == "running"
    assert status["candidates_expected"] == 3
    assert status["spend"]["left"]["calls"] <= 500
    assert set(status["lanes"]) == {"proposals", "judges", "rollouts"}
    assert "memento_candidates_expected 3" in metrics
