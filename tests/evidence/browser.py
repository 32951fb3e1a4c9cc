"""A real browser for tests: Chromium without a window, driven by its debugging protocol."""

import asyncio
import base64
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
from aiohttp.test_utils import TestServer

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0",
)
LIMIT_S = 40.0


class Tab:
    """One page. Keeps every network request, the status of every answer and every error of the page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.requests: list[str] = []
        self.answers: list[tuple[str, int]] = []
        self.complaints: list[str] = []

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command, and its result."""
        number = next(self._ids)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(LIMIT_S):
            while True:
                message = json.loads((await self._socket.receive()).data)
                self._hear(message)
                if message.get("id") == number:
                    assert "error" not in message, message
                    return message["result"]

    def _hear(self, message: dict[str, Any]) -> None:
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            case "Network.responseReceived":
                response = message["params"]["response"]
                self.answers.append((response["url"], response["status"]))
            case "Log.entryAdded":
                self.complaints.append(message["params"]["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(message["params"]))

    async def open(self, url: str, *, width: int, height: int = 900, dark: bool = False, mobile: bool = False) -> None:
        """Load a page at a window's width, light or dark."""
        for domain in ("Page", "Network", "Log", "Runtime"):
            await self.call(f"{domain}.enable")
        await self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                        mobile=mobile)
        scheme = "dark" if dark else "light"
        await self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        await self.call("Page.navigate", url=url)
        while await self.value("document.readyState") != "complete":  # noqa: ASYNC110 - the page gives no event
            await asyncio.sleep(0.05)

    async def value(self, expression: str) -> Any:
        """The value of an expression in the page, or of its promise."""
        found = await self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    async def picture(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode((await self.call("Page.captureScreenshot", captureBeyondViewport=True))["data"])

    async def print(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode((await self.call("Page.printToPDF", printBackground=True))["data"])


@asynccontextmanager
async def browser() -> AsyncIterator[Tab]:
    """A browser with one tab and a fresh profile, ended with all its processes."""
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            PROGRAM, *FLAGS, f"--user-data-dir={profile}", "about:blank",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port(Path(profile))
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json") as reply:
                    tabs = [tab for tab in await reply.json(content_type=None) if tab["type"] == "page"]
                async with session.ws_connect(tabs[0]["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    tab = Tab(socket)
                    yield tab
                    await socket.send_json({"id": 0, "method": "Browser.close"})
        finally:
            try:
                async with asyncio.timeout(10):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()


@asynccontextmanager
async def foreign_page() -> AsyncIterator[tuple[str, list[str]]]:
    """An empty page of another port of this machine: its address, and the cookies that browsers send there."""
    cookies: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        cookies.extend(request.cookies)
        return web.Response(text="<!DOCTYPE html><title>another</title>", content_type="text/html")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    server = TestServer(app, host="127.0.0.1")
    async with server:
        yield str(server.make_url("/")), cookies


async def fetched(tab: Tab, url: str) -> int:
    """The status of the answer when the page fetches this, with all cookies that the browser sends."""
    how = {"mode": "no-cors", "credentials": "include", "cache": "no-store"}
    await tab.value(f"fetch({json.dumps(url)}, {json.dumps(how)}).then(() => 1, () => 0)")
    return answers_of(tab, url)[-1]


def answers_of(tab: Tab, url: str) -> list[int]:
    """The status of each answer to the browser from this address, in order."""
    return [status for address, status in tab.answers if address == url]


async def _port(profile: Path) -> int:
    """The port that the browser chose, as soon as it reports it."""
    file = profile / "DevToolsActivePort"
    async with asyncio.timeout(LIMIT_S):
        while not file.exists() or not file.read_text().strip():  # noqa: ASYNC110 - a file gives no event
            await asyncio.sleep(0.05)
    return int(file.read_text().splitlines()[0])
