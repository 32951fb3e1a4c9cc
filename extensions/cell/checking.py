"""What a person does first in a cell: looks through the camera, compares with the file, moves the arm, tries a limit.

    python -m memento.extensions.cell.checking

Reads the cell as JSON from standard input. Writes one JSON object per line: a finding {"what", "ok", "found"}, or at
the end {"problem"} with a sentence for the user.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...core.errors import MementoError, RolloutError, UsageError
from ...domains.hanoi import task
from . import guard as guarding
from .cell_file import CUBES, Cell, cell_of
from .fitting import CubeFit
from .grounding import Grounding, Scenery, about_z
from .guard import room
from .hardware import PERIOD_S, Hardware, open_cell
from .lens import rotation_vector
from .ports import Array, Frame
from .segmenters import make_segmenter

WAIT_PERIODS = 100          # for the first frames
LEVEL_M, LEVEL_RAD = 0.01, 0.02     # how far the table may be from where the file says
APART_M = 0.16              # and the holes from each other: a plate, and a finger's width on each side
SIZE_M = 0.003              # and a cube's half-edge
REACHED_M = 0.01
LEAST_PIXELS = 30           # of a class in an image
ABOVE_M = 0.30              # above the table, where the arm is moved
REACH_PERIODS = 200
WALL_PERIODS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    what: str
    ok: bool
    found: str


def check(cell: Cell, hardware: Hardware, *, seed: int = 0) -> Iterator[Finding]:
    """Look at the camera, the scenery and the cubes, then move the arm. Raises RolloutError where nothing follows."""
    arm = hardware.arm
    arm.prepare(index=0, seed=seed)
    hardware.begin(seed)
    frames = _frames(hardware, cell.grounding.container_frames)
    yield _camera(cell, frames)
    grounding = Grounding(cell, hardware.camera.lens, make_segmenter(cell.segmenter))
    try:
        if frames:
            try:
                yield _segments(grounding, frames[-1])
            except RolloutError as error:       # a command that failed
                yield Finding(what="segments", ok=False, found=str(error))
                return
        try:
            scenery = grounding.begin(frames)
        except RolloutError as error:
            yield Finding(what="table and containers", ok=False, found=str(error))
            return
        yield _table(grounding)
        yield _containers(cell, scenery)
        fits = grounding.look(frames[-1])
        for name, half_m, fit in zip(CUBES, cell.objects.half_edges_m, fits, strict=True):
            yield _cube(name, half_m, fit)
    finally:
        grounding.close()
    yield _reach(cell, hardware, scenery.containers)
    yield _border(cell, hardware)


def _frames(hardware: Hardware, count: int) -> list[Frame]:
    frames: list[Frame] = []
    still = guarding.here(hardware.arm.state())
    for _ in range(WAIT_PERIODS):
        hardware.arm.move(still)
        frame = hardware.camera.frame()
        if frame is not None:
            frames.append(frame)
        if len(frames) == count:
            break
    return frames


def _camera(cell: Cell, frames: list[Frame]) -> Finding:
    wanted = cell.grounding.container_frames
    share = np.mean([(frame.depth_m > 0.0).mean() for frame in frames]) if frames else 0.0
    return Finding(
        what="camera", ok=len(frames) == wanted and bool(share > 0.5),
        found=f"{len(frames)} of {wanted} frames, {100 * share:.0f} % of the pixels have a depth",
    )


def _segments(grounding: Grounding, frame: Frame) -> Finding:
    """How many pixels of each class the segmenter sees: what fails here is its colours or its command."""
    found = grounding.pixels(frame)
    return Finding(
        what="segments", ok=min(found.values()) >= LEAST_PIXELS,
        found=", ".join(f"{name} {count}" for name, count in found.items()) + " pixels",
    )


def _table(grounding: Grounding) -> Finding:
    nominal, level = grounding.nominal, grounding.scenery.camera
    turn = float(np.linalg.norm(rotation_vector(level.rotation @ nominal.rotation.T)))
    rise = float(level.position[2] - nominal.position[2])
    return Finding(
        what="table", ok=abs(rise) < LEVEL_M and turn < LEVEL_RAD,
        found=f"the camera was corrected by {1000 * rise:.1f} mm in height and {1000 * turn:.1f} mrad",
    )


def _containers(cell: Cell, scenery: Scenery) -> Finding:
    """Where the containers are: anywhere in the arm's box, with room for the hand between them."""
    places = scenery.containers[:, :2]
    away = 1000 * (places - np.array(task.CONTAINER_XY_M))
    low, high = room(cell.limits)
    holes = task.hole_centre(scenery.containers, np.array([about_z(yaw) for yaw in scenery.yaws_rad]))[:, :2]
    beyond = ((holes < low[:2]) | (holes > high[:2])).any(axis=1)
    gap = min(float(np.linalg.norm(one - other)) for one, other in combinations(holes, 2))
    found = [
        f"{name} at {x:+.0f}, {y:+.0f} mm and {np.degrees(yaw):.0f} degrees from its place in training"
        + (", out of the arm's reach" if out else "")
        for name, (x, y), yaw, out in zip(task.CONTAINERS, away, scenery.yaws_rad, beyond, strict=True)
    ]
    if gap < APART_M:
        found.append(f"two holes are only {1000 * gap:.0f} mm apart")
    return Finding(what="containers", ok=not beyond.any() and gap >= APART_M, found="; ".join(found))


