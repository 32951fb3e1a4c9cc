"""Builds the documentation site: `python docs/site/build.py`, with `docs/site/requirements.txt`.

The documents stay where people read them in the repository. A copy in `.site/docs` has the root's documents next to
those of `docs/`, with the links between them changed, and the pages that the code writes: the help of every command and
all settings. The site is `.site/site`, with `llms.txt`, an index for programs.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CONFIG = HERE / "zensical.toml"
FROM_ROOT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)]*)?\))")
# What the documents name where the site has a page that the code writes.
MADE = {"`memento COMMAND --help`": "commands.md", "`memento settings`": "settings.md"}
SENTENCES = "sentences.md"      # the third such page
DOCUMENTED = (".", "app/api", "app", "core")     # the packages whose docstrings the reference shows
BUILD_S = 120


def sources() -> dict[str, Path]:
    """Every file of the site by its place in it."""
    found = {name: ROOT / name for name in FROM_ROOT} | {"index.md": ROOT / "README.md", "api.md": HERE / "api.txt"}
    for path in sorted((ROOT / "docs").rglob("*")):
        if path.is_file() and HERE not in path.parents and path.suffix not in (".py", ".sh"):
            found[path.relative_to(ROOT / "docs").as_posix()] = path
    return found


def with_links_of_the_site(text: str, path: Path, places: dict[Path, str]) -> str:
    """The text of the document `path` with its links to files changed to where those files are in the site."""
    own = Path(places[path])

    def changed(found: re.Match[str]) -> str:
        target = (path.parent / found[2]).resolve()
        if "://" in found[2] or target not in places:
            return found[0]
        there = Path(places[target])
        up = "../" * len(own.parent.parts)
        return f"{found[1]}{up}{there.as_posix()}{found[3]}"

    text = LINK.sub(changed, text)
    for words, page in MADE.items():
        text = text.replace(words, f"[{words}]({'../' * len(own.parent.parts)}{page})")
    return text


def landing(text: str) -> str:
    """The README as the first page of the site, for users: the command that runs the tests is in Contributing."""
    without = re.sub(r"^(\./memento test |\| `\./memento test`).*\n", "", text, flags=re.MULTILINE)
    return without.replace("## Two commands", "## The first command", 1)


def navigation() -> Iterator[tuple[str, list[str]]]:
    """The sections of the site, each with its pages in order."""
    for section in tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]:
        yield from section.items()


def index_for_programs(pages: dict[str, str]) -> str:
    """`llms.txt`: the sections with a link to each page, and its first sentence."""
    lines = ["# MEMENTO", "", "> Evolves robot policies that are programs, with language models.", ""]
    for title, names in navigation():
        lines += [f"## {title}", ""]
        for name in names:
            heading = re.search(r"^# (.+)$", pages[name], flags=re.MULTILINE)
            assert heading is not None, f"{name} has no heading"
            lines.append(f"- [{heading[1]}]({name}): {_first_sentence(pages[name][heading.end():]) or heading[1]}")
        lines.append("")
    return "\n".join(lines)


def _first_sentence(text: str) -> str:
    """The first sentence of prose without its markup; "" if there is none."""
    prose = re.search(r"^[A-Z`*][^|!<\n](?:.+\n)*?.*?[.:](?=\s)", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"\]\([^)]*\)|[\[*]", "", prose[0]).split()).rstrip(":") if prose else ""


def write_made_pages(folder: Path) -> None:
    """Write the pages that the code makes, by the checkout's Python (the launcher installs it)."""
    subprocess.run([ROOT / "memento", "--version"], check=True, stdout=subprocess.DEVNULL)
    command = [ROOT / ".venv" / "bin" / "python", HERE / "reference.py", folder]
    subprocess.run(command, timeout=BUILD_S, check=True)


def stage(folder: Path) -> None:
    """Write the documents of the site to `folder`/docs, and what Zensical needs next to them."""
    shutil.rmtree(folder, ignore_errors=True)
    places = {path: place for place, path in sources().items()}
    pages = {}
    for path, place in places.items():
        target = folder / "docs" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if place.endswith(".md"):
            text = path.read_text(encoding="utf-8")
            pages[place] = with_links_of_the_site(landing(text) if place == "index.md" else text, path, places)
            target.write_text(pages[place], encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    write_made_pages(folder / "docs")
    pages |= {name: (folder / "docs" / name).read_text(encoding="utf-8") for name in (*MADE.values(), SENTENCES)}
    (folder / "docs" / "llms.txt").write_text(index_for_programs(pages), encoding="utf-8")
    shutil.copyfile(CONFIG, folder / "zensical.toml")
    for package in DOCUMENTED:      # their docstrings are read without an import
        for path in (ROOT / package).glob("*.py"):
            target = folder / "src" / "memento" / package / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def main() -> None:
    """Build the site. A broken link ends it with an error."""
    folder = ROOT / ".site"
    stage(folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    sys.exit(subprocess.run(command, cwd=folder, timeout=BUILD_S, check=False).returncode)


if __name__ == "__main__":
    main()
