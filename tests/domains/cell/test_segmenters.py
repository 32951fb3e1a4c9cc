"""Segmenters: a process of another program answers in time, or its failure is one sentence."""

import sys

import numpy as np
import pytest
from memento.core.errors import RolloutError, UsageError
from memento.domains.cell.cell_file import SegmenterPart
from memento.domains.cell.ports import NOTHING, Frame
from memento.domains.cell.segmenters import make_segmenter

LABELS = """
import json, sys
while line := sys.stdin.buffer.readline():
    head = json.loads(line)
    count = head["width"] * head["height"]
    image = sys.stdin.buffer.read(3 * count)
    sys.stdout.buffer.write(bytes(2 if image[3 * k] > 99 else 255 for k in range(count)))
    sys.stdout.buffer.flush()
"""


def frame(*, red: int = 0) -> Frame:
    colour = np.zeros((6, 8, 3), dtype=np.uint8)
    colour[2:4, 3:5, 0] = red
    return Frame(time_s=0.0, colour=colour, depth_m=np.ones((6, 8), dtype=np.float32))


def command(text: str, **more: object) -> SegmenterPart:
    return SegmenterPart(kind="command", command=(sys.executable, "-c", text), **more)


def test_a_command_labels_every_frame() -> None:
    segmenter = make_segmenter(command(LABELS))
    try:
        for red in (200, 0, 200):
            labels = segmenter.labels(frame(red=red))
            assert labels.dtype == np.int8 and labels.shape == (6, 8)
            assert (labels == 2).sum() == (4 if red else 0) and (labels == NOTHING).sum() == 48 - (4 if red else 0)
    finally:
        segmenter.close()


@pytest.mark.slow
@pytest.mark.parametrize(("text", "sentence"), [
    ("import sys; sys.exit(1)", "gone|ended"),
    ("import sys; sys.stdin.buffer.readline(); sys.stdout.buffer.write(b'x'); sys.stdout.close()", "ended|gone"),
    ("import time; time.sleep(60)", "did not answer within 0.5 s"),
])
def test_a_command_that_fails_is_one_sentence(text: str, sentence: str) -> None:
    segmenter = make_segmenter(command(text, timeout_s=0.5 if "sleep" in text else 20.0))
    try:
        with pytest.raises(RolloutError, match=sentence):
            segmenter.labels(frame())
    finally:
        segmenter.close()


def test_a_command_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot be started"):
        make_segmenter(SegmenterPart(kind="command", command=("/no/such/program",)))


def test_the_truth_needs_a_simulated_camera() -> None:
    with pytest.raises(RolloutError, match="simulated camera"):
        make_segmenter(SegmenterPart(kind="truth")).labels(frame())
