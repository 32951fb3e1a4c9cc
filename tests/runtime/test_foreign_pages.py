"""What a page of another port of this machine gets from the servers of a status and of a report, in a real browser."""

import pytest
from memento.runtime.page_server import LivePage, PageSource, open_page
from memento.runtime.status_server import StatusSource, open_status

from ..evidence.browser import PROGRAM, answers_of, browser, fetched, foreign_page

pytestmark = [
    pytest.mark.slow, pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium on this machine")
]
EMBED = """
new Promise(done => {{
  const frame = document.createElement("iframe");
  frame.onload = done;
  frame.src = {url!r};
  document.body.append(frame);
}}).then(() => 1)
"""


async def test_a_page_of_another_port_gets_nothing() -> None:
    page = PageSource(make=lambda: LivePage(html="<h1>Report</h1>", live=False), stamp=lambda: 1)
    status = StatusSource(status=dict, metrics=dict, after=lambda _: iter(()))
    async with (
        open_page(page, host="127.0.0.1", port=0) as report, open_status(status, host="127.0.0.1", port=0) as run,
        foreign_page() as (foreign, _), browser() as tab,
    ):
        wanted = [f"{report.url}/", f"{run.url}/status", f"{run.url}/metrics", f"{run.url}/facts"]
        for url in wanted[:3]:
            await tab.open(url, width=800)
            assert answers_of(tab, url) == [200]
            assert await fetched(tab, url) == 200
        await tab.open(foreign, width=800)
        for url in wanted:
            assert await fetched(tab, url) == 403
            await tab.value(EMBED.format(url=url))
            assert answers_of(tab, url)[-2:] == [403, 403]
