"""The server of a live page over real sockets."""

import asyncio

import aiohttp
import pytest
from memento.core.errors import StoreError, UsageError
from memento.runtime import page_server
from memento.runtime.page_server import LivePage, PageSource, open_page


class Pages:
    """A page that counts how often it was made."""

    def __init__(self) -> None:
        self.made, self.version, self.live, self.broken = 0, 1, True, False

    def make(self) -> LivePage:
        if self.broken:
            raise StoreError("the log is damaged")
        self.made += 1
        return LivePage(html=f"<p>version {self.version}\ud800", live=self.live)

    def source(self) -> PageSource:
        return PageSource(make=self.make, stamp=lambda: self.version)


async def get(url: str, **headers: str) -> tuple[int, str, str | None]:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        return response.status, await response.text(), response.headers.get("Refresh")


async def test_the_page_is_made_again_only_after_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server, "RELOAD_S", 0.0)
    pages = Pages()
    async with open_page(pages.source(), host="127.0.0.1", port=0) as server:
        assert (await get(f"{server.url}/"))[:2] == (200, "<p>version 1\\ud800")
        await get(f"{server.url}/")
        assert pages.made == 1, "nothing changed"
        pages.version, pages.live = 2, False
        status, text, refresh = await get(f"{server.url}/")
        assert (status, text, refresh) == (200, "<p>version 2\\ud800", None), "a finished run needs no reload"


async def test_many_askers_wait_for_one_making_and_a_live_page_reloads_itself() -> None:
    pages = Pages()
    async with open_page(pages.source(), host="127.0.0.1", port=0) as server:
        answers = await asyncio.gather(*(get(f"{server.url}/") for _ in range(8)))
        assert {answer[0] for answer in answers} == {200}
        assert {answer[2] for answer in answers} == {"5"}
        pages.version = 2
        await get(f"{server.url}/")
        assert pages.made == 1, "it is made at most once every RELOAD_S"


async def test_a_damaged_log_is_a_sentence_and_the_next_attempt_works() -> None:
    pages = Pages()
    pages.broken = True
    async with open_page(pages.source(), host="127.0.0.1", port=0) as server:
        assert await get(f"{server.url}/") == (503, "the log is damaged\n", "5")
        pages.broken = False
        assert (await get(f"{server.url}/"))[0] == 200


async def test_it_answers_to_this_machine_only_and_changes_nothing() -> None:
    async with open_page(Pages().source(), host="127.0.0.1", port=0) as server:
        assert (await get(f"{server.url}/", Host="evil.example"))[0] == 403
        async with aiohttp.ClientSession() as session, session.post(f"{server.url}/") as response:
            assert response.status == 405


async def test_a_port_in_use_is_one_sentence() -> None:
    async with open_page(Pages().source(), host="127.0.0.1", port=0) as server:
        port = int(server.url.rpartition(":")[2])
        with pytest.raises(UsageError, match=r"cannot serve the page .* take another --port"):
            async with open_page(Pages().source(), host="127.0.0.1", port=port):
                pass
