"""A small read-only web server that tells how a headless run is going: /status, /facts (live) and /metrics.

Imports aiohttp only when it is opened. What it serves is handed in: it knows no store and no search.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from ..core.values import JSON
from .servers import LOOPBACK, GuardedServer, Handler, open_server

if TYPE_CHECKING:
    from aiohttp import web

QUEUE: Final = 1000             # facts that may wait for one client
CHUNK: Final = 200              # facts read from the log at a time, so that a long backlog never holds the run up
WRITE_S: Final = 10.0           # a client that takes nothing for so long is dropped
QUIET_S: Final = 15.0           # after so long without a fact a comment shows that the stream lives


@dataclass(frozen=True, slots=True, kw_only=True)
class FactLine:
    """One committed fact as it is sent: its place in the log, its class, and one line of JSON."""

    seq: int
    kind: str
    json: str

    def event(self) -> bytes:
        """The server-sent event."""
        return f"id: {self.seq}\nevent: {self.kind}\ndata: {self.json}\n\n".encode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSource:
    """What a status server tells.

    `status` gives the object of /status, `metrics` the numbers of /metrics (name with labels -> value),
    `after` the facts of the log after a place, oldest first.
    """

    status: Callable[[], Mapping[str, JSON]]
    metrics: Callable[[], Mapping[str, float]]
    after: Callable[[int], Iterable[FactLine]]


@dataclass(slots=True, kw_only=True, eq=False)
class _Client:
    """A listener to /facts. `lost`: it was too slow, and is dropped."""

    waiting: deque[FactLine] = field(default_factory=deque)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    lost: bool = False

    def put(self, line: FactLine) -> None:
        if len(self.waiting) >= QUEUE:
            self.lost = True
            self.waiting.clear()
        elif not self.lost:
            self.waiting.append(line)
        self.news.set()


class StatusServer(GuardedServer):
    """Serves one run. Made by `open_status`."""

    def __init__(self, source: StatusSource, *, loopback: bool) -> None:
        super().__init__(loopback=loopback)
        self._source = source
        self._clients: set[_Client] = set()
        self._over = False

    def on_fact(self, line: FactLine) -> None:
        """A fact was committed. Quick, whatever the clients do."""
        for client in self._clients:
            client.put(line)

    def end(self) -> None:
        """No more facts will come."""
        self._over = True
        for client in self._clients:
            client.news.set()

    def routes(self) -> Mapping[str, Handler]:
        """The three pages."""
        return {"/status": self._status, "/metrics": self._metrics, "/facts": self._facts}

    async def _status(self, request: "web.Request") -> "web.StreamResponse":
        from aiohttp import web

        return web.json_response(dict(self._source.status()))

    async def _metrics(self, request: "web.Request") -> "web.StreamResponse":
        from aiohttp import web

        return web.Response(
            text=prometheus(self._source.metrics()),
            headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
        )

    async def _facts(self, request: "web.Request") -> "web.StreamResponse":
        from aiohttp import web

        given = request.headers.get("Last-Event-ID", "0").strip()
        if not (given.isascii() and given.isdecimal() and len(given) < 19):
            raise web.HTTPBadRequest(text="Last-Event-ID must be the number of a fact.\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        client = _Client()
        self._clients.add(client)
        try:
            await response.prepare(request)
            async with aclosing(self._stream(client, int(given))) as pieces:
                async for piece in pieces:
                    async with asyncio.timeout(WRITE_S):
                        await response.write(piece)
        except (TimeoutError, ConnectionError):
            client.lost = True
        finally:
            self._clients.discard(client)
        if client.lost and request.transport is not None:
            request.transport.abort()   # what is unsent must not be waited for
        return response

    async def _stream(self, client: _Client, seq: int) -> AsyncGenerator[bytes, None]:
        """What is in the log after `seq`, then what comes, until the run is over or the client is lost."""
        yield b": facts of this run\n\n"
        while not client.lost:
            # The log is ahead of what waits here, or level with it: a fact is committed before it is shown.
            lines = _some(self._source.after(seq))
            for line in lines:
                yield line.event()
                seq = line.seq
            if len(lines) < CHUNK:
                break
        while not client.lost:
            while client.waiting and not client.lost:
                line = client.waiting.popleft()
                if line.seq > seq:
                    yield line.event()
                    seq = line.seq
            if self._over and not client.waiting:
                return
            client.news.clear()
            if client.waiting or self._over:
                continue
            try:
                async with asyncio.timeout(QUIET_S):
                    await client.news.wait()
            except TimeoutError:
                yield b": still here\n\n"


@asynccontextmanager
async def open_status(source: StatusSource, *, host: str, port: int) -> AsyncIterator[StatusServer]:
    """Serve `source` on this port, 0 for a free one. Raises UsageError where the port cannot be had."""
    server = StatusServer(source, loopback=host in LOOPBACK)
    async with open_server(server, host=host, port=port, flag="--status-port"):
        yield server


def prometheus(values: Mapping[str, float]) -> str:
    """The text format of Prometheus: one line a number, after the type of each name. `_total` names count up."""
    lines: list[str] = []
    typed: set[str] = set()
    for name, value in values.items():
        family = name.partition("{")[0]
        if family not in typed:
            typed.add(family)
            lines.append(f"# TYPE {family} {'counter' if family.endswith('_total') else 'gauge'}")
        lines.append(f"{name} {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def _some(lines: Iterable[FactLine]) -> list[FactLine]:
    return list(islice(lines, CHUNK))
