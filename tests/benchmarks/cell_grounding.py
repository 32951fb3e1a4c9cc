"""The error of the cell's grounding over random scenes of its twin, and the CPU time of images and of grounding.

    python -m memento.tests.benchmarks.cell_grounding [--scenes 500] [--noise full|none] [--segmenter colour|truth]

A scene has the containers at drawn places and every cube on a random container, in legal order, each a little off and
turned at random; the camera's errors are drawn again. Three frames are grounded per scene. What an image costs is
compared with casting every ray at everything, in the same run.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import numpy as np
from memento.domains.hanoi import task
from memento.extensions.cell.cell_file import SHIPPED, Cell, read_cell
from memento.extensions.cell.fitting import CubeFit
from memento.extensions.cell.grounding import Grounding
from memento.extensions.cell.ports import Array
from memento.extensions.cell.segmenters import make_segmenter
from memento.extensions.cell.sensor_model import NONE
from memento.extensions.cell.twin import TwinArm
from memento.extensions.cell.twin_camera import TwinCamera

T = TypeVar("T")
FRAMES = 3
OFF_M = 0.004       # largest offset of a cube from what it stands on


def scatter(arm: TwinArm, rng: np.random.Generator) -> None:
    """Put every cube on a random container, large cubes first."""
    import mujoco

    truth, data = arm.truth(), arm.scene.mj_data
    boxes, quats = truth[-21:-12].reshape(3, 3), truth[-12:].reshape(3, 4)
    holes = task.hole_centre(boxes, quats)
    tops = np.full(3, task.TABLE_HEIGHT_M)
    for cube in reversed(range(len(arm.dynamics.cube_qpos))):
        half, peg = task.cube_half_edges(4)[cube], int(rng.integers(3))
        yaw = rng.uniform(-np.pi / 4, np.pi / 4)
        place = [*(holes[peg][:2] + rng.uniform(-OFF_M, OFF_M, 2)), tops[peg] + half]
        start = arm.dynamics.cube_qpos[cube]
        data.qpos[start : start + 7] = [*place, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
        tops[peg] += 2 * half
    mujoco.mj_forward(arm.scene.mj_model, data)


@dataclass(slots=True, kw_only=True)
class Errors:
    """What was found, one row per scene; a cube that was not seen is NaN."""

    cube_mm: list[list[float]] = field(default_factory=list)
    yaw_deg: list[list[float]] = field(default_factory=list)
    free_top: list[list[bool]] = field(default_factory=list)
    container_mm: list[list[float]] = field(default_factory=list)
    frame_s: list[float] = field(default_factory=list)      # CPU time of grounding, of
    image_s: list[float] = field(default_factory=list)      # the twin's image with its noise, of
    view_s: list[float] = field(default_factory=list)       # the image alone, and of
    cast_s: list[float] = field(default_factory=list)       # casting every ray at everything


def measure(cell: Cell, scenes: int) -> Errors:
    """The errors over this many scenes of the twin."""
    arm = TwinArm(cell)
    camera = TwinCamera(cell, arm)
    grounding = Grounding(cell, camera.lens, make_segmenter(cell.segmenter))
    errors = Errors()
    for scene in range(scenes):
        arm.prepare(index=0, seed=scene)
        camera.begin(scene)
        scatter(arm, np.random.default_rng(scene))
        scenery = grounding.begin([camera.expose(0.0) for _ in range(FRAMES)])
        fits = []
        for _ in range(FRAMES):
            frame = _timed(errors.image_s, partial(camera.expose, 0.0))
            fits.append(_timed(errors.frame_s, partial(grounding.look, frame)))
        _timed(errors.view_s, camera.view.changed)
        _timed(errors.cast_s, camera.view.cast)
        _compare(errors, arm, fits, scenery.containers)
    arm.close()
    return errors


def _timed(times_s: list[float], work: Callable[[], T]) -> T:
    """The result of some work, whose CPU time is added to `times_s`."""
    began = time.process_time()
    result = work()
    times_s.append(time.process_time() - began)
    return result


def _compare(errors: Errors, arm: TwinArm, fits: list[list[CubeFit | None]], containers: Array) -> None:
    data = arm.scene.mj_data
    poses = np.array([data.qpos[start : start + 7] for start in arm.dynamics.cube_qpos])
    places = np.array([data.qpos[start : start + 3] for start in arm.dynamics.container_qpos])
    errors.container_mm.append((1000 * np.linalg.norm(containers - places, axis=1)).tolist())
    off, turned, free = [], [], []
    for cube, pose in enumerate(poses):
        seen = [fit for row in fits if (fit := row[cube]) is not None]
        yaw = 2 * np.arctan2(pose[6], pose[3])
        turns = [(fit.yaw_rad - yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4 for fit in seen]
        mean = np.mean([fit.position for fit in seen], axis=0) if seen else np.full(3, np.nan)
        off.append(1000 * float(np.linalg.norm(mean - pose[:3])))
        turned.append(abs(float(np.degrees(np.mean(turns)))) if seen else float("nan"))
        above = np.hypot(*(poses[:, :2] - pose[:2]).T) < 0.05
        free.append(not bool((above & (poses[:, 2] > pose[2])).any()))
    errors.cube_mm.append(off)
    errors.yaw_deg.append(turned)
    errors.free_top.append(free)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", type=int, default=500)
    parser.add_argument("--noise", choices=("full", "none"), default="full")
    parser.add_argument("--segmenter", choices=("colour", "truth"), default="colour")
    asked = parser.parse_args()
    cell = read_cell(SHIPPED / "twin.toml")
    if asked.noise == "none":
        cell = cell.model_copy(update={"camera": cell.camera.model_copy(update={"noise": NONE})})
    cell = cell.model_copy(update={"segmenter": cell.segmenter.model_copy(update={"kind": asked.segmenter})})
    errors = measure(cell, asked.scenes)
    position, yaw, free = np.array(errors.cube_mm), np.array(errors.yaw_deg), np.array(errors.free_top)
    groups = {"all cubes": np.ones_like(free), "cubes with a free top": free, "cubes below others": ~free}
    for name, chosen in groups.items():
        print(f"{name} ({int(chosen.sum())}): position {_spread(position[chosen])} mm, "
              f"yaw {_spread(yaw[chosen])} degrees, not seen {int(np.isnan(position[chosen]).sum())}")
    print(f"containers: {_spread(np.array(errors.container_mm).reshape(-1))} mm")
    mean_s = float(np.mean(errors.frame_s))
    print(f"grounding: {1 / mean_s:.0f} frames/s ({1000 * mean_s:.1f} ms of CPU time)")
    image, view, cast = (1000 * float(np.mean(each)) for each in (errors.image_s, errors.view_s, errors.cast_s))
    print(f"an image with noise: {image:.1f} ms; without: {view:.1f} ms, by casting every ray: {cast:.1f} ms")


def _spread(values: Array) -> str:
    median, most, worst = np.nanpercentile(values, (50, 95, 100))
    return f"median {median:.2f}, 95 % {most:.2f}, worst {worst:.1f}"


if __name__ == "__main__":
    main()
