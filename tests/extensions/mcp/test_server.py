"""`memento mcp` in a real process, through the official client."""

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from mcp.server.mcpserver.exceptions import ToolError
from memento.cli import exit_code
from memento.extensions.mcp import server
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ...support.language_server import KEY, serving
from ...support.processes import members_of, start_process, wait_until_gone
from ...support.program import PROGRAM
from ...support.story import STORY
from .connected import SECONDS, connected

pytestmark = pytest.mark.quick

TINY = {"domain": "hanoi-kinematic", "preset": "smoke", "workers": 1}


@pytest.mark.slow
async def test_an_agent_starts_a_run_follows_it_and_reads_it(tmp_path: Path) -> None:
    before = members_of(os.getpid())
    async with connected(tmp_path) as memento:
        tools = {tool.name: tool for tool in (await memento.client.list_tools()).tools}
        assert {"list_runs", "show_run", "diff_candidate", "report", "start_run", "stop_run", "give_hint"} <= set(tools)
        assert all(tool.description and "\n    " not in tool.description for tool in tools.values())
        assert tools["show_run"].annotations.read_only_hint and not tools["start_run"].annotations.read_only_hint
        assert "hanoi" in (await memento.call("list_choices"))["domains"]

        begun = await memento.call("start_run", **TINY, name="one", settings={"options.randomisation": "none"})
        assert begun["run"] == "one" and begun["budgets"] == {}
        shown = await memento.call("show_run", run="one", wait_s=SECONDS)
        assert shown["status"] == "done" and shown["model"] == "offline" and shown["cost_usd"] == 0
        assert shown["settings"]["options"]["randomisation"] == "none"
        listed = await memento.call("list_runs")
        assert [(row["run"], row["state"]) for row in listed["rows"]] == [("one", "done")]

        first = await memento.call("list_candidates", run="one", limit=1)
        rest = await memento.call("list_candidates", run="one", offset=first["next_offset"])
        names = [row["id"] for row in (*first["rows"], *rest["rows"])]
        assert len(names) == first["all"] == shown["candidates"] + 1 and shown["elite"] in names
        assert all("summary" not in row for row in rest["rows"])
        changed = await memento.call("diff_candidate", run="one", candidate="g1/hill/0")
        assert changed["against"] == names[0]
        assert changed["added"] == sum(line[0] == "+" for line in changed["untrusted"]["text"].splitlines())
        code = await memento.call("read_candidate", run="one", candidate="p_0")
        assert "class FrankaPolicy" in code["untrusted"]["text"] and code["next_offset"] is None
        metrics = await memento.call("show_metrics", run="one", candidate="g1/hill/0")
        assert metrics["untrusted"]["metrics"][0].keys() == {"name", "value", "before"}
        assert (await memento.call("show_candidate", run="one", candidate="eval/g0/0"))["kind"] == "evaluator"

        report = await memento.call("report", runs=["one"], page="one.html")
        assert report["groups"][0]["arms"][0]["held_out"] and (tmp_path / "runs" / "one.html").stat().st_size > 5000
        assert "already" in await memento.refusal("report", runs=["one"], page="one.html")

        await memento.call("start_run", **TINY, name="long", settings={"generations": 500})
        assert "offline model, which reads no prompt" in await memento.refusal("give_hint", run="long", text="lift")
        await memento.call("stop_run", run="long")
        assert (await memento.call("show_run", run="long", wait_s=SECONDS))["status"] == "stopped"
        await memento.call("resume_run", run="long")
        await memento.call("stop_run", run="long")
        assert (await memento.call("show_run", run="long", wait_s=SECONDS))["status"] == "stopped"
        started = members_of(os.getpid()) - before
        assert started
    wait_until_gone(started)


