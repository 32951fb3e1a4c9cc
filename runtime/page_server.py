"""A small read-only web server for one page that changes: a report of runs that go on.

The page is made when somebody asks for it, at most once every RELOAD_S, and only if its sources changed. A browser
loads it again by itself, so it needs no script. Imports aiohttp only when it is opened.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..core.errors import MementoError
from .servers import LOOPBACK, GuardedServer, Handler, open_server

if TYPE_CHECKING:
    from aiohttp import web

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


class PageServer(GuardedServer):
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
