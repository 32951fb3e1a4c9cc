"""Hostile arguments in every tool of `memento mcp`: each call ends as an answer or as one sentence."""

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from memento.cli import exit_code

from .connected import Connected, connected

DEEP: object = "x"
for _ in range(60):
    DEEP = [DEEP]
HOSTILE: tuple[object, ...] = (
    "a\ud7ff\ufffe", "\U0001f600" * 50, "a\0b", "../../etc", "/etc/passwd", "x" * 100_000, "\x1b[2J\r\n", "",
    "\u202etxt", "-1", 10**30, -(10**18), 1e308, True, None, [], ["one", ["one"]], {"a": {"b": "c"}}, DEEP, "nan",
)
USUAL = {"run": "one", "candidate": "p_0", "runs": ["one"], "text": "lift"}
KNOWN = ("fault of MEMENTO", "Traceback", "Error:")


async def tried(memento: Connected, tool: str, arguments: dict[str, object]) -> str:
    """The text of the answer, or of the refusal, which is one line."""
    answer = await memento.client.call_tool(tool, arguments)
    [content] = answer.content
    text = str(content.text)
    if answer.is_error:
        assert "\n" not in text and len(text) <= 2000, (tool, arguments)
    return text


async def tried_everything(folder: Path) -> None:
    async with connected(folder) as memento:
        tools = {tool.name: tool.input_schema["properties"] for tool in (await memento.client.list_tools()).tools}
        assert len(tools) >= 12
        for tool, arguments in tools.items():
            for name in arguments:
                for value in HOSTILE:
                    given = {key: usual for key, usual in USUAL.items() if key in arguments} | {name: value}
                    if tool == "start_run":
                        given |= {} if name == "domain" else {"domain": "no such domain"}
                    text = await tried(memento, tool, given)
                    assert not [word for word in KNOWN if word in text], (tool, name, value, text[:300])
        assert [row["run"] for row in (await memento.call("list_runs"))["rows"]] == ["one"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_argument_of_every_tool(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    run = ["run", "hanoi-kinematic", "--preset", "smoke", "--workers", "1", "--name", "one", "--display", "none"]
    assert exit_code([*run, "--runs", str(runs)]) == 0
    before = sorted(path.name for path in runs.iterdir())
    asyncio.run(tried_everything(tmp_path))
    assert sorted(path.name for path in runs.iterdir() if path.suffix != ".html") == before, "nothing was started"
    assert "Traceback" not in (tmp_path / "server.log").read_text()
