"""The work of `memento report --follow`: serves the page of runs or of a comparison while they go on."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..app.api.reporting import UNWANTED, Pictures, load, page_text
from ..core.errors import UsageError
from ..evidence.archive import SUFFIX
from ..evidence.loading import Evidence
from ..memory.lock import is_locked
from ..runtime.page_server import LivePage, PageSource, open_page
from .execution import execute
from .output import say

NO_PICTURES: Final = Pictures(missing=f"{UNWANTED}; a page that is served has none")


def follow_report(given: Sequence[str], runs_dir: Path, *, host: str, port: int) -> None:
    """Serve the page until a signal. Raises UsageError for names without runs, and for a port that cannot be had."""
    if any(name.endswith(SUFFIX) for name in given):
        raise UsageError("an archive does not change: write its page with --out FILE.html")
    pages = _Pages(given, runs_dir)
    pages.make()        # what is wrong with the names is reported before anything is served
    execute(_serve(PageSource(make=pages.make, stamp=pages.stamp), host=host, port=port))


async def _serve(source: PageSource, *, host: str, port: int) -> None:
    async with open_page(source, host=host, port=port) as server:
        say(f"report at {server.url}/ (Ctrl-C ends it)")
        await asyncio.Event().wait()


class _Pages:
    """Makes the page from the logs. Only one thread uses it at a time."""

    def __init__(self, given: Sequence[str], runs_dir: Path) -> None:
        self._given, self._runs_dir = given, runs_dir
        self._folders: tuple[Path, ...] = ()

    def make(self) -> LivePage:
        """The page as the logs are now. Raises UsageError, StoreError."""
        evidence, _ = load(self._given, self._runs_dir)
        if not evidence.records and not evidence.missing:
            raise UsageError(f"{self._given[0]} has no runs yet: there is nothing to report")
        folders = [Path(record.folder) for record in evidence.records]
        named = [self._runs_dir / name for name in self._given] + [Path(name) for name in self._given]
        self._folders = tuple(dict.fromkeys([*folders, *(path for path in named if path.is_dir())]))
        html = page_text(evidence, NO_PICTURES, command=f"memento report {' '.join(self._given)} --follow")
        return LivePage(html=html, live=_is_live(evidence, folders))

    def stamp(self) -> object:
        """The names, sizes and times of the files in the folders of the last page."""
        found = []
        for folder in self._folders:
            for path in sorted(folder.glob("*")):
                try:
                    status = path.stat()
                except OSError:         # it was removed meanwhile
                    continue
                found.append((str(path), status.st_size, status.st_mtime_ns))
        return found, tuple(is_locked(folder) for folder in self._folders)


def _is_live(evidence: Evidence, folders: Sequence[Path]) -> bool:
    """Whether a process writes one of the runs, or a comparison has runs to come."""
    return bool(evidence.missing) or any(is_locked(folder) for folder in folders)
