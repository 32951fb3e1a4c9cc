"""A connection through ray:// whose head fails to start its process for the client: tried again, then refused."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from memento.core.errors import UsageError
from memento.extensions.ray import link

from ...support.ray_cluster import needs_ray

pytestmark = needs_ray

# A gateway in a real process, to which Ray said that it failed until a number of tries were made.
GATEWAY = """
import asyncio, pathlib, socket, sys
from memento.runtime.rollouts import worker_messages as messages

tried, failures = pathlib.Path(sys.argv[1]), int(sys.argv[2])

async def main():
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=int(sys.argv[3])))
    request, _ = await messages.MessageReader(reader).read_with_blob()
    tried.write_text(tried.read_text() + "x")
    failed = "RuntimeError: Starting Ray client server failed. See ray_client_server_23000.err for detailed logs."
    answer = {"error": failed} if len(tried.read_text()) <= failures else {"nodes": []}
    writer.write(messages.pack({**answer, "re": request["number"]}, b""))
    await writer.drain()
    await reader.read()

asyncio.run(main())
"""


@pytest_asyncio.fixture
async def address() -> AsyncIterator[str]:
    """Something that listens, as a head does."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        yield f"ray://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.slow
@pytest.mark.parametrize(("failures", "tries"), [(0, 1), (1, 2), (link.CONNECT_TRIES, link.CONNECT_TRIES)])
async def test_a_head_that_fails_to_start_a_client_is_tried_again(
    address: str, failures: int, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = tmp_path / "tried"
    tried.write_text("")
    command = [sys.executable, "-c", GATEWAY, str(tried), str(failures)]
    monkeypatch.setattr(link, "module_command", lambda _: command)
    if failures < link.CONNECT_TRIES:
        async with link.ClusterLink(address) as opened:
            assert opened.nodes == ()
    else:
        with pytest.raises(UsageError, match=f"could not start its part for this client, {tries} times"):
            async with link.ClusterLink(address):
                raise AssertionError("connected")
    assert len(tried.read_text()) == tries