def _cube(name: str, half_m: float, fit: CubeFit | None) -> Finding:
    if fit is None:
        return Finding(what=f"cube {name}", ok=False, found="not seen")
    place = ", ".join(f"{value:.3f}" for value in fit.position)
    size = "its outline is not complete" if np.isnan(fit.half_edge_m) else f"half-edge {1000 * fit.half_edge_m:.1f} mm"
    return Finding(
        what=f"cube {name}", ok=bool(abs(fit.half_edge_m - half_m) <= SIZE_M),      # not for NaN
        found=f"at {place}, {size}, {fit.points} points",
    )


def _reach(cell: Cell, hardware: Hardware, containers: Array) -> Finding:
    """Move the hand above each container, at half speed, by the way that programs use."""
    holes = containers[:, :2] + np.array(task.HOLE_LOCAL_M[:2])
    for name, hole in zip(task.CONTAINERS, holes, strict=True):
        goal = np.append(hole, task.TABLE_HEIGHT_M + ABOVE_M)
        drive = _Drive(cell, hardware)
        for _ in range(REACH_PERIODS):
            away = goal - hardware.arm.state().eef_pos
            if np.linalg.norm(away) < REACHED_M:
                break
            stop = drive.towards(away)
            if stop is not None:
                return Finding(what="reach", ok=False, found=f"stopped on the way to {name}: {stop.detail}")
        else:
            off = 1000 * np.linalg.norm(away)
            return Finding(what="reach", ok=False, found=f"the hand stays {off:.0f} mm from its place above {name}")
    return Finding(what="reach", ok=True, found="the hand reaches its places above A, B and C")


def _border(cell: Cell, hardware: Hardware) -> Finding:
    """Push upwards against the box, where nothing is, until the guard stops the arm."""
    drive = _Drive(cell, hardware)
    for _ in range(WALL_PERIODS):
        stop = drive.towards(np.array([0.0, 0.0, 1.0]))
        if stop is not None:
            height = float(hardware.arm.state().eef_pos[2])
            inside = height <= cell.limits.high_m[2]
            hardware.arm.stop()
            return Finding(
                what="limits", ok=stop.why == "box" and inside,
                found=f'stopped by "{stop.why}" at a height of {height:.3f} m, border at {cell.limits.high_m[2]:.3f} m',
            )
    return Finding(what="limits", ok=False, found="pushing against the box did not stop the arm")


class _Drive:
    """Drives the hand through the guard."""

    def __init__(self, cell: Cell, hardware: Hardware) -> None:
        self._cell, self._arm = cell, hardware.arm
        self._before = self._arm.state()
        self._guard = guarding.begin(self._before)

    def towards(self, away: Array) -> guarding.Stop | None:
        """One period towards a place that is `away` (3,)."""
        action = np.zeros(7)
        action[:3] = 2.0 * away / self._cell.execution.move_per_unit_m
        action[:3] *= min(1.0, 0.5 / max(float(np.abs(action[:3]).max()), 1e-9))
        state = self._arm.state()
        self._guard, following = guarding.advance(
            self._guard, action, state, self._before, limits=self._cell.limits, execution=self._cell.execution,
            period_s=PERIOD_S,
        )
        self._before = state
        if isinstance(following, guarding.Stop):
            return following
        self._arm.move(following)
        return None


def main() -> None:
    """Check the cell on standard input."""
    def tell(line: dict[str, object]) -> None:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    try:
        cell = cell_of(json.load(sys.stdin), where="the cell")
        hardware = open_cell(cell)
        try:
            for finding in check(cell, hardware):
                tell({"what": finding.what, "ok": finding.ok, "found": finding.found})
        finally:
            hardware.close()
    except MementoError as error:
        tell({"problem": str(error), "usage": isinstance(error, UsageError)})


if __name__ == "__main__":
    main()
