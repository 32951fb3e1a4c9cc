"""`memento watch --browser`: who has no token gets nothing, and a browser shows the program."""

import asyncio
import io
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import aiohttp
import pytest
from PIL import Image

from ...evidence.browser import PROGRAM as CHROMIUM
from ...evidence.browser import browser, fetched, foreign_page
from ...support.processes import kill_nine, wait_until_gone
from ...support.program import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("textual_serve") is None, reason="the extra browser is not installed"),
]
ENOUGH_S = 120.0


OPEN_SOCKET = """
new Promise(done => {{
  const socket = new WebSocket({url!r});
  socket.onopen = () => done("open");
  socket.onclose = () => done("refused");
}})
"""


@contextmanager
def served(run: Path, *, killed: bool = False) -> Iterator[tuple[str, str]]:
    """The address and its token; the server is ended as by Ctrl-C, or killed."""
    command = [*PROGRAM, "watch", str(run), "--browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            found = re.search(r"open (http://127\.0\.0\.1:\d+)/\?token=(\S+) ", line)
            assert found is not None, line
            yield found[1], found[2]
        finally:
            if killed:
                wait_until_gone(kill_nine(process.pid, everything=False), within_s=ENOUGH_S)
            else:
                process.terminate()
                assert process.wait(ENOUGH_S) == 130
            assert process.stderr is not None
            process.stderr.read()


async def admitted(person: aiohttp.ClientSession, url: str, token: str) -> str:
    """The address of the page, which has no token."""
    async with person.get(f"{url}/?token={token}") as reply:
        assert reply.status == 200
        assert token not in str(reply.url), "nor does the history have it"
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        [cookie] = reply.history[0].cookies.values()
        assert token not in cookie.value
        assert (cookie.key, cookie["samesite"]) == (f"memento-{url.rpartition(':')[2]}", "Strict")
        return str(reply.url)


async def test_only_who_has_the_token_gets_anything(done: Path) -> None:
    with served(done) as (url, token):
        async with aiohttp.ClientSession() as stranger:
            for path in ("/", "/static/js/textual.js", "/download/x", "/?token=x"):
                async with stranger.get(f"{url}{path}") as reply:
                    assert reply.status == 403, path
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await stranger.ws_connect(f"{url}/ws")
            async with stranger.get(url, headers={"Host": "attacker.example"}) as reply:
                assert reply.status == 403
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as person:
            page = await admitted(person, url, token)
            for origin in ("http://attacker.example", "http://127.0.0.1:9", "null", None):
                with pytest.raises(aiohttp.WSServerHandshakeError):
                    await person.ws_connect(f"{page}ws", headers={} if origin is None else {"Origin": origin})
            for host in ("localhost:1'><script>", "127.0.0.1.attacker.example", "localhost@attacker.example"):
                async with person.get(page, headers={"Host": host}) as reply:
                    assert reply.status in (400, 403), host


async def test_a_killed_server_leaves_no_program(done: Path) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as person:
        with served(done, killed=True) as (url, token):
            page = await admitted(person, url, token)
            async with person.ws_connect(f"{page}ws?width=120&height=40", origin=url) as socket, \
                    asyncio.timeout(ENOUGH_S):
                seen = b""
                while b"At a glance" not in seen or b"hanoi-kinematic" not in seen:
                    message = await socket.receive()
                    seen += message.data if isinstance(message.data, bytes) else b""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
async def test_a_browser_shows_the_screens(done: Path) -> None:
    with served(done) as (url, token):
        async with browser() as tab:
            await tab.open(f"{url}/?token={token}", width=1200, height=800)
            async with asyncio.timeout(ENOUGH_S):
                while colours_of(await tab.picture()) < 40:  # noqa: ASYNC110 - a canvas gives no event
                    await asyncio.sleep(0.5)
            assert await tab.value("location.search") == ""
            assert [each for each in tab.requests if not each.startswith((url, "data:", "blob:"))] == []
            page = await tab.value("location.href")
            assert await tab.value(OPEN_SOCKET.format(url=f"ws{page[4:]}ws")) == "open"
            async with foreign_page() as (foreign, cookies):
                await tab.open(foreign, width=1200)
                assert await tab.value(OPEN_SOCKET.format(url=f"ws{page[4:]}ws")) == "refused"
                assert [await fetched(tab, each) for each in (page, f"{page}static/js/textual.js")] == [403, 403]
                assert await fetched(tab, foreign) == 200
                assert cookies == [], "a browser sends cookies to every port"


def colours_of(picture: bytes) -> int:
    """How many colours there are."""
    return len(Image.open(io.BytesIO(picture)).convert("RGB").resize((300, 200)).getcolors(60_000) or ())
