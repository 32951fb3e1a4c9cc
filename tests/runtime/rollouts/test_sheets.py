"""Sheets drawn by a worker: with a domain that needs no graphics, and a robot that runs, drawn by MuJoCo."""

import hashlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.extras import missing_modules
from memento.core.ports import DrawTask, RollTask
from memento.core.provenance import GIVEN
from memento.core.values import Program
from memento.domains import import_string, load
from memento.runtime.rollouts.pool import ProcessPool
from memento.runtime.rollouts.sheets import COLUMNS, SIZE
from PIL import Image

from ...support.on_path.painter import PROGRAM

pytestmark = pytest.mark.quick

LEAPS = Program("""
class Policy:
    def reset(self):
        self.steps = 0
    def compute_action(self, obs):
        self.steps += 1
        swing = 1.0 if self.steps % 12 < 6 else -1.0
        return [swing, swing, swing, -swing, -swing, -swing]
""")


def task(path: Path, *, trajectory: str = "one_e0", rows: tuple[int, ...] = (0, 4, 9)) -> DrawTask:
    return DrawTask(order="one/look0", split="search", trajectory=trajectory, rows=rows, path=path)


async def test_a_sheet_has_its_frames_in_rows_with_captions_and_a_digest(
    make_pool: Callable[..., ProcessPool], tmp_path: Path
) -> None:
    path = tmp_path / "sheets" / "one.jpg"
    async with make_pool(domain="painter:DOMAIN", horizon=9) as pool:
        await pool.require_drawing("search")
        await pool.roll(RollTask(order="one/e0", program=PROGRAM, split="search", index=0, seed=0))
        drawn = await pool.draw(task(path))
        gone = await pool.draw(task(path, trajectory="two_e0"))
        beyond = await pool.draw(task(path, rows=(0, 99)))
    assert drawn.captions == ("x is 0", "x is 4", "x is 9") and not drawn.problem
    data = path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == drawn.digest
    with Image.open(BytesIO(data)) as picture:
        picture.load()
        assert picture.width > COLUMNS * SIZE[0] and SIZE[1] < picture.height < 2 * SIZE[1]
    assert "is not in" in gone.problem and not gone.digest
    assert beyond.problem.startswith("IndexError"), "what a renderer cannot draw ends no worker"


async def test_a_domain_without_pictures_is_refused(make_pool: Callable[..., ProcessPool]) -> None:
    async with make_pool(domain="painter:PLAIN", horizon=9) as pool:
        with pytest.raises(UsageError, match="draws no pictures"):
            await pool.require_drawing("search")


def robot_in(frame: np.ndarray) -> tuple[float, float]:
    """How many pixels of a frame have the robot's orange, and where they are, from 0 at the left to 1 at the right."""
    red, green, blue = (frame[..., channel].astype(int) for channel in range(3))
    orange = (red - blue > 50) & (red > green + 15)
    places = np.argwhere(orange)[:, 1]
    return float(orange.sum()), float(places.mean() / frame.shape[1]) if len(places) else -1.0


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_a_robot_that_runs_stays_in_the_picture(tmp_path: Path) -> None:
    if missing := missing_modules("mujoco"):
        pytest.skip(f"{missing[0]} is not installed")
    name = "gym:HalfCheetah-v5"
    options = load(name, GIVEN).options({}, preset="smoke")
    async with ProcessPool(
        domain=import_string(name), splits={"search": options}, workers=1, trajectories=tmp_path
    ) as pool:
        try:
            await pool.require_drawing("search")
        except UsageError as error:
            pytest.skip(str(error))
        episode = await pool.roll(RollTask(order="one/e0", program=LEAPS, split="search", index=0, seed=3))
        assert episode.fault is None, episode.fault
        rows = (0, episode.steps // 2, episode.steps)
        drawn = await pool.draw(task(tmp_path / "one.jpg", rows=rows))
    assert not drawn.problem
    with Image.open(tmp_path / "one.jpg") as picture:
        pixels = np.asarray(picture)
    for place in range(3):
        left = 8 + place * (SIZE[0] + 8)
        count, across = robot_in(pixels[8 : 8 + SIZE[1], left : left + SIZE[0]])
        assert count > 300 and 0.25 < across < 0.75, f"frame {place + 1} of steps {rows}"
    assert abs(float(np.load(tmp_path / "one_e0.npz")["actions/info_x_position"][-1])) > 2.0, "it did move"
