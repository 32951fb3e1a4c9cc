"""The outputs of `memento report`: a page, the rows behind it, an archive."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..app.isolation import ISOLATING
from ..core.errors import UsageError
from ..core.text import counted
from ..evidence.archive import SUFFIX, write_archive
from ..evidence.export import write_csv
from ..evidence.loading import Evidence
from ..evidence.page import Frame, render
from .output import say
from .report_inputs import Pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The files to write; None for one that was not given."""

    page: Path | None
    csv: Path | None
    archive: Path | None

    def check(self) -> None:
        """Raise UsageError without an output, and for a name that does not match its content."""
        if self.page is None and self.csv is None and self.archive is None:
            raise UsageError(
                "nothing to write: give --out FILE.html for a page, --csv DIR for the rows, or --archive FILE.json.xz"
                " for one file to make them from"
            )
        if self.page is not None and self.page.suffix not in (".html", ".htm"):
            raise UsageError(f"--out {self.page} is not a page: name it *.html")
        if self.archive is not None and not self.archive.name.endswith(SUFFIX):
            raise UsageError(f"--archive {self.archive} is not an archive: name it *{SUFFIX}")

    def write(self, evidence: Evidence, pictures: Pictures, *, given: Sequence[str]) -> None:
        """Write the files and print their names; `given` are the names on the command line. Raises UsageError."""
        runs = counted(len(evidence.records), "run")
        if self.archive is not None:
            size = write_archive(evidence, pictures.by_run, self.archive)
            say(f"{runs} in {size / 1e3:,.0f} kB: {self.archive}")
        if self.csv is not None:
            written = write_csv(evidence, self.csv)
            say(f"{counted(len(written), 'file')} with the rows are in {self.csv}")
        if self.page is not None:
            page = _page(evidence, pictures, f"memento report {' '.join(given)} --out {self.page.name}")
            try:
                self.page.write_text(page, encoding="utf-8", errors="backslashreplace")
            except OSError as error:
                raise UsageError(f"cannot write {self.page}: {error.strerror}") from None
            say(f"{runs} on one page: {self.page}")


def _page(evidence: Evidence, pictures: Pictures, command: str) -> str:
    """The page as HTML; `command` is the command line that makes it."""
    frame = Frame(
        made=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        version=__version__,
        command=command,
        expected_layers=ISOLATING,
        pictures=pictures.by_run,
        no_pictures=pictures.missing,
    )
    return render(evidence, frame)
