"""robosuite's tasks as data: robots, observed fields, horizon, texts. A further task is one more entry of TASKS."""

from collections.abc import Mapping
from dataclasses import dataclass, field

LASTING_STEPS = 10          # control steps for which a lasting success holds: half a second
REST_M_S = 0.02             # what moves slower is at rest,
REST_RAD_S = 0.5            # and turns slower
UPRIGHT = 0.95              # the least cosine of the tilt of what lies flat: 18 degrees


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One observed quantity of a task.

    `source` says where the simulator holds its true value: "body_pos:NAME", "body_quat:NAME" (given as x, y, z, w),
    "site_pos:NAME", "geom_pos:NAME", "joint:NAME", or "markers" and "wiped" of the task Wipe. Positions and
    orientations of objects get sensor noise; other fields are exact.
    """

    name: str
    size: int
    text: str           # content and unit, for the brief
    source: str

    @property
    def is_position(self) -> bool:
        """Whether sensor noise of positions applies."""
        return "_pos:" in self.source or self.source == "markers"

    @property
    def is_orientation(self) -> bool:
        """Whether sensor noise of orientations applies."""
        return self.source.startswith("body_quat:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One robosuite environment as a domain."""

    title: str
    fields: tuple[Field, ...]
    horizon: int                        # control steps of 50 ms
    text: str                           # texts/NAME.md
    words: Mapping[str, str] = field(default_factory=dict)      # for that text
    environment: str = ""               # robosuite's name, if it is not the task's
    arms: int = 1
    grips: bool = True                  # whether each arm has a gripper with two fingers
    compiled: bool = True               # whether the compiled control loop serves it; else robosuite's own step
    start: str = ""                     # where the hands are after a reset
    bases: tuple[tuple[float, float], ...] = ((-0.56, 0.0),)    # x and y of each arm's base, m, world
    placed: tuple[str, ...] = ()        # bodies that must be let go and at rest for a lasting success
    flat: bool = False                  # and lie flat, their own z up

    @property
    def action_size(self) -> int:
        """Numbers of one action."""
        return self.arms * (7 if self.grips else 6)


def pose(name: str, body: str, text: str) -> tuple[Field, Field]:
    """The position and the orientation of one object."""
    return (
        Field(name=f"{name}_pos", size=3, text=f"position of the centre of {text}, m, world",
              source=f"body_pos:{body}"),
        Field(name=f"{name}_quat", size=4, text=f"orientation of {text}, x, y, z, w", source=f"body_quat:{body}"),
    )


def robot_fields(task: Task) -> tuple[Field, ...]:
    """The readings of the robots themselves, which are exact."""
    found: list[Field] = []
    for k in range(task.arms):
        of = "" if task.arms == 1 else f" of robot {k}"
        tool = "the point between the fingertips" if task.grips else "the tool's reference point"
        found += [
            Field(name=f"robot{k}_eef_pos", size=3, text=f"position of {tool}{of}, m, world", source=f"eef_pos:{k}"),
            Field(name=f"robot{k}_eef_quat", size=4, text=f"orientation of the hand{of}, x, y, z, w",
                  source=f"eef_quat:{k}"),
        ]
        if task.grips:
            found += [
                Field(name=f"robot{k}_gripper_qpos", size=2, source=f"fingers:{k}",
                      text=f"the two fingers{of} from the middle, m: (q, -q), q from 0 (closed) to 0.04 (open)"),
                Field(name=f"robot{k}_gripper_qvel", size=2, text=f"their speeds{of}, m/s",
                      source=f"finger_speeds:{k}"),
            ]
        found += [
            Field(name=f"robot{k}_joint_pos", size=7, text=f"arm joint angles{of}, rad", source=f"joints:{k}"),
            Field(name=f"robot{k}_joint_vel", size=7, text=f"arm joint speeds{of}, rad/s", source=f"joint_speeds:{k}"),
        ]
    return tuple(found)


def layout(task: Task) -> tuple[Field, ...]:
    """All fields of an observation, in order."""
    return (*robot_fields(task), *task.fields)


_ONE_ARM = (
    "At the start the end effector is near (-0.10, 0, 1.01) and the tool points down, tilted by 8"
    " degrees (`robot0_eef_quat` near (1, 0, 0.07, 0); straight down is (1, 0, 0, 0)); the joints are off by a small"
    " random amount (0.02 rad)."
)
_FACING = (
    "At the start the tools point down, tilted by 8 degrees; the joints are off by a small random amount (0.02 rad)."
    " Robot 0 stands at y < 0 and faces +y: its own x, y are the world's y, -x. Robot 1 stands at y > 0 and"
    " faces -y: its own x, y are the world's -y, x."
)
_CUBES = (*pose("cubeA", "cubeA_main", "the red cube (A)"), *pose("cubeB", "cubeB_main", "the green cube (B)"))
_CUBE_BODIES = ("cubeA_main", "cubeB_main")
_NUTS = {
    name: (
        *pose(name, f"{name}_main", f"the {shape} nut"),
        Field(name=f"{name}_handle_pos", size=3, text=f"centre of the {shape} nut's handle, m, world",
              source=f"site_pos:{name}_handle_site"),
    )
    for name, shape in (("SquareNut", "square"), ("RoundNut", "round"))
}
_THINGS = ("Milk", "Bread", "Cereal", "Can")
_THING_POSES = {name: pose(name, f"{name}_main", f"the {name.lower()}") for name in _THINGS}
_THING_WORDS = {
    "Milk": "the milk carton (4.0 × 4.0 cm, 15.8 cm high)",
    "Bread": "the bread (4.0 × 4.8 cm, 4.9 cm high)",
    "Cereal": "the cereal box (3.0 × 10.0 cm, 15.0 cm high; only its 3 cm side, local x, fits the gripper)",
    "Can": "the can (5.0 cm across, 8.1 cm high)",
}
_COMPARTMENTS = {
    "Milk": "x from -0.095 to 0.1, y from 0.035 to 0.28", "Bread": "x from 0.1 to 0.295, y from 0.035 to 0.28",
    "Cereal": "x from -0.095 to 0.1, y from 0.28 to 0.525", "Can": "x from 0.1 to 0.295, y from 0.28 to 0.525",
}


