"""The segmenters that a cell's file can name: `colour`, `command` and, for tests, `truth`."""

import json
import os
import select
import subprocess
import time

import numpy as np

from ...core.errors import RolloutError, UsageError
from .cell_file import SegmenterPart
from .colours import ColourSegmenter
from .ports import Frame, Labels, Segmenter

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
