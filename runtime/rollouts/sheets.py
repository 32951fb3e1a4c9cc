"""Draws sheets of recorded episodes for a critic, in a worker."""

import hashlib
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from ...core.errors import StoreError, UsageError, os_problem
from ...core.files import replacing
from ...core.ports import Domain, Drawable, Renderer, SimulatorFailed
from ...core.recording import Recording
from ...core.recording_file import load_recording, trajectory_path
from ...core.text import one_line
from ...core.turns import HIDDEN
from ...core.values import JSON
from ..pictures import Captioned, on_a_sheet
from .simulating import simulating
from .worker_messages import Message

SIZE: Final = (384, 288)        # of one frame in pixels, without its caption
COLUMNS: Final = 3
QUALITY: Final = 88             # of the JPEG
MAX_CAPTION: Final = 300        # characters of a frame's caption
MAX_PROBLEM: Final = 400


class SheetMaker:
    """Draws sheets with the domain's renderer; `rest` is called after each frame."""

    def __init__(self, domain: Domain, splits: Mapping[str, Mapping[str, JSON]], rest: Callable[[], None]) -> None:
        self._domain = domain
        self._splits = splits
        self._rest = rest

    def require(self, split: str) -> Message:
        """Why episodes of this split cannot be drawn on this machine, in a sentence; "" if they can."""
        if find_spec("PIL") is None:    # the worker may run under a Python of the user's
            return {"problem": f"{sys.executable} has no Pillow: install it there"}
        try:
            self._renderer(split).require()
        except UsageError as error:
            return {"problem": str(error)}
        return {"problem": ""}

    def make(self, request: Mapping[str, Any], folder: Path) -> Message:
        """Draw rows of a recording in `folder`; what cannot be drawn is a problem in words. Raises StoreError, Aborted.
        """
        try:
            recording = load_recording(trajectory_path(folder, str(request["key"])))
        except StoreError as error:
            return _problem(str(error))
        try:
            renderer = self._renderer(str(request["split"]))
            renderer.require()
            with simulating():
                data, captions = self._draw(renderer, without_secrets(recording), [int(row) for row in request["rows"]])
        except (UsageError, SimulatorFailed) as error:
            return _problem(str(error))
        _write(Path(request["path"]), data)
        return {"captions": captions, "digest": hashlib.sha256(data).hexdigest(), "problem": ""}

    def _renderer(self, split: str) -> Renderer:
        if not isinstance(self._domain, Drawable):
            raise UsageError(f"the domain {self._domain.name!r} draws no pictures: it has no method renderer(options)")
        return self._domain.renderer(self._splits[split])

    def _draw(self, renderer: Renderer, recording: Recording, rows: list[int]) -> tuple[bytes, list[str]]:
        """The JPEG of a sheet, and the caption of each of its frames on one line."""
        width, height = SIZE
        cells, captions = [], []
        camera = renderer.cameras[0]
        with closing(renderer.playback(recording, camera=camera, width=width, height=height)) as playback:
            captioned = Captioned(playback, title="", steps=recording.steps)
            for number, row in enumerate(rows, start=1):
                cells.append(captioned.image(row, note=f"frame {number}"))
                captions.append(one_line("; ".join(playback.caption(row)), MAX_CAPTION))
                self._rest()
        file = BytesIO()
        on_a_sheet(cells, COLUMNS).save(file, format="JPEG", quality=QUALITY, optimize=True)
        return file.getvalue(), captions


def without_secrets(recording: Recording) -> Recording:
    """The recording without what policies never learn: whether the success predicate held."""
    return recording.without(HIDDEN | {"ended_by"})


def _problem(text: str) -> Message:
    return {"captions": [], "digest": "", "problem": one_line(text, MAX_PROBLEM)}


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        with replacing(path, durable=True) as partial:
            partial.write_bytes(data)
    except OSError as error:
        raise StoreError(f"the sheet {path.name} cannot be written to {path.parent}: {os_problem(error)}") from error
