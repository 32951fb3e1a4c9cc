"""Segmentation by colour: which colours belong to which object, learned from labelled frames, applied by a table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cell_file import CONTAINER, CUBES, Colour
from .ports import NOTHING, Array, Frame, Labels

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
