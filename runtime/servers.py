"""Small read-only web servers, bounded and for this machine: the status of a headless run, the page of a report."""

import asyncio
import json
import logging
import os
import resource
import socket
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

from ..core.errors import MementoError, UsageError
from ..core.values import JSON

if TYPE_CHECKING:
    from aiohttp import web


Handler: TypeAlias = Callable[["web.Request"], Awaitable["web.StreamResponse"]]

CLOSING_S: Final = 0.5          # for open streams to get their last facts: the run's end waits for no viewer
HEAD_S: Final = 5.0             # for a connection to send the head of its first request
KEPT_S: Final = 15.0            # for a connection to send the next one
MOST_CONNECTIONS: Final = 256   # at once, or a quarter of the open files that this process may have
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


class _Refused(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        assert isinstance(transport, asyncio.Transport)
        transport.abort()


class _Door:
    """Makes the protocols of connections: few enough at once, and none that waits for ever for a request's head."""

    def __init__(self, server: "web.Server") -> None:
        self._server = server
        self._most = min(MOST_CONNECTIONS, _open_files() // 4)
        self.backlog = min(100, self._most // 2)    # so many are taken at once, before any can be refused
        self._timers: dict[asyncio.BaseProtocol, asyncio.TimerHandle] = {}

    def __call__(self) -> asyncio.BaseProtocol:
        """The protocol of a new connection."""
        if len(self._server.connections) >= self._most:
            return _Refused()
        handler = self._server()
        self._timers[handler] = asyncio.get_running_loop().call_later(HEAD_S, self._close, handler)
        return handler

    def on_request(self, handler: asyncio.BaseProtocol) -> None:
        """The head of a request came."""
        timer = self._timers.pop(handler, None)
        if timer is not None:
            timer.cancel()

    def _close(self, handler: "web.RequestHandler") -> None:
        self._timers.pop(handler, None)
        if handler.transport is not None:
            handler.transport.abort()

    def close(self) -> None:
        """No timer is left."""
        for timer in self._timers.values():
            timer.cancel()


class Guarded(ABC):
    """A server with some read-only pages. `url` is set by `open_server`."""

    def __init__(self, *, loopback: bool) -> None:
        self.url = ""
        self.door: _Door | None = None
        self._loopback = loopback

    @abstractmethod
    def routes(self) -> Mapping[str, Handler]:
        """The handler of GET for each path."""

    @abstractmethod
    def end(self) -> None:
        """No more will come: open responses may end."""

    def application(self) -> "web.Application":
        """The pages, behind the guard."""
        from aiohttp import web

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            if self.door is not None:
                self.door.on_request(request.protocol)
            # A page in a browser must not reach a loopback server under its own host name.
            if self._loopback and _host(request.headers.get("Host", "")) not in LOOPBACK:
                raise web.HTTPForbidden(text="This server answers to localhost only.\n")
            return await handler(request)

        app = web.Application(middlewares=[guard])
        for path, handler in self.routes().items():
            app.router.add_get(path, handler)
        return app


@asynccontextmanager
async def open_server(server: Guarded, *, host: str, port: int, flag: str) -> AsyncIterator[None]:
    """Serve during the block on this port, 0 for a free one; `flag` is the one that gives it.

    Raises UsageError where the port cannot be had.
    """
    from aiohttp import web

    runner = web.AppRunner(
        server.application(), access_log=None, logger=_malformed_unsaid(), handler_cancellation=True,
        shutdown_timeout=CLOSING_S, keepalive_timeout=KEPT_S,
    )
    await runner.setup()
    assert runner.server is not None
    server.door = _Door(runner.server)
    try:
        try:
            listening = await asyncio.get_running_loop().create_server(
                server.door, host, port, backlog=server.door.backlog
            )
        except OSError as error:
            raise not_free(host, port, error, flag) from None
        bound = listening.sockets[0].getsockname()
        server.url = f"http://{f'[{bound[0]}]' if ':' in bound[0] else bound[0]}:{bound[1]}"
        try:
            yield
        finally:
            listening.close()
    finally:
        server.end()
        server.door.close()
        await runner.cleanup()


def _malformed_unsaid() -> logging.Logger:
    """The log of a server's own failures, without malformed requests: their sender gets "400", and no one is to act."""
    logger = logging.getLogger("memento.web")
    if not logger.filters:
        logger.addFilter(_is_no_bad_request)
    return logger


def _is_no_bad_request(record: logging.LogRecord) -> bool:
    from aiohttp.http_exceptions import HttpProcessingError

    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def not_free(host: str, port: int, error: OSError, flag: str) -> UsageError:
    """Why a server cannot have this port."""
    reason = os.strerror(error.errno) if isinstance(error.errno, int) and error.errno > 0 else error
    what = "the status" if flag == "--status-port" else "the page"
    return UsageError(f"cannot serve {what} on {host}:{port}: {reason}; take another {flag}")


def require_free(host: str, port: int, flag: str) -> None:
    """Raise UsageError where this port cannot be had."""
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except OSError as error:
        raise not_free(host, port, error, flag) from None


def _open_files() -> int:
    """How many files this process may have open."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return soft if soft != resource.RLIM_INFINITY else 4 * MOST_CONNECTIONS


def _host(header: str) -> str:
    """The name in a Host header, without its port."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


# A small read-only web server for one page that changes: a report of runs that go on.
#
# The page is made when somebody asks for it, at most once every RELOAD_S, and only if its sources changed. A browser
# loads it again by itself, so it needs no script. Imports aiohttp only when it is opened.


RELOAD_S: Final = 5.0       # for a browser to load a live page again


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePage:
    """A page as HTML. `live`: its sources may still change, so a browser loads it again."""

    html: str
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSource:
    """`make` makes the page, in another thread; `stamp` is a quick look whose result differs after a change."""

    make: Callable[[], LivePage]
    stamp: Callable[[], object]


class PageServer(Guarded):
    """Serves one page at /. Made by `open_page`."""

    def __init__(self, source: PageSource, *, loopback: bool) -> None:
        super().__init__(loopback=loopback)
        self._source = source
        self._making = asyncio.Lock()
        self._page: LivePage | None = None
        self._stamp: object = None
        self._due = 0.0

    def routes(self) -> Mapping[str, Handler]:
        """The page alone."""
        return {"/": self._serve}

    def end(self) -> None:
        """No response stays open, so there is nothing to end."""

    async def _serve(self, request: "web.Request") -> "web.StreamResponse":
        from aiohttp import web

        try:
            page = await self._current()
        except MementoError as error:
            raise web.HTTPServiceUnavailable(text=f"{error}\n", headers={"Refresh": f"{RELOAD_S:g}"}) from None
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        if page.live:
            headers["Refresh"] = f"{RELOAD_S:g}"
        body = page.html.encode("utf-8", "backslashreplace")
        return web.Response(body=body, content_type="text/html", charset="utf-8", headers=headers)

    async def _current(self) -> LivePage:
        """The page, made again if it is due and its sources changed. Many askers wait for one making."""
        async with self._making:
            if self._page is not None and time.monotonic() < self._due:
                return self._page
            stamp = await asyncio.to_thread(self._source.stamp)
            if self._page is None or stamp != self._stamp:
                self._page = await asyncio.to_thread(self._source.make)
                self._stamp = stamp     # taken before: a change during the making is seen the next time
            self._due = time.monotonic() + RELOAD_S
            return self._page


@asynccontextmanager
async def open_page(source: PageSource, *, host: str, port: int) -> AsyncIterator[PageServer]:
    """Serve the page on this port, 0 for a free one. Raises UsageError where the port cannot be had."""
    server = PageServer(source, loopback=host in LOOPBACK)
    async with open_server(server, host=host, port=port, flag="--port"):
        yield server


# A small read-only web server that tells how a headless run is going: /status, /facts (live) and /metrics.
#
# Imports aiohttp only when it is opened. What it serves is handed in: it knows no store and no search.


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


class StatusServer(Guarded):
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
