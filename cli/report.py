"""`memento report`: one page, and the rows behind it, from runs or from a comparison."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError
from . import completion, flags
from .output import say

if TYPE_CHECKING:
    from ..evidence.loading import Evidence
    from .report_inputs import Pictures

EXAMPLE: Final = "memento report first --out first.html"

Sources = Annotated[
    list[str],
    typer.Argument(metavar="RUN…|COMPARISON|FILE.json.xz", show_default=False, autocompletion=completion.runs,
                   help="Runs or one comparison, by name or folder; or an archive."),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE.html", help="The page; an existing file is replaced.")]
Csv = Annotated[Path | None, typer.Option(metavar="DIR", help="The rows behind the page, as CSV files.")]
Archive = Annotated[
    Path | None, typer.Option(metavar="FILE.json.xz", help="Everything that the page is made of, in one small file.")
]
NoPictures = Annotated[bool, typer.Option("--no-pictures", help="Draw no moments of episodes.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outputs:
    """The files to write; None for one that is not wanted."""

    page: Path | None
    csv: Path | None
    archive: Path | None

    def check(self) -> None:
        """Raise UsageError for no output, and for a name that does not fit its content."""
        from ..evidence.archive import SUFFIX

        if self.page is None and self.csv is None and self.archive is None:
            raise UsageError(
                "nothing to write: give --out FILE.html for a page, --csv DIR for the rows, or --archive FILE.json.xz"
                " for one file to make them from"
            )
        if self.page is not None and self.page.suffix not in (".html", ".htm"):
            raise UsageError(f"--out {self.page} is not a page: name it *.html")
        if self.archive is not None and not self.archive.name.endswith(SUFFIX):
            raise UsageError(f"--archive {self.archive} is not an archive: name it *{SUFFIX}")


def report(
    runs_or_comparison: Sources,
    out: Out = None,
    csv: Csv = None,
    archive: Archive = None,
    no_pictures: NoPictures = False,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Write one self-contained page on runs or a comparison: curves, tables, tests, descent, votes, costs."""
    outputs = Outputs(page=out, csv=csv, archive=archive)
    outputs.check()

    from .report_inputs import Pictures, draw, load

    evidence, pictures = load(runs_or_comparison, runs)
    if not evidence.records:
        raise UsageError(f"{runs_or_comparison[0]} has no runs yet: nothing can be reported")
    if no_pictures:
        pictures = Pictures(missing="none were asked for")
    elif pictures is None:
        pictures = draw(evidence)
    _write(evidence, pictures, outputs, given=runs_or_comparison)


def _write(evidence: "Evidence", pictures: "Pictures", outputs: Outputs, *, given: list[str]) -> None:
    from ..core.text import counted
    from ..evidence.archive import write_archive
    from ..evidence.export import write_csv

    runs = counted(len(evidence.records), "run")
    if outputs.archive is not None:
        size = write_archive(evidence, pictures.by_run, outputs.archive)
        say(f"{runs} in {size / 1e3:,.0f} kB: {outputs.archive}")
    if outputs.csv is not None:
        written = write_csv(evidence, outputs.csv)
        say(f"{counted(len(written), 'file')} with the rows are in {outputs.csv}")
    if outputs.page is not None:
        page = _page(evidence, pictures, f"memento report {' '.join(given)} --out {outputs.page.name}")
        try:
            outputs.page.write_text(page, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write {outputs.page}: {error.strerror}") from None
        say(f"{runs} on one page: {outputs.page}")


def _page(evidence: "Evidence", pictures: "Pictures", command: str) -> str:
    """The page as HTML; `command` is the command line that makes it again."""
    import time

    from .. import __version__
    from ..app.isolation import ISOLATING
    from ..evidence.page import Frame, render

    frame = Frame(
        made=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        version=__version__,
        command=command,
        expected_layers=ISOLATING,
        pictures=pictures.by_run,
        no_pictures=pictures.missing,
    )
    return render(evidence, frame)
