"""`memento render`: files that decode, from a run or a policy, and one sentence if that is not possible."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.app.picture_files import LONGEST_S, RATE_HZ, moments, pace
from memento.cli.drawing import EpisodeChoice, drawing_progress
from memento.core.errors import UsageError
from memento.core.ports import Renderer
from memento.core.recording import Recording
from memento.core.seeds import salted_seed
from memento.domains.arm import graphics
from memento.runtime.pictures import Captioned
from PIL import Image, ImageSequence

from ..support import ON_PATH
from ..support.on_path.painter import POLICY
from ..support.program import PROGRAM

pytestmark = pytest.mark.quick

Call = Callable[..., "CompletedProcess[str]"]
OWN = {"PYTHONPATH": str(ON_PATH)}
DRAWN = ("mine.py", "--domain", "painter:DOMAIN", "--size", "120x60")
RED = np.array([200, 30, 30])


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(POLICY)
    return path


def red(picture: np.ndarray) -> float:
    """Where the square is, across."""
    near = np.abs(picture[:60].astype(int) - RED).sum(axis=-1) < 90
    return float(np.argwhere(near)[:, 1].mean())


def shown(pictures: int, each_s: float, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed to stderr while this many pictures are drawn, each of which takes this long."""
    now = [0.0]
    show = drawing_progress(pictures, Path("film.gif"), clock=lambda: now[0])
    for done in range(1, pictures + 1):
        now[0] += each_s
        show(done)
    return capsys.readouterr().err


def test_a_pipe_gets_a_line_now_and_then_and_none_for_a_short_film(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(40, 0.1, capsys) == ""
    assert shown(60, 0.5, capsys).splitlines() == [
        f"memento: picture {done} of 60{left}" for done, left in
        ((20, ", about 20 s left"), (40, ", about 10 s left"), (60, ""))
    ]


def test_a_terminal_has_one_line_that_ends_with_the_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    text = shown(4, 2.0, capsys)
    assert text.count("\n") == 1 and text.endswith("picture 4 of 4; writing film.gif\n")
    assert "picture 1 of 4, about 10 s left" in text


def test_a_salt_gives_the_episode_of_an_evaluation() -> None:
    salt = "0" * 31 + "7"
    chosen = EpisodeChoice(index=0, given=9008, salt=salt)
    chosen.check()
    assert chosen.seed == salted_seed(9008, salt) != 9008 == EpisodeChoice(index=0, given=9008).seed
    assert EpisodeChoice(index=0, given=None).seed is None
    with pytest.raises(UsageError, match="--salt has no effect without --seed"):
        EpisodeChoice(index=0, given=None, salt=salt).check()
    with pytest.raises(UsageError, match="32 hexadecimal digits"):
        EpisodeChoice(index=0, given=1, salt="abc").check()


@pytest.mark.slow
@pytest.mark.usefixtures("policy")
def test_a_film_shows_every_step_in_order(memento: Call, tmp_path: Path) -> None:
    done = memento("render", *DRAWN, "--out", "film.mp4", "--json", **OWN)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["file"], printed["steps"], printed["pictures"]) == ("film.mp4", 9, 10)
    assert "rolled out now, with seed 0" in done.stderr
    with av.open(str(tmp_path / "film.mp4")) as film:
        assert film.streams.video[0].codec_context.name == "h264"
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    assert frames[0].shape[1] == 120
    assert len(frames) >= 10
    places = [red(frame) for frame in frames[:10]]
    assert places == sorted(places)
    assert places[-1] > places[0] + 20
    assert not list(tmp_path.glob(".*partial*"))


@pytest.mark.slow
@pytest.mark.usefixtures("policy")
def test_a_gif_moves_too(memento: Call, tmp_path: Path) -> None:
    done = memento("render", *DRAWN, "--out", "film.gif", "--every", "3", **OWN)
    assert (done.returncode, done.stdout) == (0, "film.gif\n"), done.stderr
    with Image.open(tmp_path / "film.gif") as film:
        frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
    assert len(frames) == 4, "steps 0, 3, 6 and the last"
    places = [red(frame) for frame in frames]
    assert places == sorted(places)
    assert places[-1] > places[0] + 20


