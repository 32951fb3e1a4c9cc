"""What a report is made of: the evidence of runs, a comparison or an archive, pictures of the elites, the page."""

import asyncio
import base64
import io
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...core.errors import MementoError, UsageError
from ...core.extras import require
from ...core.text import plural
from ...core.version import __version__
from ...evidence.archive import SUFFIX, read_archive
from ...evidence.archive_join import join
from ...evidence.folder import ComparisonFolder
from ...evidence.loading import Evidence, load_comparison, load_runs
from ...evidence.page import PageOrigin, Picture, render, shown_runs
from ...evidence.records import RunRecord
from ...evidence.trainings import find_training
from ...memory.runs import find_run
from ...runtime.pictures import Captioned
from .. import rendering
from ..isolation import ISOLATING

if TYPE_CHECKING:
    from PIL.Image import Image

MOMENTS: Final = 6
SIZE: Final = (400, 300)        # of a picture, in pixels
FRAMES: Final = 30              # of a film, which plays for some seconds, however long the episode took
FRAME_MS, LAST_MS = 150, 2_000
UNWANTED: Final = "none were requested"      # why there are no pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """Pictures by the name of the run. `missing` holds the reason why pictures are absent."""

    by_run: Mapping[str, tuple[Picture, ...]] = field(default_factory=dict)
    missing: str = ""


def load(given: Sequence[str], runs_dir: Path) -> tuple[Evidence, Pictures | None]:
    """The evidence, with its pictures if it is an archive. Raises UsageError for names that cannot be combined."""
    if any(name.endswith(SUFFIX) for name in given):
        return _of_archives(given)
    trained = [one for name in given if (one := find_training(runs_dir, name)) is not None]
    if trained:
        others = [name for name in given if find_training(runs_dir, name) is None]
        alone = Evidence(title="Learned baselines", records=()), Pictures()
        evidence, pictures = load(others, runs_dir) if others else alone
        rows = (training.row(folder) for training, folder in dict.fromkeys(trained))
        return replace(evidence, baselines=(*evidence.baselines, *rows)), pictures
    comparisons = [found for name in given if (found := _comparison(name, runs_dir)) is not None]
    if not comparisons:
        return load_runs(list(dict.fromkeys(find_run(runs_dir, name) for name in given))), None
    if len(given) > 1:
        raise UsageError("a report shows one comparison, or runs: name one comparison alone")
    return load_comparison(comparisons[0]), None


def _of_archives(given: Sequence[str]) -> tuple[Evidence, Pictures]:
    """One archive, or several that are parts of one comparison. Raises UsageError."""
    other = next((name for name in given if not name.endswith(SUFFIX)), None)
    if other is not None:
        raise UsageError(f"a report shows archives, or runs: omit {other}, or make an archive of it first")
    read = {name: read_archive(Path(name)) for name in given}
    evidence = join([(name, part) for name, (part, _) in read.items()])
    pictures = {run: drawn for _, by_run in read.values() for run, drawn in by_run.items()}
    return evidence, Pictures(by_run=pictures, missing="there are none in the archive")


def draw(evidence: Evidence) -> Pictures:
    """Pictures of the elites that the page shows."""
    drawn, why = {}, ""
    for record in shown_runs(evidence):
        try:
            drawn[record.name] = _moments(record)
        except MementoError as error:
            why = str(error).rstrip(".")
    return Pictures(by_run=drawn, missing=why)


def _comparison(name: str, runs_dir: Path) -> ComparisonFolder | None:
    for path in (runs_dir / name, Path(name)):
        folder = ComparisonFolder(path)
        if folder.exists:
            return folder
    return None


def _moments(record: RunRecord) -> tuple[Picture, ...]:
    """Moments of the elite's first episode, then a film, from its stored trajectory. Raises MementoError."""
    wanted = rendering.of_run(Path(record.folder), None, index=0, seed=None, flags={}, assignments=())
    renderer = rendering.renderer_of(wanted)
    renderer.require()
    found = asyncio.run(rendering.fetch(wanted))
    steps = found.recording.steps
    camera, (width, height) = renderer.cameras[0], SIZE
    open_playback = partial(renderer.playback, found.recording, camera=camera, width=width, height=height)
    with rendering.drawing(found), closing(open_playback()) as playback:
        return tuple(_pictures(Captioned(playback, title="", steps=steps), steps))


def _pictures(captioned: Captioned, steps: int) -> Iterator[Picture]:
    """Evenly spread moments and a film of them all, as pictures that an HTML page can hold."""
    for row in _spread(steps, MOMENTS):
        uri = _webp(captioned.image(row), quality=78)
        yield Picture(uri=uri, caption=f"the elite's first episode, step {row:,} of {steps:,}")
    rows = _spread(steps, FRAMES)
    if len(rows) > 1:
        first, *more = map(captioned.image, rows)
        times = [*[FRAME_MS] * len(more), LAST_MS]
        uri = _webp(first, quality=55, save_all=True, append_images=more, duration=times, loop=0)
        yield Picture(uri=uri, caption=f"the elite's first episode, all {plural(steps, 'step')}", moving=True)


def _spread(steps: int, count: int) -> list[int]:
    """At most `count` rows of a recording, evenly spread, the first and the last among them."""
    return sorted({round(steps * place / (count - 1)) for place in range(count)})


def _webp(image: "Image", **options: object) -> str:
    """The image as a data URI."""
    file = io.BytesIO()
    image.save(file, format="WEBP", **options)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"


def require_page(path: Path) -> None:
    """Raise UsageError unless this is a name for a page, or without the package for its statistics."""
    require("compare", "a report")
    if path.suffix not in (".html", ".htm"):
        raise UsageError(f"{path} cannot name a page: name it *.html")


def page_text(evidence: Evidence, pictures: Pictures, *, command: str) -> str:
    """The page as HTML; `command` is the command line that makes it."""
    frame = PageOrigin(
        made=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        version=__version__,
        command=command,
        expected_layers=ISOLATING,
        pictures=pictures.by_run,
        no_pictures=pictures.missing,
    )
    return render(evidence, frame)


def write_page(path: Path, evidence: Evidence, pictures: Pictures, *, command: str) -> None:
    """Write the page as HTML; `command` is the command line that makes it. Raises UsageError."""
    try:
        path.write_text(page_text(evidence, pictures, command=command), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
