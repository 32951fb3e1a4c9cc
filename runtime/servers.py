"""What small read-only web servers of this machine share: bounded connections, and an answer to this machine alone."""

import asyncio
import logging
import os
import re
import resource
import socket
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

from ..core.errors import UsageError

if TYPE_CHECKING:
    from aiohttp import web


Handler: TypeAlias = Callable[["web.Request"], Awaitable["web.StreamResponse"]]

CLOSING_S: Final = 0.5          # for open streams to get their last facts: the run's end waits for no viewer
HEAD_S: Final = 5.0             # for a connection to send the head of its first request
KEPT_S: Final = 15.0            # for a connection to send the next one
MOST_CONNECTIONS: Final = 256   # at once, or a quarter of the open files that this process may have
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
OWN_HOST: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?")    # any port: a tunnel leads here


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


class GuardedServer(ABC):
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
            if self._loopback and not OWN_HOST.fullmatch(request.headers.get("Host", "")):
                raise web.HTTPForbidden(text="This server answers to localhost only.\n")
            if _asks_for_another_page(request.headers):
                raise web.HTTPForbidden(text="This server answers to its own pages only.\n")
            return await handler(request)

        app = web.Application(middlewares=[guard])
        for path, handler in self.routes().items():
            app.router.add_get(path, handler)
        return app


@asynccontextmanager
async def open_server(server: GuardedServer, *, host: str, port: int, flag: str) -> AsyncIterator[None]:
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


def _asks_for_another_page(headers: Mapping[str, str]) -> bool:
    """Whether a browser asks this for a page of another address, which is also one of another port.

    A person may follow a link from there: that opens a page of its own.
    """
    origin = headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != headers.get("Host"):
        return True
    return headers.get("Sec-Fetch-Site") in ("cross-site", "same-site") and headers.get("Sec-Fetch-Dest") != "document"
