"""Starts the terminal UI for `memento watch` and `memento run --tui`, and carries out what it requests of a run."""

import asyncio
import os
import re
import secrets
import shlex
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.launching import PROGRAM, LaunchedRun
from ..app.requests import check_hint, give_hint
from ..core.errors import UsageError
from ..memory.runs import find_run, is_run, new_run
from ..memory.store import ask
from ..runtime.servers import Guarded, Handler, open_server
from .execution import execute
from .exporting import write_candidate
from .output import print_note, print_text, say

if TYPE_CHECKING:
    from aiohttp import web

BEGUN_WITHIN_S = 120.0        # a run without a store after this time is ended


def watch_run(run: str | None, *, runs_dir: Path) -> None:
    """Open the terminal UI on a run; without one, on the list of runs."""
    if run is not None and not is_run(Path(run)) and Path(run).is_dir() and _holds_runs(Path(run)):
        runs_dir, run = Path(run), None
    folder = None if run is None else find_run(runs_dir, run)
    _require_terminal()
    _show(folder, runs_dir if folder is None else folder.parent)


def run_and_watch(arguments: Sequence[str], *, runs_dir: Path, name: str | None, domain: str, seed: int) -> int:
    """`memento run … --tui`: the run in a separate process, and the terminal UI in this one.

    `arguments` are those of the command line. The run continues after the UI is closed. Returns the exit code.
    """
    from ..runtime.clock import SystemClock

    _require_terminal()
    folder = runs_dir / name if name is not None else new_run(runs_dir, None, SystemClock(), label=domain, seed=seed)
    without = [each for each in arguments if each != "--tui"]
    named = () if name is not None else ("--name", folder.name)
    with LaunchedRun([*without, "--display", "plain", *named]) as launched:
        begun = launched.begun(lambda: is_run(folder), within_s=BEGUN_WITHIN_S)
        if begun:
            _show(folder, runs_dir)
        if launched.wait(0 if begun else 5.0) is None and begun:
            say(f"the run continues; watch it with: memento watch {folder}, end it with: memento stop {folder}")
            return 0
        if launched.process.returncode != 0:
            print_note(launched.last_words())
        print_text(launched.output(), newline=False)
        return launched.process.returncode if launched.process.returncode is not None else 3


# `memento watch --browser`: the same program in a browser, served on this machine.


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
            return self._admitted(request) or await handler(request)

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

    def _admitted(self, request: "web.Request") -> "web.StreamResponse | None":
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


def _show(folder: Path | None, runs_dir: Path) -> None:
    from ..tui.watch.app import WatchApp

    WatchApp(folder=folder, runs_dir=runs_dir, controls=CliControls()).run()


def _holds_runs(folder: Path) -> bool:
    return not is_run(folder) and any(is_run(child) for child in folder.iterdir() if child.is_dir())


def _require_terminal() -> None:
    if "textual.drivers.web_driver" in os.environ.get("TEXTUAL_DRIVER", ""):
        return      # started by BrowserServer
    if not (sys.stdin.isatty() and sys.__stderr__ is not None and sys.__stderr__.isatty()):
        raise UsageError("the terminal UI needs a terminal: use memento show RUN, or --display plain")


class CliControls:
    """The actions of `memento watch` on a run, carried out by the code of the commands."""

    def request(self, folder: Path, kind: str) -> None:
        """Store a request in the run's table. Raises UsageError if the run is not live."""
        ask(folder, kind)

    def check_hint(self, folder: Path) -> None:
        """Raises UsageError for a run on which no hint has an effect."""
        check_hint(folder)

    def hint(self, folder: Path, text: str) -> None:
        """Leave a hint in the run's table. Raises UsageError."""
        give_hint(folder, text)

    def export(self, folder: Path, candidate: str, out: Path) -> None:
        """Write a program to a new file. Raises UsageError."""
        write_candidate(folder, candidate, out)

    def rendering(self, folder: Path, candidate: str, out: Path) -> list[str]:
        """The command line of `memento render`."""
        return [*PROGRAM, "render", str(folder), candidate, "--out", str(out)]
