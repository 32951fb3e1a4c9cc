"""The real server in a process, and the official client that talks to it over stdin and stdout."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from ...support.program import PROGRAM

SECONDS = 40        # that a test waits for a run, at most


@dataclass
class Connected:
    """A client with its server."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a tool; the same is in its text."""
        answer = await self.client.call_tool(tool, arguments)
        assert not answer.is_error, answer.content[0].text
        assert json.loads(answer.content[0].text) == answer.structured_content
        return answer.structured_content

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """The sentence with which a tool refuses a call."""
        answer = await self.client.call_tool(tool, arguments)
        assert answer.is_error
        [content] = answer.content
        assert "\n" not in content.text and len(content.text) < 600
        return content.text


@asynccontextmanager
async def connected(folder: Path, *arguments: str, **environment: str) -> AsyncIterator[Connected]:
    """A client of `memento mcp ARGUMENTS`, whose runs are in `folder`/runs."""
    parameters = StdioServerParameters(
        command=sys.executable, args=[*PROGRAM[1:], "mcp", *arguments], cwd=folder,
        env=os.environ | environment,
    )
    with (folder / "server.log").open("w") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            yield Connected(client)