@pytest.mark.slow
async def test_what_is_wrong_with_a_call_is_a_sentence_and_starts_nothing(tmp_path: Path) -> None:
    async with connected(tmp_path) as memento:
        for words, arguments in {
            "may spend nothing": {**TINY, "model": "anthropic:claude"},
            "the argument seed of start_run: input should be a valid integer": {**TINY, "seed": "many"},
            "did you mean 'hanoi'": {**TINY, "domain": "hanoy"},
            "unknown argument of start_run 'sead': did you mean 'seed'": {**TINY, "sead": 1},
            "did you mean 'k_hc'": {**TINY, "settings": {"k_hcc": 1}},
            "has its own argument": {**TINY, "settings": {"model": "offline"}},
            "prices decide": {**TINY, "settings": {"prices.offline": 0}},
            "names a file": {**TINY, "settings": {"initial": "policy.py"}},
            "imports code that does not come with MEMENTO": {**TINY, "domain": "os:path"},
            "'../x' cannot name a run": {**TINY, "name": "../x"},
            "has no effect with the offline model": {**TINY, "budget_usd": 1.0},
            "is too much for this machine": {**TINY, "workers": 256},
            "waits for a person": {**TINY, "judges": ["ask"], "model": "offline"},
        }.items():
            assert words in await memento.refusal("start_run", **arguments)
        assert "imports code" in await memento.refusal("start_run", domain="gym:CartPole-v1")
        assert "start the program" in await memento.refusal(
            "start_run", domain="kitchen", settings={"options.backend": "unity", "options.unity_build": "/bin/true"}
        )
        assert "no run 'one': there are no runs" in await memento.refusal("show_run", run="one")
        assert "is a path" in await memento.refusal("show_run", run="../runs/one")
        assert "less than or equal to 50" in await memento.refusal("show_run", run="one", wait_s=1e9)
        assert "did you mean 'show_run'" in await memento.refusal("show_runs")
        assert (await memento.call("list_runs"))["rows"] == []
    assert not (tmp_path / "runs").exists() or not [*(tmp_path / "runs").iterdir()]


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_spending_is_bounded_over_all_runs_of_a_server(tmp_path: Path) -> None:
    async with serving() as service:
        short = {"generations": 9, "evaluator": "reference", "options.horizon": 20}
        paid = {**TINY, "model": service.model, "settings": short}
        bounds = ("--allow-spending", "--model", service.model, "--model", "anthropic:x", "--budget-calls", "4")
        async with connected(tmp_path, *bounds, LAB_API_KEY=KEY, NO_PROXY="*") as memento:
            other = {**paid, "model": "openai:x"}
            assert "may not ask the model 'openai:x'" in await memento.refusal("start_run", **other)
            assert "ask for at most 4" in await memento.refusal("start_run", **paid, budget_calls=5)
            keyless = {**paid, "model": "anthropic:x", "name": "keyless"}
            assert "needs a key in the environment variable ANTHROPIC" in await memento.refusal("start_run", **keyless)
            assert (await memento.call("list_runs"))["rows"] == []
            begun = await memento.call("start_run", **paid, name="one", budget_calls=1)
            assert begun["budgets"] == {"budget_calls": 1}
            shown = await memento.call("show_run", run="one", wait_s=SECONDS)
            assert (shown["status"], shown["model_calls"]) == ("out of budget", 1)
            assert (await memento.call("give_hint", run="one", text="keep the wrist level"))["live"] is False
            assert "is spent" in await memento.refusal("resume_run", run="one")
            assert "ask for at most 4" in await memento.refusal("resume_run", run="one", budget_calls=5)
            again = await memento.call("resume_run", run="one", budget_calls=4)
            assert again["budgets"] == {"budget_calls": 4}
            shown = await memento.call("show_run", run="one", wait_s=SECONDS)
            assert (shown["status"], shown["model_calls"], shown["hints"]) == ("out of budget", 4, 1)
            assert "calls are spent" in await memento.refusal("start_run", **paid)
            assert "calls are spent" in await memento.refusal("resume_run", run="one", budget_calls=5)
            assert len(service.prompts) == 4 and "keep the wrist level" in service.prompts[-1]


def served(folder: Path) -> "subprocess.Popen[str]":
    return start_process(
        [*PROGRAM, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def ask(process: "subprocess.Popen[str]", number: int, method: str, **parameters: object) -> None:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


@pytest.mark.slow
def test_the_server_ends_with_its_client_also_during_a_call(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "runs" / "one", clock=SystemClock()) as store:      # live: this test writes it
        store.append(STORY)
        process = served(tmp_path)
        ask(process, 1, "initialize", protocolVersion="2025-06-18", capabilities={},
            clientInfo={"name": "test", "version": "1"})
        assert "MEMENTO" in process.stdout.readline()
        process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        ask(process, 2, "tools/call", name="show_run", arguments={"run": "one", "wait_s": 50})
        process.stdin.close()
        assert process.wait(30) == 0, process.stderr.read()     # before the call would have ended
        assert "Traceback" not in process.stderr.read()


async def test_a_call_ends_at_its_deadline_and_its_work_counts_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "DEADLINE_S", 0.05)
    calls, held = threading.BoundedSemaphore(1), threading.Event()

    def slow() -> dict[str, bool]:
        return {"done": held.wait(30)}

    tool = server._bounded(slow, calls)
    with pytest.raises(ToolError, match="no answer within"):
        await tool()
    with pytest.raises(ToolError, match="wait until one of them"):
        await tool()
    held.set()
    assert calls.acquire(timeout=30)


@pytest.mark.slow
def test_a_client_that_sends_no_json_gets_an_answer_to_what_follows(tmp_path: Path) -> None:
    process = served(tmp_path)
    process.stdin.write("hello\n\x00\n[1]\n")
    ask(process, 1, "ping")
    answers = iter(process.stdout.readline, "")
    assert any(json.loads(line).get("id") == 1 for line in answers)
    process.stdin.close()
    assert process.wait(30) == 0


def test_the_command_line_of_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["mcp", "--skill"]) == 0
    skill = capsys.readouterr().out
    assert skill.startswith("---\nname: memento\n") and "untrusted" in skill
    for words, arguments in {
        "--allow-spending needs the models": ["--allow-spending"],
        "--allow-spending needs a bound": ["--allow-spending", "--model", "offline"],
        "--budget-usd has no effect without --allow-spending": ["--budget-usd", "3"],
        "--model has no effect without --allow-spending": ["--model", "offline"],
        "unknown model": ["--allow-spending", "--model", "x", "--budget-calls", "3"],
    }.items():
        assert exit_code(["mcp", *arguments]) == 2
        said = capsys.readouterr()
        assert words in said.err and said.out == ""
