"""The cell's file: everything about one robot cell that a program does not know, as TOML."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ...core.errors import UsageError
from ...core.values import JSON
from .lens import CameraPose, looking
from .sensor_model import SensorModel

CUBES = ("small", "medium", "large", "xlarge")
CONTAINER = "container"
MODES = INCREMENTS, PHASES = "increments", "phases"     # what the seven numbers of a program are
STATUS = "phase_status"     # of the observation where they are phases: how it stands with the last one
LEAST_SPEED = 0.01          # of a phase, as a share of the planner's
SAME_M, SAME_RAD = 0.002, 0.02          # a target so near to that of a phase that is over does not begin it again
FINGERTIP_M = 0.012         # how far the fingertips reach below the point between them
SHIPPED = Path(__file__).with_name("cells")

Triple = tuple[float, float, float]
Pair = tuple[float, float]
Row = tuple[float, float, float, float]
FourByFour = tuple[Row, Row, Row, Row]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class TwinPart(_Table):
    """What the twin's physics is like: ranges that an episode draws from, outside of every training preset's."""

    sliding_friction_scale: Pair = (1.85, 2.1)
    torsional_friction: Pair = (0.011, 0.014)
    rolling_friction: Pair = (0.0011, 0.0014)
    cube_mass_scale: Pair = (1.55, 1.8)
    joint_damping_scale: Pair = (1.55, 1.8)
    actuator_gain_scale: Pair = (0.81, 0.84)
    world_offset_m: Pair = (-0.01, 0.01)
    initial_cube_xy_m: Pair = (-0.002, 0.002)
    container_yaw_rad: Pair = (-0.05, 0.05)
    stiffness: Positive = 300.0             # of the arm's position controller, 1/s²; 150 in training
    turn_stiffness: Positive = 200.0        # of its orientation controller
    damping_ratio: Positive = 1.1           # 1 in training
    gripper_speed: Positive = 0.12          # 0.2 in training
    delay_steps: Annotated[int, Field(ge=0, le=10)] = 0     # control periods from a waypoint to its execution


Factory = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]     # package.module:NAME, called with a Cell
SevenAngles = tuple[float, float, float, float, float, float, float]


class FrankaPart(_Table):
    """A Franka arm with a Franka Hand: where it is and how it is driven."""

    address: str = ""
    base_m: Triple = (-0.56, 0.0, 0.912)    # of its base in the world frame
    base_yaw_rad: float = 0.0
    start_rad: SevenAngles = (0.0, 0.19635, 0.0, -2.61799, 0.0, 2.94159, 0.78540)
    start_dynamics: Annotated[float, Field(gt=0.0, le=0.3)] = 0.1    # share of the arm's dynamics on the way there
    finger_speed_m_s: Annotated[float, Field(gt=0.0, le=0.1)] = 0.05
    grip_force_n: Annotated[float, Field(gt=0.0, le=70.0)] = 20.0


class ArmPart(_Table):
    """Which arm."""

    kind: Literal["twin", "franka"] | Factory = "twin"
    pace: Literal["fast", "real"] = "fast"  # of the twin: as fast as it computes, or by the world's clock
    twin: TwinPart = TwinPart()
    franka: FrankaPart = FrankaPart()


class CameraPart(_Table):
    """Which camera, and where it stands according to its calibration."""

    kind: Literal["twin"] | Factory = "twin"
    width: Annotated[int, Field(ge=32, le=4096)] = 320
    height: Annotated[int, Field(ge=32, le=4096)] = 240
    focal_px: Positive = 400.0
    position_m: Triple = (0.75, 0.0, 1.5)
    look_at_m: Triple = (0.03, 0.0, 0.86)
    roll_rad: float = 0.0
    pose: FourByFour | None = None          # instead of the three: the camera's in the world, axes right, down, forward
    every_steps: Annotated[int, Field(ge=1, le=100)] = 2    # control periods between two frames of the twin's camera
    noise: SensorModel = SensorModel()

    @model_validator(mode="after")
    def _rigid(self) -> "CameraPart":
        if self.pose is not None:
            whole = np.array(self.pose)
            turn = whole[:3, :3]
            rigid = np.allclose(turn @ turn.T, np.eye(3), atol=1e-3) and np.linalg.det(turn) > 0.0
            if not rigid or not np.allclose(whole[3], (0.0, 0.0, 0.0, 1.0)):
                raise ValueError("pose must be four rows of a rotation and a place in metres, the last one 0, 0, 0, 1")
        return self

    @property
    def stands(self) -> CameraPose:
        """Where the camera stands: by `pose`, else by where it is, looks and how it is rolled."""
        if self.pose is None:
            return looking(np.array(self.position_m), np.array(self.look_at_m), self.roll_rad)
        u, _, v = np.linalg.svd(np.array(self.pose)[:3, :3])        # written with few digits it is no exact rotation
        return CameraPose(np.array(self.pose)[:3, 3], u @ v)


class Colour(_Table):
    """A class of colours: mean and std of the shares of red and green, and the least brightness, of 255."""

    mean: Pair
    std: tuple[Positive, Positive]
    least_brightness: Annotated[float, Field(ge=0.0, le=255.0)] = 20.0


class SegmenterPart(_Table):
    """How pixels get their labels."""

    kind: Literal["colour", "command", "truth"] = "colour"
    command: tuple[str, ...] = ()           # reads frames on stdin, writes labels on stdout: docs/robot-cell.md
    timeout_s: Positive = 5.0
    widths: Positive = 3.5                  # stds from the mean that still belong to a colour
    colours: Mapping[str, Colour] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> "SegmenterPart":
        if self.kind == "command" and not self.command:
            raise ValueError("kind = \"command\" needs the command as a list of words")
        missing = [name for name in (*CUBES, CONTAINER) if name not in self.colours]
        if self.kind == "colour" and missing:
            raise ValueError(f"kind = \"colour\" needs the colours of {', '.join(missing)}")
        return self


class ObjectsPart(_Table):
    """The objects of the task in this cell."""

    half_edges_m: tuple[float, float, float, float] = (0.022, 0.025, 0.028, 0.031)
    paint: Mapping[str, tuple[Share, Share, Share]] = {     # of the twin's objects, and of what is around them
        "small": (0.85, 0.15, 0.12), "medium": (0.12, 0.30, 0.85), "large": (0.15, 0.65, 0.25),
        "xlarge": (0.92, 0.78, 0.12), "container": (0.55, 0.20, 0.60), "table": (0.72, 0.71, 0.68),
        "robot": (0.90, 0.90, 0.88), "other": (0.30, 0.30, 0.30),
    }


class LimitsPart(_Table):
    """The limits of the arm's motion. None of them can be widened by a program."""

    low_m: Triple = (-0.22, -0.42, 0.815)   # the box of the point between the fingertips
    high_m: Triple = (0.27, 0.42, 1.17)
    margin_m: Triple = (0.02, 0.02, 0.005)  # of the box that waypoints keep free, since the hand swings over them
    speed_m_s: Positive = 0.40
    acceleration_m_s2: Positive = 5.0
    braking_m_s2: Positive = 0.8            # on each axis, before the border of the box
    turn_rad_s: Positive = 1.2
    turn_rad_s2: Positive = 8.0
    tilt_rad: Positive = 0.6                # of the tool from straight down
    leash_m: Positive = 0.03                # how far the waypoint may be ahead of the hand
    astray_m: Positive = 0.10               # the hand is that far from its waypoint: it does not follow
    force_n: Positive = 60.0                # on the hand, for `force_steps` in a row
    force_steps: Annotated[int, Field(ge=1, le=20)] = 3
    wall_steps: Annotated[int, Field(ge=1, le=1000)] = 20   # periods of pushing against the box until the arm stops
    dead_man_s: Positive = 0.5              # without a waypoint for so long a real arm stops
    trial_s: Positive = 600.0

    @model_validator(mode="after")
    def _order(self) -> "LimitsPart":
        sides = zip(self.low_m, self.high_m, self.margin_m, strict=True)
        if any(low + 2 * margin >= high or margin < 0.0 for low, high, margin in sides):
            raise ValueError("low_m must be below high_m on every axis, by more than twice margin_m")
        if self.braking_m_s2 > 0.5 * self.acceleration_m_s2:
            raise ValueError("braking_m_s2 must be at most half of acceleration_m_s2")
        return self


