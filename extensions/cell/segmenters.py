"""The segmenters that a cell's file can name: `colour`, `command` and, for tests, `truth`."""

import json
import os
import select
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import RolloutError, UsageError
from .cell_file import CONTAINER, CUBES, Colour, SegmenterPart
from .ports import NOTHING, Array, Frame, Labels, Segmenter

# Segmentation by colour: which colours belong to which object, learned from labelled frames, applied by a table.


CLASSES = (*CUBES, CONTAINER)
BITS = 6                # of a colour channel in the table
LEAST_STD = 0.01        # of a share, so that a clean frame does not make a class too narrow
MIDDLE = 1 << (7 - BITS)


class ColourSegmenter:
    """Implements `ports.Segmenter`: one look-up per pixel."""

    def __init__(self, colours: Mapping[str, Colour], *, widths: float) -> None:
        levels = (np.arange(1 << BITS) << (8 - BITS)) + MIDDLE
        red, green, blue = np.meshgrid(levels, levels, levels, indexing="ij")
        every = np.stack([red, green, blue], axis=-1).reshape(-1, 3)
        self._table = nearest_class(every, colours, widths=widths)

    def labels(self, frame: Frame) -> Labels:
        """One label per pixel, (height, width)."""
        level = frame.colour >> (8 - BITS)
        index = level[..., 0].astype(np.int32)
        for channel in (1, 2):
            index <<= BITS
            index |= level[..., channel]
        return self._table[index]

    def close(self) -> None:
        """Nothing to release."""


def nearest_class(colours: NDArray[Any], classes: Mapping[str, Colour], *, widths: float) -> Labels:
    """The label of each colour (n, 3): the class whose mean is nearest in its stds and within `widths` of them."""
    shares, brightness = _shares(colours)
    best = np.full(len(colours), widths ** 2)
    label = np.full(len(colours), NOTHING, dtype=np.int8)
    for index, name in enumerate(CLASSES):
        known = classes[name]
        away = (((shares - known.mean) / known.std) ** 2).sum(axis=1)
        closer = (away < best) & (brightness >= known.least_brightness)
        best[closer], label[closer] = away[closer], index
    return label


def learn(frames: Iterable[Frame]) -> dict[str, Colour]:
    """The classes from frames with true labels. Raises ValueError for a class that no frame shows.

    Pixels at the border of an object mix two colours, so the middle nine tenths of each share count.
    """
    pixels: dict[str, list[NDArray[np.uint8]]] = {name: [] for name in CLASSES}
    for frame in frames:
        assert frame.truth is not None
        for index, name in enumerate(CLASSES):
            pixels[name].append(frame.colour[frame.truth == index])
    return {name: _class_of(name, np.concatenate(parts)) for name, parts in pixels.items()}


LABELS = ".labels.png"      # of the second file of a labelled frame


def labelled_frames(folder: Path) -> list[Frame]:
    """The frames of a folder: NAME.png, as the camera sends it, and NAME.labels.png, one grey value per pixel.

    The grey values are 0 to 3 for the cubes, small to large, and 4 for a container; any other is the rest. Raises
    UsageError for a folder without frames, and for a file that is no image or does not fit its frame.
    """
    from PIL import Image

    frames = []
    for path in sorted(folder.glob(f"*{LABELS}")):
        colours = path.with_name(path.name.removesuffix(LABELS) + ".png")
        try:
            with Image.open(colours) as image, Image.open(path) as labels:
                seen, given = np.asarray(image.convert("RGB")), np.asarray(labels.convert("L")).astype(np.int16)
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise UsageError(f"the labelled frame {path} cannot be read: {error}") from error
        if seen.shape[:2] != given.shape:
            raise UsageError(f"{path} has {given.shape[1]} x {given.shape[0]} pixels, its frame another number")
        truth = np.where(given < len(CLASSES), given, NOTHING).astype(np.int8)
        frames.append(Frame(time_s=0.0, colour=seen, depth_m=np.zeros(given.shape, np.float32), truth=truth))
    if not frames:
        raise UsageError(f"{folder} has no labelled frames: each is NAME.png and NAME{LABELS}")
    return frames


