"""The status server over real sockets: its answers, and that no client can delay the run."""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from memento.core.errors import UsageError
from memento.runtime import servers
from memento.runtime import status_server as status
from memento.runtime.servers import require_free
from memento.runtime.status_server import FactLine, StatusServer, StatusSource, open_status, prometheus

pytestmark = pytest.mark.quick


class Log:
    """The facts so far; the server gets each fact after it is stored, as in a run."""

    def __init__(self, count: int = 0) -> None:
        self.lines = [line(seq) for seq in range(1, count + 1)]
        self.server: StatusServer | None = None

    def after(self, seq: int) -> Iterator[FactLine]:
        return iter(self.lines[seq:])

    def add(self, size: int = 0) -> None:
        self.lines.append(line(len(self.lines) + 1, size))
        assert self.server is not None
        self.server.on_fact(self.lines[-1])


def line(seq: int, size: int = 0) -> FactLine:
    return FactLine(seq=seq, kind="ProposalMade", json=json.dumps({"seq": seq, "text": "x" * size}))


@asynccontextmanager
async def served(log: Log) -> AsyncIterator[StatusServer]:
    source = StatusSource(
        status=lambda: {"facts": len(log.lines), "stage": "search"},
        metrics=lambda: {"memento_facts_total": len(log.lines), 'memento_lane_busy{lane="rollouts"}': 2},
        after=log.after,
    )
    async with open_status(source, host="127.0.0.1", port=0) as server:
        log.server = server
        yield server


@asynccontextmanager
async def listening(server: StatusServer, **headers: str) -> AsyncIterator[aiohttp.ClientResponse]:
    async with aiohttp.ClientSession() as session, session.get(f"{server.url}/facts", headers=headers) as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
        yield response


async def events(response: aiohttp.ClientResponse, count: int) -> list[int]:
    """The numbers of the next facts."""
    seen: list[int] = []
    async with asyncio.timeout(20):
        while len(seen) < count:
            fields = dict(
                row.split(": ", 1) for row in (await block(response)).splitlines() if row and not row.startswith(":")
            )
            if fields:
                assert fields["event"] == "ProposalMade"
                assert json.loads(fields["data"])["seq"] == int(fields["id"])
                seen.append(int(fields["id"]))
    return seen


async def block(response: aiohttp.ClientResponse) -> str:
    return (await response.content.readuntil(b"\n\n")).decode()


async def test_status_and_metrics() -> None:
    async with served(Log(3)) as server, aiohttp.ClientSession() as session:
        async with session.get(f"{server.url}/status") as response:
            assert await response.json() == {"facts": 3, "stage": "search"}
        async with session.get(f"{server.url}/metrics") as response:
            assert response.content_type == "text/plain"
            assert await response.text() == (
                "# TYPE memento_facts_total counter\nmemento_facts_total 3\n"
                '# TYPE memento_lane_busy gauge\nmemento_lane_busy{lane="rollouts"} 2\n'
            )


async def test_facts_from_the_log_and_then_live_each_once_and_in_order() -> None:
    log = Log(status.CHUNK * 2 + 5)
    async with served(log) as server, listening(server) as response:
        had = len(log.lines)
        assert await events(response, had) == list(range(1, had + 1))
        for _ in range(3):
            log.add()
        assert await events(response, 3) == [had + 1, had + 2, had + 3]


async def test_a_listener_goes_on_from_the_last_event_that_it_had() -> None:
    log = Log(10)
    async with served(log) as server, listening(server, **{"Last-Event-ID": "7"}) as response:
        assert await events(response, 3) == [8, 9, 10]
        log.add()
        assert await events(response, 1) == [11]


async def test_the_end_of_a_run_gives_the_last_facts_and_waits_for_nobody() -> None:
    log = Log(2)
    async with served(log) as server:
        async with listening(server) as response:
            assert await events(response, 2) == [1, 2]
            log.add()
            server.end()
            rest = (await response.content.read()).decode()
        assert "id: 3\n" in rest
    async with served(Log(1)) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        writer.write(b"GET /facts HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"id: 1\n")
        began_s = time.monotonic()
    assert time.monotonic() - began_s < 10, "a silent viewer does not keep the run from ending"
    writer.close()


@pytest.mark.slow
async def test_a_slow_listener_is_dropped_and_never_slows_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "WRITE_S", 2.0)    # the quick one keeps within it on a busy machine too
    log = Log()
    async with served(log) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]), limit=1024)
        writer.write(b"GET /facts HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await reader.readuntil(b": facts of this run\n\n")
        async with listening(server) as quick:
            for _ in range(100):
                log.add(size=300_000)       # more than sockets buffer; the slow client reads none of it
                await asyncio.sleep(0)
            assert await events(quick, 100) == list(range(1, 101))
            async with asyncio.timeout(20):
                while len(server._clients) > 1:     # noqa: ASYNC110 - the server has no event for this
                    await asyncio.sleep(0.02)
            log.add()
            assert await events(quick, 1) == [101]
        writer.close()


async def test_a_listener_whose_queue_is_full_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "QUEUE", 5)
    log = Log()
    async with served(log) as server, listening(server) as response:
        await block(response)
        for _ in range(20):      # without a moment for the server to send any
            log.add()
        with pytest.raises((aiohttp.ClientPayloadError, asyncio.IncompleteReadError, aiohttp.ClientError)):
            await events(response, 20)


