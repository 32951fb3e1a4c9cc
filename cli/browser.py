"""`memento watch --browser`: the terminal UI in a browser, served on this machine."""

import asyncio
import re
import secrets
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.launching import PROGRAM
from ..core.interpreters import module_command
from ..memory.runs import find_run
from ..runtime.servers import GuardedServer, Handler, open_server
from .execution import execute
from .output import say

if TYPE_CHECKING:
    from aiohttp import web


TITLE = "MEMENTO"
ELSEWHERE = re.compile(r'<link\s[^>]*"https://[^>]*>')     # the page of textual-serve names a font on the web
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self' data:; connect-src 'self' ws://{host}"
)


def serve_watch(run: str | None, *, runs_dir: Path, port: int) -> None:
    """Serve the terminal UI to browsers on this machine until a signal. Raises UsageError."""
    from ..core.extras import require

    require("browser", "memento watch --browser")
    folder = None if run is None else find_run(runs_dir, run)
    what = ["--runs", str(runs_dir)] if folder is None else [str(folder)]
    kept = module_command("memento.core.kept_process")      # it ends with this process, however that ends
    execute(_serve(f"exec {shlex.join([*kept, *PROGRAM, 'watch', *what])}", port))


async def _serve(command: str, port: int) -> None:
    server = BrowserServer(command, token=secrets.token_urlsafe(24))
    async with open_server(server, host="127.0.0.1", port=port, flag="--port"):
        say(f"open {server.url}/?token={server.token} in a browser (Ctrl-C ends it)")
        await asyncio.Event().wait()


class BrowserServer(GuardedServer):
    """The program that `command` starts, once for each page that is open. Who has no `token` gets nothing.

    The address with the token sets a cookie and leads to a folder that only it names. A browser sends a cookie to every
    port of a host, but to this folder alone: no other server of this machine gets it.
    """

    def __init__(self, command: str, *, token: str) -> None:
        from textual_serve.server import Server

        super().__init__(loopback=True)
        self.token = token
        self.place = f"/{secrets.token_urlsafe(12)}"
        self._cookie = secrets.token_urlsafe(24)
        self._server = Server(command, title=TITLE)

    def routes(self) -> Mapping[str, Handler]:
        """The way in; the others are named, since the page's template finds them by name."""
        return {"/": self._enter}

    def end(self) -> None:
        """The programs end with their connections."""

    def application(self) -> "web.Application":
        """The page, what it loads, and the connection to a program, each only with the cookie."""
        import aiohttp_jinja2
        from aiohttp import web
        from jinja2 import FileSystemLoader

        @web.middleware
        async def with_cookie(request: web.Request, handler: Handler) -> web.StreamResponse:
            if request.path != "/" and not _is_same(request.cookies.get(_cookie_name(request), ""), self._cookie):
                raise _forbidden()
            return await handler(request)

        app = super().application()
        app.middlewares.append(with_cookie)
        aiohttp_jinja2.setup(app, loader=FileSystemLoader(self._server.templates_path))
        app.add_routes([
            web.get(f"{self.place}/", self._page, name="index"),
            web.get(f"{self.place}/ws", self._connect, name="websocket"),
            web.get(f"{self.place}/download/{{key}}", self._server.handle_download, name="download"),
            web.static(f"{self.place}/static", self._server.statics_path, name="static"),
        ])
        return app

    async def _enter(self, request: "web.Request") -> "web.StreamResponse":
        """From the address with the token to the page, whose address is useless without the cookie."""
        from aiohttp import web

        if not _is_same(request.query.get("token", ""), self.token):
            raise _forbidden()
        found = web.HTTPFound(f"{self.place}/")
        found.set_cookie(_cookie_name(request), self._cookie, httponly=True, samesite="Strict", path=self.place)
        found.headers["Referrer-Policy"] = "no-referrer"
        return found

    async def _connect(self, request: "web.Request") -> "web.StreamResponse":
        """A program for the page. A browser always says whose page asks; the guard has compared it."""
        if "Origin" not in request.headers:
            raise _forbidden()
        connected: web.StreamResponse = await self._server.handle_websocket(request)
        return connected

    async def _page(self, request: "web.Request") -> "web.StreamResponse":
        self._server.public_url = f"http://{request.host}"      # another port where an ssh tunnel leads here
        response: web.Response = await self._server.handle_index(request)
        response.text = ELSEWHERE.sub("", response.text or "")
        response.headers["Content-Security-Policy"] = POLICY.format(host=request.host)
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _cookie_name(request: "web.Request") -> str:
    assert request.transport is not None
    return f"memento-{request.transport.get_extra_info('sockname')[1]}"


def _is_same(text: str, secret: str) -> bool:
    return secrets.compare_digest(text.encode("utf-8", "surrogateescape"), secret.encode())


def _forbidden() -> "web.HTTPForbidden":
    from aiohttp import web

    return web.HTTPForbidden(text="Open the address with its token, which memento watch --browser printed.\n")