@pytest.mark.slow
@pytest.mark.usefixtures("policy")
def test_a_png_is_one_moment_or_a_sheet(memento: Call, tmp_path: Path) -> None:
    assert memento("render", *DRAWN, "--out", "a.png", "--at", "4", **OWN).returncode == 0
    assert memento("render", *DRAWN, "--out", "b.png", **OWN).returncode == 0
    with Image.open(tmp_path / "a.png") as moment, Image.open(tmp_path / "b.png") as sheet:
        assert moment.width == 120
        assert red(np.asarray(moment)) == pytest.approx(4 * 4 + 4.5, abs=1)
        assert sheet.width > 4 * 120
        assert sheet.height > 3 * 60


@pytest.mark.slow
@pytest.mark.usefixtures("policy")
def test_a_file_that_is_there_is_replaced_whole(memento: Call, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("old")
    assert memento("render", *DRAWN, "--out", "a.png", "--at", "end", "--camera", "blue", **OWN).returncode == 0
    Image.open(tmp_path / "a.png").verify()


@pytest.mark.slow
@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((*DRAWN, "--out", "a.jpg"), "the name must end in .mp4, .gif, .png"),
        ((*DRAWN, "--out", "none/a.png"), "there is no folder none"),
        ((*DRAWN, "--out", "a.png", "--camera", "rde"), "did you mean 'red'"),
        ((*DRAWN, "--out", "a.png", "--at", "10"), "the episode has steps 0 to 9"),
        ((*DRAWN, "--out", "a.png", "--at", "soon"), "give a step, or start, or end"),
        ((*DRAWN, "--out", "a.gif", "--at", "3"), "--at is for one moment as a PNG"),
        ((*DRAWN, "--out", "a.png", "--at", "3", "--every", "2"), "keep only one"),
        ((*DRAWN, "--out", "a.png", "--speed", "2"), "--speed has no effect on a PNG"),
        ((*DRAWN, "--out", "a.mp4", "--speed", "0"), "--speed must be from"),
        ((*DRAWN, "--out", "a.mp4", "--every", "0"), "--every must be at least 1"),
        ((*DRAWN, "--out", "a.png", "--episode", "-1"), "--episode must be at least 0"),
        ((*DRAWN[:3], "--size", "9000x10", "--out", "a.png"), "as in 640x480"),
        (("mine.py", "--out", "a.png"), "name its domain, as in --domain hanoi"),
        (("mine.py", "g1/macro/0", *DRAWN[1:], "--out", "a.png"), "has no candidate 'g1/macro/0'"),
        (("mine.py", "--domain", "painter:PLAIN", "--out", "a.png"), "draws no pictures"),
        (("nothing", "--out", "a.png"), "no run"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_sentence(
    arguments: tuple[str, ...], sentence: str, memento: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ON_PATH))
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH))      # of the workers
    done = memento("render", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    # A line about the rollout may come first.
    assert sentence in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"mine.py"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run `one` of the kinematic task."""
    folder = tmp_path_factory.mktemp("drawn")
    done = subprocess.run(
        [*PROGRAM, "run", "hanoi-kinematic", "--preset", "smoke", "--name", "one", "--display", "none"],
        cwd=folder, capture_output=True, text=True, timeout=60, check=False,
    )
    assert done.returncode == 0, done.stderr
    try:
        graphics.live_backend()
    except UsageError as error:
        pytest.skip(str(error))
    return folder / "runs"


@pytest.mark.slow
def test_what_a_run_keeps_is_drawn_and_what_it_dropped_is_the_same_episode(
    run: Path, memento: Call, tmp_path: Path
) -> None:
    moment = ("--runs", run, "--size", "160x120", "--at", "60")
    kept = memento("render", "one", "init/0", "--out", "a.png", *moment)
    assert kept.returncode == 0, kept.stderr
    assert "the trajectory that the run keeps" in kept.stderr
    for path in (run / "one" / "trajectories").glob("*.npz"):
        path.unlink()
    again = memento("render", "one", "init/0", "--out", "b.png", *moment)
    assert again.returncode == 0, again.stderr
    assert "rolled out again with the same seed" in again.stderr
    assert "DIFFERS" not in again.stderr
    with Image.open(tmp_path / "a.png") as one, Image.open(tmp_path / "b.png") as other:
        assert np.array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.slow
def test_the_elite_on_a_held_out_seed_and_on_a_given_one(run: Path, memento: Call) -> None:
    size = ("--runs", run, "--size", "160x120", "--at", "end")
    assert memento("render", "one", "final/elite", "--out", "a.png", *size).returncode == 0
    done = memento("render", "one", "--seed", "5", "--randomisation", "none", "--out", "b.png", *size)
    assert done.returncode == 0, done.stderr
    assert "rolled out now, with seed 5" in done.stderr
    far = memento("render", "one", "init/0", "--episode", "99", "--out", "c.png", *size)
    assert far.returncode == 2
    assert "has episodes 0 to" in far.stderr


@given(
    steps=st.integers(0, 20_000), step_s=st.none() | st.floats(0.01, 1.0), kind=st.sampled_from(sorted(RATE_HZ)),
    speed=st.none() | st.floats(0.1, 50.0), every=st.none() | st.integers(1, 300),
)
def test_a_film_has_its_ends_and_keeps_to_its_pace(steps, step_s, kind, speed, every) -> None:
    how = pace(kind, steps, step_s, speed=speed, every=every)
    assert how.rows[0] == 0
    assert how.rows[-1] == steps
    assert list(how.rows) == sorted(set(how.rows))
    assert 0.5 <= how.rate_hz <= 50.0
    if every is None:
        assert how.rate_hz <= RATE_HZ[kind] + 1e-6 or speed is None or how.rate_hz == 0.5
        if speed is None:
            assert len(how.rows) / how.rate_hz <= LONGEST_S[kind] + 3.0 / how.rate_hz


@given(steps=st.integers(0, 5_000), every=st.none() | st.integers(1, 5_000))
def test_a_sheet_has_both_ends_and_no_moment_twice(steps: int, every: int | None) -> None:
    rows = moments(steps, every)
    assert rows[0] == 0
    assert rows[-1] == steps
    assert list(rows) == sorted(set(rows))
    assert every is not None or len(rows) == min(12, steps + 1)


def test_the_renderer_of_the_guide_draws() -> None:
    text = (Path(__file__).parents[2] / "docs" / "rendering.md").read_text()
    [program] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    names: dict[str, type[Renderer]] = {"np": np}
    exec(program, names)
    recording = Recording(
        states={"position": np.array([[0.0], [0.4], [1.0]])}, actions={}, constants={"goal": np.array([1.0])},
    )
    renderer = names["CartRenderer"]()
    renderer.require()
    playback = renderer.playback(recording, camera=renderer.cameras[0], width=100, height=60)
    captioned = Captioned(playback, title="cart", steps=2)
    assert playback.caption(2) == ("0.00 m to go",)
    first, last = (np.asarray(captioned.image(row)) for row in (0, 2))
    assert first.shape == last.shape
    assert first.shape[1] == 100
    assert not np.array_equal(first[:60], last[:60])


@pytest.mark.slow
def test_without_a_renderer_nothing_is_rolled_out_and_the_mend_is_named(memento: Call, tmp_path: Path) -> None:
    (tmp_path / "arm.py").write_text(POLICY.replace("class P:", "class FrankaPolicy:"))
    # EGL finds no driver, wherever this runs.
    done = memento(
        "render", "arm.py", "--domain", "hanoi-kinematic", "--out", "a.png", MUJOCO_GL="egl",
        __EGL_VENDOR_LIBRARY_FILENAMES=str(tmp_path / "none.json"),
    )
    assert (done.returncode, done.stdout) == (2, "")
    [sentence] = done.stderr.splitlines()
    assert sentence.startswith("memento: no graphics back end works (egl: ")
    assert "libegl1 libegl-mesa0 libgl1-mesa-dri" in sentence
    assert not (tmp_path / "a.png").exists()
