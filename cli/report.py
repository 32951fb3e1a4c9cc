"""`memento report`: one page, and the rows behind it, from runs or from a comparison."""

import asyncio
import base64
import io
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import typer

from .. import __version__
from ..app.isolation import ISOLATING
from ..core.errors import MementoError, UsageError
from ..core.program_text import digest
from ..core.text import counted
from ..evidence.archive import SUFFIX, read_archive, write_archive
from ..evidence.export import write_csv
from ..evidence.folder import ComparisonFolder
from ..evidence.loading import Evidence, load_comparison, load_runs
from ..evidence.page import Frame, Picture, render, shown_runs
from ..evidence.records import RunRecord
from ..memory.runs import find_run

MOMENTS = 6
SIZE = (400, 300)


def report(
    given: Sequence[str], *, runs_dir: Path, out: Path | None, csv: Path | None, archive: Path | None, pictures: bool
) -> None:
    """Write the page, the rows, the archive, or several of them. Raises UsageError."""
    if out is None and csv is None and archive is None:
        raise UsageError(
            "write what? give --out FILE.html for a page, --csv DIR for the rows, or --archive FILE.json.xz for one "
            "file to make them from"
        )
    if out is not None and out.suffix not in (".html", ".htm"):
        raise UsageError(f"--out {out} is no page: name it *.html")
    if archive is not None and not archive.name.endswith(SUFFIX):
        raise UsageError(f"--archive {archive} is no archive: name it *{SUFFIX}")
    evidence, drawn = _load(given, runs_dir)
    if not evidence.records:
        raise UsageError(f"{given[0]} has no runs yet: nothing can be reported")
    no_pictures = "" if pictures else "none were asked for"
    if pictures and drawn is None:
        drawn, no_pictures = _draw(evidence)
    drawn = drawn if pictures and drawn else {}
    if archive is not None:
        size = write_archive(evidence, drawn, archive)
        typer.echo(f"memento: {counted(len(evidence.records), 'run')} in {size / 1e3:,.0f} kB: {archive}", err=True)
    if csv is not None:
        written = write_csv(evidence, csv)
        typer.echo(f"memento: {counted(len(written), 'file')} with the rows are in {csv}", err=True)
    if out is not None:
        frame = Frame(
            made=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            version=__version__,
            command=f"memento report {' '.join(given)} --out {out.name}",
            expected_layers=ISOLATING,
            pictures=drawn,
            no_pictures=no_pictures or "there are none in the archive",
        )
        try:
            out.write_text(render(evidence, frame), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write {out}: {error.strerror}") from None
        typer.echo(f"memento: {counted(len(evidence.records), 'run')} on one page: {out}", err=True)


Pictures = Mapping[str, tuple[Picture, ...]]


def _draw(evidence: Evidence) -> tuple[Pictures, str]:
    """Pictures of the elites that the page shows, and why there are none where something cannot be drawn."""
    drawn, why = {}, ""
    for record in shown_runs(evidence):
        try:
            drawn[record.name] = _pictures(record)
        except MementoError as error:
            why = str(error).rstrip(".")
    return drawn, why


def _pictures(record: RunRecord) -> tuple[Picture, ...]:
    """Moments of the elite's first episode, as the run keeps it. Raises MementoError."""
    from ..app import rendering
    from .pictures import Captioned

    wanted = rendering.of_run(Path(record.folder), None, index=0, seed=None, flags={}, assignments=())
    renderer = rendering.renderer_of(wanted)
    renderer.require()
    found = asyncio.run(rendering.fetch(wanted))
    steps = found.recording.steps
    rows = sorted({round(steps * place / (MOMENTS - 1)) for place in range(MOMENTS)})
    with closing(renderer.stage(found.recording, camera=renderer.cameras[0], width=SIZE[0], height=SIZE[1])) as stage:
        captioned = Captioned(stage, title="", steps=steps)
        pictures = []
        for row in rows:
            file = io.BytesIO()
            captioned.image(row).save(file, format="WEBP", quality=78)
            uri = f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"
            pictures.append(Picture(uri=uri, caption=f"the elite's first episode, step {row:,} of {steps:,}"))
    return tuple(pictures)


def _load(given: Sequence[str], runs_dir: Path) -> tuple[Evidence, Pictures | None]:
    """The evidence; of an archive its pictures, too."""
    if any(name.endswith(SUFFIX) for name in given):
        if len(given) > 1:
            raise UsageError("a report is of one archive, or of runs: name one archive alone")
        return read_archive(Path(given[0]))
    comparisons = [found for name in given if (found := _comparison(name, runs_dir)) is not None]
    if not comparisons:
        return load_runs(list(dict.fromkeys(find_run(runs_dir, name) for name in given)), digest), None
    if len(given) > 1:
        raise UsageError("a report is of one comparison, or of runs: name one comparison alone")
    return load_comparison(comparisons[0], digest), None


def _comparison(name: str, runs_dir: Path) -> ComparisonFolder | None:
    for path in (runs_dir / name, Path(name)):
        folder = ComparisonFolder(path)
        if folder.exists:
            return folder
    return None