def _nuts(*names: str) -> Task:
    shapes = [name.removesuffix("Nut").lower() for name in names]
    pegs = {"square": "the square nut on the square peg", "round": "the round nut on the round peg"}
    return Task(
        title="Nuts on pegs: " + " and ".join(pegs[shape] for shape in shapes),
        fields=tuple(entry for name in names for entry in _NUTS[name]),
        horizon=500 * len(names), text="NutAssembly", start=_ONE_ARM, placed=tuple(f"{name}_main" for name in names),
        flat=True,
        words={
            "goal": " and ".join(pegs[shape] for shape in shapes),
            "every": "every nut" if len(names) > 1 else "the nut",
            "present": "" if len(names) > 1 else " Only this nut is on the table.",
            "in_hand": " Whether the fingers let go is not checked: gripped at the middle of its handle or farther out,"
                       " the nut counts while it is still in the hand.",
        },
    )


def _pick_place(*names: str) -> Task:
    return Task(
        title="Pick and place: " + ", ".join(name.lower() for name in names),
        fields=tuple(entry for name in names for entry in _THING_POSES[name]),
        horizon=400 * len(names), text="PickPlace", placed=tuple(f"{name}_main" for name in names),
        start=_ONE_ARM.replace("(-0.10, 0, 1.01)", "(-0.04, -0.10, 1.01)"), bases=((-0.5, -0.1),),
        words={
            "goal": "\n".join(f"- {_THING_WORDS[name]} into the compartment {_COMPARTMENTS[name]}" for name in names),
            "every": "every object" if len(names) > 1 else "the object",
            "in_hand": " Whether the fingers let go is not checked: an object that is gripped farther than 0.0424 from"
                       " its centre counts while it is still in the hand, if its height fits.",
        },
    )


TASKS: Mapping[str, Task] = {
    "Lift": Task(title="Lift a cube off the table", fields=pose("cube", "cube_main", "the cube"),
                 horizon=300, text="Lift", start=_ONE_ARM),
    "Stack": Task(title="Stack the red cube on the green one", fields=_CUBES, horizon=500, text="Stack",
                  start=_ONE_ARM, placed=_CUBE_BODIES),
    "Restack": Task(title="Swap two stacked cubes", fields=_CUBES, horizon=800, text="Restack", start=_ONE_ARM,
                    placed=_CUBE_BODIES),
    "NutAssemblySquare": _nuts("SquareNut"),
    "NutAssemblyRound": _nuts("RoundNut"),
    "NutAssembly": _nuts("SquareNut", "RoundNut"),
    **{f"PickPlace{name}": _pick_place(name) for name in _THINGS},
    "PickPlace": _pick_place(*_THINGS),
    "Door": Task(
        title="Turn a handle and open a door", horizon=500, text="Door", start=_ONE_ARM,
        fields=(
            Field(name="door_pos", size=3, text="centre of the door's panel, m, world", source="body_pos:Door_door"),
            Field(name="door_quat", size=4, text="orientation of the door's panel, x, y, z, w",
                  source="body_quat:Door_door"),
            Field(name="handle_pos", size=3, text="centre of the handle's bar, m, world",
                  source="site_pos:Door_handle"),
            Field(name="hinge_angle", size=1, text="how far the door is open, rad", source="joint:Door_hinge"),
            Field(name="handle_angle", size=1, text="how far the handle is turned, rad",
                  source="joint:Door_latch_joint"),
        ),
    ),
    "Wipe": Task(
        title="Wipe a line of dirt off the table", horizon=1000, text="Wipe", grips=False, compiled=False,
        bases=((-0.41, 0.0),),
        fields=(
            Field(name="marker_pos", size=300, text="x, y, z of each of the 100 dirt markers, m, world",
                  source="markers"),
            Field(name="marker_wiped", size=100, text="1 for each marker that was wiped, else 0", source="wiped"),
        ),
        start=_ONE_ARM.replace("(-0.10, 0, 1.01)", "(0.04, 0, 1.07)"),
    ),
    "TwoArmLift": Task(
        title="Lift a pot with two arms", horizon=500, text="TwoArmLift", arms=2, compiled=False, start=_FACING,
        bases=((0.0, -0.56), (0.0, 0.56)),
        fields=(
            *pose("pot", "pot_root", "the pot"),
            Field(name="handle0_pos", size=3, text="centre of handle 0, m, world", source="site_pos:pot_handle0"),
            Field(name="handle1_pos", size=3, text="centre of handle 1, m, world", source="site_pos:pot_handle1"),
        ),
    ),
    "TwoArmHandover": Task(
        title="Hand a hammer from one arm to the other", horizon=700, text="TwoArmHandover", arms=2, compiled=False,
        fields=pose("hammer", "hammer_root", "the hammer's handle"),
        start=_FACING, bases=((0.0, -0.81), (0.0, 0.81)),
    ),
    "TwoArmPegInHole": Task(
        title="Put a peg in a hole, each held by one arm", horizon=500, text="TwoArmPegInHole", arms=2, grips=False,
        compiled=False, start=_FACING, bases=((0.0, -0.6), (0.0, 0.6)),
        fields=(
            *pose("peg", "peg_main", "the peg"), *pose("hole", "hole_main", "the plate (its origin, not the hole)"),
        ),
    ),
}
