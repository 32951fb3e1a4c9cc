"""Files of an episode's captioned pictures: an MP4, a GIF, or a PNG with one moment or a sheet."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from ..core.errors import UsageError
from ..core.files import replacing
from ..core.ports import Picture
from ..runtime.pictures import Captioned, on_a_sheet

if TYPE_CHECKING:
    from PIL.Image import Image


RATE_HZ: Final = {".mp4": 25.0, ".gif": 10.0}       # pictures per second, at most
LONGEST_S: Final = {".mp4": 30.0, ".gif": 20.0}     # unless a speed is given
STEP_S: Final = 0.4         # for a step without a duration
REST_S: Final = 1.5         # the duration of the last picture
SHEET: Final = 12           # moments on a sheet
COLUMNS: Final = 4
COLOURS: Final = 255        # of a GIF's palette


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybackPace:
    """Which rows of an episode are shown, and how fast."""

    rows: tuple[int, ...]
    rate_hz: float
    speed: float            # playback speed relative to real time


def pace(kind: str, steps: int, step_s: float | None, *, speed: float | None, every: int | None) -> PlaybackPace:
    """The rows of an episode of `steps` steps for a file of this kind; the first and the last are among them.

    Without a speed, real time for a short episode, else the speed at which the longest film shows it all.
    """
    period_s = STEP_S if step_s is None else step_s
    fast = speed or max(1.0, steps * period_s / LONGEST_S[kind])
    stride = every or max(1, ceil(fast / (period_s * RATE_HZ[kind]) - 1e-9))
    rows = list(range(0, steps + 1, stride))
    if rows[-1] != steps:
        rows.append(steps)
    return PlaybackPace(rows=tuple(rows), rate_hz=min(50.0, max(0.5, fast / (period_s * stride))), speed=fast)


def moments(steps: int, every: int | None) -> tuple[int, ...]:
    """The rows of a sheet: evenly spread, the first and the last among them."""
    if every is not None:
        return tuple(sorted({*range(0, steps + 1, every), steps}))
    return tuple(sorted({round(row) for row in np.linspace(0, steps, min(SHEET, steps + 1))}))


# ------------------------------------------------------------------------------------------------ files


def save_film(path: Path, captioned: Captioned, how: PlaybackPace, *, progress: Callable[[int], None]) -> None:
    """Write an MP4 or a GIF, atomically. Raises UsageError if writing fails."""
    note = f", {how.speed:.3g} x" if how.speed > 1.0 else ""

    def images() -> Iterator["Image"]:
        for count, row in enumerate(how.rows):
            yield captioned.image(row, note=note)
            progress(count + 1)

    write = _write_mp4 if path.suffix.lower() == ".mp4" else _write_gif
    _whole(path, lambda partial: write(partial, images(), how.rate_hz))


def save_sheet(path: Path, captioned: Captioned, rows: Sequence[int], *, progress: Callable[[int], None]) -> None:
    """Write a PNG of these rows, side by side. Raises UsageError if writing fails."""
    cells = []
    for count, row in enumerate(rows):
        cells.append(captioned.image(row))
        progress(count + 1)
    sheet = on_a_sheet(cells, COLUMNS)
    _whole(path, lambda partial: sheet.save(partial, format="PNG", optimize=True))


def _whole(path: Path, write: Callable[[Path], None]) -> None:
    try:
        with replacing(path) as partial:
            write(partial)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def _write_mp4(path: Path, images: Iterator["Image"], rate_hz: float) -> None:
    """H.264 with 4:2:0 colours, which every player and browser supports."""
    from fractions import Fraction

    import av

    rate = Fraction(rate_hz).limit_denominator(1000)
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = None
        last: Picture | None = None
        for image in images:
            last = _even(np.asarray(image))
            if stream is None:
                stream = container.add_stream("libx264", rate=rate, options={"crf": "23", "preset": "medium"})
                stream.height, stream.width, stream.pix_fmt = last.shape[0], last.shape[1], "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_ndarray(last, format="rgb24")))
        assert stream is not None
        assert last is not None
        for _ in range(ceil(REST_S * rate_hz)):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(last, format="rgb24")))
        container.mux(stream.encode())


def _even(picture: Picture) -> Picture:
    """H.264 with 4:2:0 colours needs even sizes: an odd last row or column is repeated."""
    odd = [(0, side % 2) for side in picture.shape[:2]]
    padded: Picture = np.pad(picture, [*odd, (0, 0)], mode="edge")
    return padded


def _write_gif(path: Path, images: Iterator["Image"], rate_hz: float) -> None:
    """One palette for all pictures and no dithering, so that a static background costs no space."""
    from PIL import Image

    frames = list(images)
    sample = frames[:: max(1, len(frames) // 8)]
    width, height = sample[0].size
    montage = Image.new("RGB", (width, height * len(sample)))
    for place, frame in enumerate(sample):
        montage.paste(frame, (0, place * height))
    palette = montage.quantize(COLOURS, Image.Quantize.FASTOCTREE)     # keeps the colour of a small cube
    flat = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    period_ms = max(20, 10 * round(100 / rate_hz))
    durations = [period_ms] * (len(flat) - 1) + [round(1000 * REST_S)]
    flat[0].save(
        path, format="GIF", save_all=True, append_images=flat[1:], duration=durations, loop=0, optimize=True,
    )
