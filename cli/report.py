"""`memento report`: one page, and the rows behind it, from runs or from a comparison."""

import asyncio
import base64
import io
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import typer

from .. import __version__
from ..agents.program_text import digest
from ..app.isolation import ISOLATING
from ..core.errors import MementoError, UsageError
from ..evidence.export import write_csv
from ..evidence.folder import ComparisonFolder
from ..evidence.loading import Evidence, load_comparison, load_runs
from ..evidence.page import Frame, Picture, render, shown_runs
from ..evidence.records import RunRecord
from ..memory.runs import find_run
from ..tui.lines import counted

MOMENTS = 6
SIZE = (400, 300)


def report(given: Sequence[str], *, runs_dir: Path, out: Path | None, csv: Path | None, pictures: bool) -> None:
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
        )
        frame = _with_pictures(frame, evidence) if pictures else replace(frame, no_pictures="none were asked for")
        try:
            out.write_text(render(evidence, frame), encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"cannot write {out}: {error.strerror}") from None
        typer.echo(f"memento: {counted(len(evidence.records), 'run')} on one page: {out}", err=True)


def _with_pictures(frame: Frame, evidence: Evidence) -> Frame:
    """With pictures of the elites that the page shows; where something cannot be drawn the page says why."""
    drawn, why = {}, ""
    for record in shown_runs(evidence):
        try:
            drawn[record.name] = _pictures(record)
        except MementoError as error:
            why = str(error).rstrip(".")
    return replace(frame, pictures=drawn, no_pictures=why)


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
