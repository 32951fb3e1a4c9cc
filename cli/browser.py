"""`memento watch --browser`: the terminal UI in a browser, served on this machine."""

import asyncio
import re
import secrets
import shlex
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.launching import PROGRAM
from ..memory.runs import find_run
from ..runtime.servers import Guarded, Handler, open_server
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
    execute(_serve(shlex.join([*PROGRAM, "watch", *what]), port))


async def _serve(command: str, port: int) -> None:
    server = BrowserServer(command, token=secrets.token_urlsafe(24))
    async with open_server(server, host="127.0.0.1", port=port, flag="--port"):
        say(f"open {server.url}/?token={server.token} in a browser (Ctrl-C ends it)")
        await asyncio.Event().wait()


class BrowserServer(Guarded):
    """The program that `command` starts, once for each page that is open. Who has no `token` gets nothing.

    The address with the token sets a cookie and leads to the page without it, so that no history keeps the token.
    """

    def __init__(self, command: str, *, token: str) -> None:
        from textual_serve.server import Server

        super().__init__(loopback=True)
        self.token = token
        self._cookie = f"memento-{sha256(token.encode()).hexdigest()[:12]}"
        self._server = Server(command, title=TITLE)

    def routes(self) -> Mapping[str, Handler]:
        """None: all are named, since the page's template finds them by name."""
        return {}

    def end(self) -> None:
        """The programs end with their connections."""

    def application(self) -> "web.Application":
        """The page, what it loads, and the connection to a program, each only with the token."""
        import aiohttp_jinja2
        from aiohttp import web
        from jinja2 import FileSystemLoader

        @web.middleware
        async def with_token(request: web.Request, handler: Handler) -> web.StreamResponse:
            return self._answer_unless_admitted(request) or await handler(request)

        app = super().application()
        app.middlewares.append(with_token)
        aiohttp_jinja2.setup(app, loader=FileSystemLoader(self._server.templates_path))
        app.add_routes([
            web.get("/", self._page, name="index"),
            web.get("/ws", self._server.handle_websocket, name="websocket"),
            web.get("/download/{key}", self._server.handle_download, name="download"),
            web.static("/static", self._server.statics_path, name="static"),
        ])
        return app

    def _answer_unless_admitted(self, request: "web.Request") -> "web.StreamResponse | None":
        """None for who has the cookie; for who has the token the way to it. Raises HTTPForbidden."""
        from aiohttp import web

        if self._is_token(request.query.get("token", "")):
            found = web.HTTPFound("/")
            found.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict", path="/")
            found.headers["Referrer-Policy"] = "no-referrer"
            return found
        if not self._is_token(request.cookies.get(self._cookie, "")):
            raise web.HTTPForbidden(text="Open the address with its token, which memento watch --browser printed.\n")
        return None

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode("utf-8", "surrogateescape"), self.token.encode())

    async def _page(self, request: "web.Request") -> "web.StreamResponse":
        self._server.public_url = f"http://{request.host}"      # another port where an ssh tunnel leads here
        response: web.Response = await self._server.handle_index(request)
        response.text = ELSEWHERE.sub("", response.text or "")
        response.headers["Content-Security-Policy"] = POLICY.format(host=request.host)
        response.headers["Cache-Control"] = "no-store"
        return response