class ExecutionPart(_Table):
    """How the seven numbers of a program become motion: as in the training of the program."""

    goal_update: Literal["achieved", "desired"] = "achieved"
    move_per_unit_m: Positive = 0.05
    turn_per_unit_rad: Positive = 0.5
    rate_per_s: Positive = 5.0              # share of the way to the goal per second
    turn_first_rad: Positive = 0.2          # an action that asks for a larger turn does not lower the hand
    yield_per_s: Annotated[float, Field(ge=0.0)] = 6.0      # share of the hand's lag that waypoints give up per second


class PhasesPart(_Table):
    """How phases are carried out (Γ_R of the paper): what the planner needs besides the limits, and corrections."""

    jerk_m_s3: Positive = 20.0
    turn_jerk_rad_s3: Positive = 60.0
    clearance_m: Positive = 0.03            # between the hand, or what it holds, and what a transfer crosses
    yaw_rad: Annotated[float, Field(gt=0.0, le=3.0)] = 1.8  # the largest yaw of a target, to either side
    touch_n: Positive = 10.0                # a force against the motion from which it is a contact, and ends
    arrived_m: Positive = 0.004             # a hand so near to its target has reached it
    arrived_rad: Positive = 0.05
    settle_s: Positive = 3.0                # after its planned end, until a phase counts as failed
    pick_shift_m: Pair = (0.0, 0.0)         # of targets of picks, along the world's x and y
    stack_shift_m: Pair = (0.0, 0.0)        # of targets of placings onto a cube
    place_lower_m: float = 0.002            # of the target of place_descend, to seat the cube