def colours_as_toml(colours: Mapping[str, Colour]) -> str:
    """The classes as the tables of a cell's file."""
    return "".join(
        f"[segmenter.colours.{name}]\nmean = [{one.mean[0]:g}, {one.mean[1]:g}]\n"
        f"std = [{one.std[0]:g}, {one.std[1]:g}]\nleast_brightness = {one.least_brightness:g}\n"
        for name, one in colours.items()
    )


def _class_of(name: str, colours: NDArray[np.uint8]) -> Colour:
    if len(colours) < 50:
        raise ValueError(f"the labelled frames show {len(colours)} pixels of {name}; at least 50 are needed")
    shares, brightness = _shares(colours)
    low, high = np.percentile(shares, (5, 95), axis=0)
    kept = shares[((shares >= low) & (shares <= high)).all(axis=1)]
    mean, std = kept.mean(axis=0), np.maximum(kept.std(axis=0) * 1.25, LEAST_STD)
    return Colour(
        mean=(round(float(mean[0]), 4), round(float(mean[1]), 4)),
        std=(round(float(std[0]), 4), round(float(std[1]), 4)),
        least_brightness=round(0.6 * float(np.percentile(brightness, 2)), 1),
    )


def _shares(colours: NDArray[Any]) -> tuple[Array, Array]:
    """The shares of red and green (n, 2) and the brightness (n,), 0 to 255."""
    values = colours.astype(np.float64)
    total = np.maximum(values.sum(axis=1), 1.0)
    return values[:, :2] / total[:, None], values.max(axis=1)


END_S = 2.0     # for a command to end by itself


def make_segmenter(part: SegmenterPart) -> Segmenter:
    """The segmenter of a cell. Raises UsageError if its command cannot be started."""
    if part.kind == "truth":
        return TruthSegmenter()
    if part.kind == "command":
        return CommandSegmenter(part.command, timeout_s=part.timeout_s)
    return ColourSegmenter(part.colours, widths=part.widths)


class TruthSegmenter:
    """The labels that a simulated camera knows."""

    def labels(self, frame: Frame) -> Labels:
        """The frame's own labels. Raises RolloutError for a camera that does not know them."""
        if frame.truth is None:
            raise RolloutError("the segmenter `truth` needs a simulated camera; use `colour` or `command`")
        return frame.truth

    def close(self) -> None:
        """Nothing to release."""


class CommandSegmenter:
    """A process that labels images: a network such as SAM with the names of the objects as its queries.

    For each image it reads a line of JSON, {"width": w, "height": h}, and w × h × 3 bytes of red, green and blue by
    rows; it writes w × h bytes, one signed label per pixel.
    """

    def __init__(self, command: tuple[str, ...], *, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._name = command[0]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"the segmenter {command[0]} cannot be started: {error.strerror}") from error
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def labels(self, frame: Frame) -> Labels:
        """One label per pixel. Raises RolloutError if the process ends or does not answer in time."""
        height, width = frame.depth_m.shape
        head = json.dumps({"width": width, "height": height}).encode() + b"\n"
        request = memoryview(head + frame.colour.tobytes())
        deadline = time.monotonic() + self._timeout_s
        answer = bytearray()
        while len(answer) < width * height:
            left_s = deadline - time.monotonic()
            if left_s <= 0.0:
                raise RolloutError(f"the segmenter {self._name} did not answer within {self._timeout_s:g} s")
            readable, writable, _ = select.select([self._out], [self._in] if request else [], [], left_s)
            try:
                if writable:
                    request = request[os.write(self._in, request[:65536]):]
                piece = os.read(self._out, width * height - len(answer)) if readable else None
            except OSError as error:
                raise RolloutError(f"the segmenter {self._name} is gone: {error.strerror}") from error
            if piece == b"":
                raise RolloutError(f"the segmenter {self._name} ended without an answer")
            answer += piece or b""
        return np.frombuffer(bytes(answer), dtype=np.int8).reshape(height, width)

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(timeout=END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
