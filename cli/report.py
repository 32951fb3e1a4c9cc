"""`memento report`: one page, and the rows behind it, from runs or from a comparison."""

import time
from collections.abc import Sequence
from pathlib import Path

import typer

from .. import __version__
from ..agents.program_text import digest
from ..app.isolation import ISOLATING
from ..core.errors import UsageError
from ..evidence.export import write_csv
from ..evidence.folder import ComparisonFolder
from ..evidence.loading import Evidence, load_comparison, load_runs
from ..evidence.page import Frame, render
from ..memory.runs import find_run
from ..tui.lines import counted


def report(given: Sequence[str], *, runs_dir: Path, out: Path | None, csv: Path | None) -> None:
    """Write the page, the rows, or both. Raises UsageError."""
    if out is None and csv is None:
        raise UsageError("write what? give --out FILE.html for a page, or --csv DIR for the rows, or both")
    if out is not None and out.suffix not in (".html", ".htm"):
        raise UsageError(f"--out {out} is no page: name it *.html")
    evidence = _load(given, runs_dir)
    if not evidence.records:
        raise UsageError(f"{given[0]} has no runs yet: nothing can be reported")
    if csv is not None:
        written = write_csv(evidence, csv)
        typer.echo(f"memento: {counted(len(written), 'file')} with the rows are in {csv}", err=True)
    if out is not None:
        frame = Frame(
            made=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            version=__version__,
            command=f"memento report {' '.join(given)} --out {out.name}",
            expected_layers=ISOLATING,
            no_pictures="they are not drawn for pages yet; memento render makes them",
        )
        try:
            out.write_text(render(evidence, frame), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write {out}: {error.strerror}") from None
        typer.echo(f"memento: {counted(len(evidence.records), 'run')} on one page: {out}", err=True)


def _load(given: Sequence[str], runs_dir: Path) -> Evidence:
    comparisons = [found for name in given if (found := _comparison(name, runs_dir)) is not None]
    if not comparisons:
        return load_runs(list(dict.fromkeys(find_run(runs_dir, name) for name in given)), digest)
    if len(given) > 1:
        raise UsageError("a report is of one comparison, or of runs: name one comparison alone")
    return load_comparison(comparisons[0], digest)


def _comparison(name: str, runs_dir: Path) -> ComparisonFolder | None:
    for path in (runs_dir / name, Path(name)):
        folder = ComparisonFolder(path)
        if folder.exists:
            return folder
    return None