class GroundingPart(_Table):
    """Constants of the grounding."""

    container_frames: Annotated[int, Field(ge=1, le=200)] = 8
    least_pixels: Annotated[int, Field(ge=4)] = 30      # of a cube to be seen
    smoothing: Annotated[float, Field(gt=0.0, le=1.0)] = 0.35   # share of a new measurement in the pose of a cube
    jump_m: Positive = 0.012                # a measurement farther off is believed when it comes again


class CalibrationPart(_Table):
    """What a calibration may change, and what a person wants it to know."""

    bounds: Mapping[str, Pair] = Field(default_factory=dict)    # of the policy's constants; none: those it names itself
    note: Annotated[str, Field(max_length=4000)] = ""           # for the prompt, after the cell's name

    @model_validator(mode="after")
    def _order(self) -> "CalibrationPart":
        for name, (low, high) in self.bounds.items():
            if low >= high:
                raise ValueError(f"bounds.{name}: the first number must be below the second")
        return self


class Cell(_Table):
    """One robot cell."""

    name: str = "twin"
    arm: ArmPart = ArmPart()
    camera: CameraPart = CameraPart()
    segmenter: SegmenterPart
    objects: ObjectsPart = ObjectsPart()
    limits: LimitsPart = LimitsPart()
    execution: ExecutionPart = ExecutionPart()
    phases: PhasesPart = PhasesPart()
    grounding: GroundingPart = GroundingPart()
    calibration: CalibrationPart = CalibrationPart()

    @model_validator(mode="after")
    def _together(self) -> "Cell":
        if (self.arm.kind == "twin") != (self.camera.kind == "twin"):
            raise ValueError("the twin's arm and the twin's camera come together: arm.kind and camera.kind")
        if self.segmenter.kind == "truth" and self.camera.kind != "twin":
            raise ValueError("segmenter.kind = \"truth\" is for the twin's camera alone")
        return self


def read_cell(path: Path) -> Cell:
    """The cell of a file. Raises UsageError that names the file and what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the cell's file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the cell's file {path} is not UTF-8 text") from error
    try:
        return cell_of(tomllib.loads(text), where=str(path))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the cell's file {path} is not TOML: {error}") from error


def cell_of(content: Mapping[str, Any], *, where: str) -> Cell:
    """The cell of parsed TOML or JSON. Raises UsageError with the first problem."""
    try:
        return Cell.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise UsageError(f"{where}: {place}: {first['msg'].removeprefix('Value error, ')}") from error


def content_of(cell: Cell) -> dict[str, JSON]:
    """The cell as JSON, with all defaults."""
    content: dict[str, JSON] = cell.model_dump(mode="json")
    return content
