"""The page in a real browser: on a phone and on a desk, light and dark, printed."""

import pytest
from memento.evidence.loading import load_comparison
from memento.evidence.page import PageOrigin, render

from .browser import PROGRAM, browser
from .logs import comparison

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium on this machine")
OVERFLOWING = """
[...document.querySelectorAll("body *")].filter(e => {
  const box = e.getBoundingClientRect();
  return box.right > document.documentElement.clientWidth + 1 && !e.closest(".wide, pre, svg");
}).map(e => e.tagName + "." + e.className).slice(0, 5)
"""
SMALL_LETTERS = """
[...document.querySelectorAll("svg.chart text")].map(e => e.getBoundingClientRect().height).filter(h => h < 9).length
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    made_up = comparison(folder / "c", methods=["memento", "random", "eureka-elite"], seeds="1-5")
    path = folder / "page.html"
    frame = PageOrigin(made="2026-11-21", version="0.1.0")
    path.write_text(render(load_comparison(made_up), frame), encoding="utf-8")
    return path.as_uri()


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 390, 820, 1280])
async def test_nothing_hangs_over_the_edge_and_letters_can_be_read(page, width):
    async with browser() as tab:
        await tab.open(page, width=width, mobile=width < 600)
        assert await tab.value("document.documentElement.scrollWidth") <= width
        assert await tab.value(OVERFLOWING) == []
        assert await tab.value(SMALL_LETTERS) == 0
        assert await tab.value("document.querySelectorAll('svg.chart').length") >= 5
        assert await tab.value("document.querySelectorAll('.wide:not([tabindex])').length") == 0, "keys reach tables"
        hidden = await tab.value("[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth"
                                 " && !getComputedStyle(e).backgroundAttachment.includes('local')).length")
        assert hidden == 0, "a table that goes on shows a shadow at its edge"
        assert tab.requests == [page], "nothing is loaded from anywhere"
        assert tab.complaints == []


@pytest.mark.slow
async def test_light_and_dark_differ_and_can_both_be_read(page):
    seen = {}
    async with browser() as tab:
        for dark in (False, True):
            await tab.open(page, width=1000, dark=dark)
            colours = [await tab.value(f"getComputedStyle(document.querySelector('{what}')).{which}")
                       for what, which in (("body", "backgroundColor"), ("body", "color"), (".banner", "color"),
                                           (".banner", "backgroundColor"), (".note", "color"))]
            seen[dark] = [luminance(colour) for colour in colours]
            paper, ink, warn_ink, warn, note = seen[dark]
            assert contrast(paper, ink) > 7
            assert contrast(warn, warn_ink) > 4.5
            assert contrast(paper, note) > 4.5
    assert seen[False][0] > 0.9 > 0.1 > seen[True][0]


@pytest.mark.slow
async def test_it_prints(page):
    async with browser() as tab:
        await tab.open(page, width=718)     # A4 within its margins
        await tab.call("Emulation.setEmulatedMedia", media="print")
        assert await tab.value("document.documentElement.scrollWidth") <= 718
        printed = await tab.print()
        assert printed.startswith(b"%PDF")
        assert printed.count(b"/Type /Page") > 2
        picture = await tab.picture()
        assert picture.startswith(b"\x89PNG") and len(picture) > 50_000


def luminance(colour: str) -> float:
    """The relative luminance of "rgb(r, g, b)" (WCAG 2)."""
    parts = [int(part) / 255 for part in colour.strip("rgba()").split(",")[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: float, other: float) -> float:
    """The contrast of two luminances (WCAG 2)."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)
