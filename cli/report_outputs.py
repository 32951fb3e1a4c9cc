"""The outputs of `memento report`: a page, the rows behind it, an archive."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..app.api.reporting import Pictures, write_page
from ..core.errors import UsageError
from ..core.extras import install_command
from ..core.text import plural
from ..evidence.archive import SUFFIX, write_archive
from ..evidence.csv_files import write_csv
from ..evidence.loading import Evidence
from ..evidence.page import list_parts
from ..evidence.parts import can_write_pdf, write_parts
from .output import say


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The files to write; None for one that was not given."""

    page: Path | None
    csv: Path | None
    figures: Path | None
    archive: Path | None

    def check(self) -> None:
        """Raise UsageError without an output, and for a name that does not match its content."""
        if all(each is None for each in (self.page, self.csv, self.figures, self.archive)):
            raise UsageError(
                "nothing to write: give --out FILE.html for a page, --csv DIR for the rows, --figures DIR for figures"
                " and tables, or --archive FILE.json.xz for one file to make them from"
            )
        if self.page is not None and self.page.suffix not in (".html", ".htm"):
            raise UsageError(f"--out {self.page} is not a page: name it *.html")
        if self.archive is not None and not self.archive.name.endswith(SUFFIX):
            raise UsageError(f"--archive {self.archive} is not an archive: name it *{SUFFIX}")

    def write(self, evidence: Evidence, pictures: Pictures, *, given: Sequence[str]) -> None:
        """Write the files and print their names; `given` are the names on the command line. Raises UsageError."""
        runs = plural(len(evidence.records) + len(evidence.baselines), "run")
        if self.archive is not None:
            size = write_archive(evidence, pictures.by_run, self.archive)
            say(f"{runs} in {size / 1e3:,.0f} kB: {self.archive}")
        if self.csv is not None:
            written = write_csv(evidence, self.csv)
            say(f"{plural(len(written), 'file')} with the rows are in {self.csv}")
        if self.figures is not None:
            figures, tables = list_parts(evidence)
            write_parts(figures, tables, self.figures)
            say(f"{plural(len(figures), 'figure')} and {plural(len(tables), 'table')} are in {self.figures}")
            if figures and not can_write_pdf():
                say(f"figures as PDF need svglib: {install_command('plots')}")
        if self.page is not None:
            command = f"memento report {' '.join(given)} --out {self.page.name}"
            write_page(self.page, evidence, pictures, command=command)
            say(f"{runs} on one page: {self.page}")
