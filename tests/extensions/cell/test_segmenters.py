"""Segmenters: a process of another program answers in time, or its failure is one sentence."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from memento.cli import exit_code
from memento.core.errors import RolloutError, UsageError
from memento.extensions.cell.cell_file import CONTAINER, CUBES, SegmenterPart
from memento.extensions.cell.ports import NOTHING, Frame
from memento.extensions.cell.segmenters import make_segmenter
from PIL import Image

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


STUBS = {       # what the guide's example uses of two large packages; the network knows colours by their names
    "torch.py": """
from contextlib import nullcontext as no_grad
from types import SimpleNamespace
cuda = SimpleNamespace(is_available=lambda: False)
""",
    "transformers.py": """
import numpy as np
PAINT = {"red": (9, 0, 0), "blue": (0, 0, 9), "green": (0, 9, 0), "yellow": (9, 9, 0), "purple": (5, 0, 5)}

class Tensor:
    def __init__(self, values): self.values = values
    def float(self): return self
    def cpu(self): return self
    def numpy(self): return self.values

class Given(dict):
    def to(self, device): return self

class Sam3Processor:
    @classmethod
    def from_pretrained(cls, folder, local_files_only): assert folder == "folder" and local_files_only; return cls()
    def __call__(self, images, text, return_tensors): return Given(pixels=np.asarray(images), text=text)
    def post_process_instance_segmentation(self, output, threshold, mask_threshold, target_sizes):
        seen = (output["pixels"] == PAINT[output["text"].split()[0]]).all(axis=2)
        assert [seen.shape] == target_sizes
        halves = [seen & (np.arange(seen.shape[1]) < 4), seen & (np.arange(seen.shape[1]) >= 4)]
        return [{"masks": Tensor(np.array(halves)), "scores": Tensor(np.array([0.6, 0.9]))}]

class Sam3Model:
    @classmethod
    def from_pretrained(cls, folder, local_files_only): return cls()
    def to(self, device): return self
    def eval(self): return self
    def __call__(self, **given): return given
""",
}


@pytest.mark.slow
def test_the_example_of_the_guide_labels_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "robot-cell.md").read_text("utf-8")
    [example] = re.findall(r'```python\n("""lab/label.py.*?)```', guide, re.DOTALL)
    for name, text in {**STUBS, "label.py": example}.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    part = SegmenterPart(
        kind="command", command=(sys.executable, str(tmp_path / "label.py"), "folder"), timeout_s=60.0,
    )
    colour = np.zeros((6, 8, 3), dtype=np.uint8)
    colour[0, 1:7], colour[2, 5], colour[4, 5:7], colour[4, 1] = (5, 0, 5), (9, 0, 0), (9, 9, 0), (9, 9, 0)
    segmenter = make_segmenter(part)
    try:
        labels = segmenter.labels(Frame(time_s=0.0, colour=colour, depth_m=np.ones((6, 8), dtype=np.float32)))
    finally:
        segmenter.close()
    wanted = np.full((6, 8), NOTHING)
    wanted[0, 1:7], wanted[2, 5], wanted[4, 5:7] = 4, 0, 3      # all containers, and of each cube the best mask alone
    assert np.array_equal(labels, wanted)


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


def test_colours_are_learned_from_frames_in_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paint = np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200], [200, 200, 30], [120, 120, 120]])
    truth = np.full((60, 100), 255, dtype=np.uint8)
    for index in range(5):
        truth[10:40, 20 * index : 20 * index + 15] = index
    rng = np.random.default_rng(0)
    colours = np.where(truth[..., None] < 5, paint[np.minimum(truth, 4)], (10, 10, 10))
    seen = (colours + rng.integers(0, 8, (60, 100, 3))).astype(np.uint8)
    Image.fromarray(seen).save(tmp_path / "one.png")
    Image.fromarray(truth).save(tmp_path / "one.labels.png")
    assert exit_code(["cell", "learn-colours", str(tmp_path)]) == 0
    found = tomllib.loads(capsys.readouterr().out)["segmenter"]
    assert found["colours"].keys() == {*CUBES, CONTAINER}
    segmenter = make_segmenter(SegmenterPart(kind="colour", **found))
    labels = segmenter.labels(Frame(time_s=0.0, colour=seen, depth_m=np.ones((60, 100), dtype=np.float32)))
    wanted = np.where(truth < 5, truth, NOTHING)
    assert (labels == wanted).mean() > 0.97


@pytest.mark.parametrize(("files", "words"), [
    ({}, "has no labelled frames: each is NAME.png and NAME.labels.png"),
    ({"a.labels.png": (8, 8)}, "cannot be read"),
    ({"a.labels.png": (8, 8), "a.png": (9, 8)}, "its frame another number"),
    ({"a.labels.png": (8, 8), "a.png": (8, 8)}, "0 pixels of medium; at least 50 are needed"),
])
def test_frames_that_teach_nothing_are_refused(
    files: dict[str, tuple[int, int]], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, size in files.items():
        Image.new("L", size).save(tmp_path / name)
    assert exit_code(["cell", "learn-colours", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
