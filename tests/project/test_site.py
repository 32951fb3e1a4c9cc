"""The documentation site: every document is in it once, and no link in it is broken, with its anchor."""

import re
import runpy
from pathlib import Path

import pytest
import typer
from memento.cli.commands import commands as all_commands
from memento.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
SITE = runpy.run_path(str(ROOT / "docs" / "site" / "build.py"))
FENCE = re.compile(r"```.*?```", flags=re.DOTALL)


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "staged"
    SITE["stage"](folder)
    return folder / "docs"


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as Markdown makes them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), flags=re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", each.lower()).strip()) for each in headings}


def test_the_navigation_has_every_page_once(staged: Path) -> None:
    listed = [name for _, names in SITE["navigation"]() for name in names]
    assert sorted(listed) == sorted(path.relative_to(staged).as_posix() for path in staged.rglob("*.md"))


def test_no_link_of_the_site_is_broken(staged: Path) -> None:
    broken = []
    for page in staged.rglob("*.md"):
        for target, _, anchor in re.findall(r"\]\(([^)#\s]*)(#([^)]*))?\)", FENCE.sub("", page.read_text("utf-8"))):
            there = (page.parent / target) if target else page
            if "://" in target:
                continue
            if not there.is_file() or (anchor and anchor not in anchors(there.read_text("utf-8"))):
                broken.append(f"{page.name}: {target}#{anchor}")
    assert not broken


def test_the_index_for_programs_names_every_page(staged: Path) -> None:
    lines = re.findall(r"^- \[.+\]\((.+)\): .{8,}$", (staged / "llms.txt").read_text("utf-8"), flags=re.MULTILINE)
    assert lines == [name for _, names in SITE["navigation"]() for name in names]


def test_the_site_has_a_page_of_all_commands_and_one_of_all_settings_from_the_code(staged: Path) -> None:
    commands, settings = ((staged / name).read_text("utf-8") for name in SITE["MADE"].values())
    called = typer.main.get_command(all_commands).list_commands(None)
    assert re.findall(r"^## memento ([^ \n]+)$", commands, flags=re.MULTILINE) == called
    assert {*re.findall(r"^- \*\*`(\w+)`\*\*: \w", settings, flags=re.MULTILINE)} == {*Settings.model_fields}
    assert "[`memento COMMAND --help`](commands.md)" in (staged / "index.md").read_text("utf-8")


def test_the_site_begins_with_the_newcomers_path(staged: Path) -> None:
    path = re.findall(r"\]\(docs/([^)]+)\)", (ROOT / "README.md").read_text("utf-8").partition("## The way in")[2])
    start = dict(SITE["navigation"]())["Start"]
    assert start == ["index.md", *path[:len(start) - 1]]
    assert "./memento test" not in (staged / "index.md").read_text("utf-8")
    assert "./memento test" in (staged / "CONTRIBUTING.md").read_text("utf-8")
    assert "./memento test" in (ROOT / "README.md").read_text("utf-8")