@pytest.mark.parametrize(
    ("path", "method", "headers", "code"),
    [
        ("/status", "GET", {"Host": "evil.example"}, 403),
        ("/status", "GET", {"Host": "localhost:1"}, 200),
        ("/status", "GET", {"Host": "localhost:1'><script>"}, 403),
        ("/status", "GET", {"Origin": "http://localhost:1"}, 403),
        ("/facts", "GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "empty"}, 403),
        ("/status", "POST", {}, 405),
        ("/facts", "DELETE", {}, 405),
        ("/facts", "GET", {"Last-Event-ID": "x"}, 400),
        ("/", "GET", {}, 404),
    ],
)
async def test_it_only_tells_and_only_this_machine(
    path: str, method: str, headers: dict[str, str], code: int
) -> None:
    async with (
        served(Log()) as server,
        aiohttp.ClientSession() as session,
        session.request(method, server.url + path, headers=headers) as response,
    ):
        assert response.status == code
        assert "Access-Control-Allow-Origin" not in response.headers


async def test_a_port_that_is_taken_is_named() -> None:
    async with served(Log()) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}: .*--status-port"):
            require_free("127.0.0.1", port, "--status-port")
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}"):
            async with open_status(StatusSource(status=dict, metrics=dict, after=lambda _: ()), host="127.0.0.1",
            port=port):
                pass


def test_the_text_of_metrics_is_one_number_a_line() -> None:
    assert prometheus({"a_total": 1.5}) == "# TYPE a_total counter\na_total 1.5\n"


async def test_connections_are_few_and_none_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that never finish a request's head are refused above a bound, and closed after a time."""
    monkeypatch.setattr(servers, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(servers, "HEAD_S", 0.5)
    async with served(Log(3)) as server:
        host, port = server.url.removeprefix("http://").split(":")
        slow = [await asyncio.open_connection(host, int(port)) for _ in range(60)]
        try:
            for _, writer in slow:
                with contextlib.suppress(ConnectionError):
                    writer.write(b"GET /status HTTP/1.1\r\nHost: localhost\r\nX: ")
            refused = 0
            async with asyncio.timeout(20):
                for reader, _ in slow:
                    with contextlib.suppress(ConnectionError):
                        assert await reader.read() == b""
                    refused += 1
            assert refused == 60, "all are closed"
            async with aiohttp.ClientSession() as session, session.get(f"{server.url}/status") as response:
                assert await response.json() == {"facts": 3, "stage": "search"}
        finally:
            for _, writer in slow:
                writer.close()


FEW_FILES = """
import asyncio, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
from memento.runtime.status_server import StatusSource, open_status

async def main():
    source = StatusSource(status=lambda: {"alive": True}, metrics=dict, after=lambda seq: ())
    async with open_status(source, host="127.0.0.1", port=0) as server:
        print(server.url, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)

asyncio.run(main())
"""


@pytest.mark.slow
async def test_more_connections_than_open_files_leave_it_alive() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FEW_FILES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    host, port = url.removeprefix("http://").split(":")
    slow = []
    for _ in range(130):
        with contextlib.suppress(ConnectionError):
            slow.append(await asyncio.open_connection(host, int(port)))
    for _, writer in slow:
        with contextlib.suppress(ConnectionError):
            writer.write(b"GET /status HTTP/1.1\r\n")
    await asyncio.sleep(servers.HEAD_S + 1)
    async with aiohttp.ClientSession() as session, session.get(f"{url}/status") as response:
        assert await response.json() == {"alive": True}
    for _, writer in slow:
        writer.close()
    _, errors = await process.communicate(b"")
    assert errors == b""
    assert process.returncode == 0


async def test_a_malformed_request_gets_400_and_no_line_of_the_runs_output(caplog: pytest.LogCaptureFixture) -> None:
    async with served(Log()) as server:
        host, port = "127.0.0.1", int(server.url.rpartition(":")[2])
        for request in (
            b"GET /status HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            b"GET /" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /status HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 20_000 + b"\r\n\r\n",
            b"\x00\xff\r\n\r\n", b"GET /status HTTP/9.9\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        ):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(request)
            assert (await asyncio.wait_for(reader.readline(), 30)).startswith(b"HTTP/1.0 400"), request[:40]
            writer.close()
    assert not caplog.records
