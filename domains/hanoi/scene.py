"""The robosuite scene: a Panda at a table with three containers and a tower of objects."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from ..arm.models import KeptModel, without_robot_alone
from ..arm.physics.cache import compiled_code_in
from ..arm.physics.symbols import forget_compilation
from ..arm.simulator import CACHE, CONTROL_HZ, controller_config, quiet_robosuite
from . import task

# MJCF of the objects on the table: containers with a square hole, and three families of stackable objects.


PLATE_DENSITY = 2000.0
OBJECT_DENSITY = 1000.0
# Two of the bars are raised this far above the table: the other two carry the plate with half the contacts.
BAR_CLEARANCE_M = 0.0005

COLOURS = {
    "small": (0.85, 0.15, 0.12, 1.0),
    "medium": (0.12, 0.30, 0.85, 1.0),
    "large": (0.15, 0.65, 0.25, 1.0),
    "xlarge": (0.50, 0.50, 0.52, 1.0),
}
OTHER_COLOUR = (0.85, 0.65, 0.15, 1.0)
PLATE_COLOUR = (0.72, 0.58, 0.42, 1.0)

# The asymmetric variant: a core narrower than the cube of the same size, and two arms along local y that
# reach beyond that cube's faces, which is the gripper's closing direction after reset.
CORE_SCALE = 0.85
ARM_REACH_SCALE = 1.05
ARM_HALF_WIDTH_SCALE = 0.40
ARM_HALF_HEIGHT_SCALE = 0.45


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One primitive of a body: MuJoCo's type, its half-sizes and its centre, in metres."""

    kind: str
    size: tuple[float, ...]
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)


def container_shapes() -> tuple[Shape, ...]:
    """The four bars around a container's hole; its body frame is in the middle of the plate's height."""
    half_bar, half_hole = task.BAR_WIDTH_M / 2, task.HOLE_EDGE_M / 2
    side, outer = half_hole + half_bar, half_hole + task.BAR_WIDTH_M
    thick = task.CONTAINER_THICKNESS_M / 2
    thin, lift = thick - BAR_CLEARANCE_M / 2, BAR_CLEARANCE_M / 2
    x = task.HOLE_LOCAL_M[0]
    return (
        Shape(kind="box", size=(half_bar, outer, thick), centre=(x - side, 0.0, 0.0)),
        Shape(kind="box", size=(half_bar, outer, thick), centre=(x + side, 0.0, 0.0)),
        Shape(kind="box", size=(half_hole, half_bar, thin), centre=(x, -side, lift)),
        Shape(kind="box", size=(half_hole, half_bar, thin), centre=(x, side, lift)),
    )


def object_shapes(variant: str, half_edge_m: float) -> tuple[Shape, ...]:
    """The primitives of one stackable object of the "cube", "asymmetric" or "cylinder" family (appendix G.2)."""
    s = half_edge_m
    if variant == "cube":
        return (Shape(kind="box", size=(s, s, s)),)
    if variant == "cylinder":
        return (Shape(kind="cylinder", size=(s, s)),)
    if variant == "asymmetric":
        core = CORE_SCALE * s
        reach = ARM_REACH_SCALE * s
        arm = (ARM_HALF_WIDTH_SCALE * s, (reach - core) / 2, ARM_HALF_HEIGHT_SCALE * s)
        middle = (reach + core) / 2
        return (
            Shape(kind="box", size=(core, core, s)),
            Shape(kind="box", size=arm, centre=(0.0, -middle, 0.0)),
            Shape(kind="box", size=arm, centre=(0.0, middle, 0.0)),
        )
    raise ValueError(f"unknown variant {variant!r}")


def free_body(
    name: str,
    shapes: tuple[Shape, ...],
    *,
    centre: tuple[float, ...],
    rgba: tuple[float, ...],
    density: float,
    condim: int,
) -> ElementTree.Element:
    """A body at `centre` with a free joint, each shape once for contact (group 0) and once visual (group 1).

    `condim` 6 makes torsional and rolling friction act in every contact of this body.
    """
    body = ElementTree.Element("body", name=name, pos=_numbers(centre))
    ElementTree.SubElement(body, "freejoint", name=f"{name}_joint")
    for i, shape in enumerate(shapes):
        geometry = {"type": shape.kind, "size": _numbers(shape.size), "pos": _numbers(shape.centre)}
        contact = {"group": "0", "density": repr(density), "condim": str(condim), "rgba": "0 0 0 0"}
        seen = {"group": "1", "contype": "0", "conaffinity": "0", "mass": "0", "rgba": _numbers(rgba)}
        ElementTree.SubElement(body, "geom", {"name": f"{name}_{i}", **geometry, **contact})
        ElementTree.SubElement(body, "geom", {"name": f"{name}_{i}_visual", **geometry, **seen})
    return body


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(repr(float(value)) for value in values)


with quiet_robosuite(), compiled_code_in(CACHE):
    from robosuite.environments.manipulation.manipulation_env import ManipulationEnv
    from robosuite.models.arenas import TableArena
    from robosuite.models.tasks import ManipulationTask

TABLE_SIZE_M = (0.8, 0.8, 0.05)
# For contacts and constraints. robosuite requests 5,000 of each, for which MuJoCo reserves 1.3 GB; a step takes
# less than 0.4 MB, even with all cubes in a heap. If it is too small, `HanoiEnvironment.step` raises.
ARENA = "32M"


class HanoiScene(KeptModel, ManipulationEnv):  # type: ignore[misc]  # robosuite has no types
    """A robosuite environment without renderer, cameras and observables of objects.

    `observables` keeps robosuite's own robot observables, which cost time at every substep; only
    comparisons with stock robosuite need them.
    """

    def __init__(
        self,
        *,
        names: tuple[str, ...],
        half_edges_m: tuple[float, ...],
        variant: str = "cube",
        observables: bool = False,
        horizon: int = 12_000,
    ) -> None:
        self.object_names = names
        self.half_edges_m = half_edges_m
        self.variant = variant
        self.with_observables = observables
        with quiet_robosuite(), without_robot_alone():
            super().__init__(
                robots="Panda",
                controller_configs=controller_config(),
                initialization_noise=None,
                use_camera_obs=False,
                has_renderer=False,
                has_offscreen_renderer=False,
                renderer="mujoco",
                control_freq=CONTROL_HZ,
                horizon=horizon,
                ignore_done=True,
                hard_reset=False,
            )
        forget_compilation()

    def reward(self, action: Any = None) -> float:
        """No reward: success and fitness are computed elsewhere."""
        return 0.0

    @property
    def mj_model(self) -> Any:
        """The bare mujoco.MjModel."""
        return self.sim.model._model

    @property
    def mj_data(self) -> Any:
        """The bare mujoco.MjData."""
        return self.sim.data._data

    @property
    def arm_controller(self) -> Any:
        """The operational-space controller; a reset makes a new one."""
        return self.robots[0].part_controllers["right"]

    @property
    def gripper(self) -> Any:
        """The gripper model, which keeps the current opening command."""
        return self.robots[0].gripper["right"]

    def _load_model(self) -> None:
        super()._load_model()
        robot = self.robots[0].robot_model
        robot.set_base_xpos(robot.base_xpos_offset["table"](TABLE_SIZE_M[0]))
        arena = TableArena(table_full_size=TABLE_SIZE_M, table_offset=(0.0, 0.0, task.TABLE_HEIGHT_M))
        arena.set_origin([0, 0, 0])
        self.model = ManipulationTask(mujoco_arena=arena, mujoco_robots=[robot])
        for body in self._bodies():
            self.model.worldbody.append(body)
        size = self.model.root.find("size")
        size.attrib.clear()
        size.set("memory", ARENA)

    def _bodies(self) -> Iterator[ElementTree.Element]:
        for name, (x, y) in zip(task.CONTAINERS, task.CONTAINER_XY_M, strict=True):
            yield free_body(
                f"container_{name}",
                container_shapes(),
                centre=(x, y, task.CONTAINER_Z_M),
                rgba=PLATE_COLOUR,
                density=PLATE_DENSITY,
                condim=3,
            )
        x, y = task.CONTAINER_XY_M[task.SOURCE]
        tower = task.tower(len(self.object_names), (x + task.HOLE_LOCAL_M[0], y))
        for name, half_edge_m, centre in zip(self.object_names, self.half_edges_m, tower, strict=True):
            yield free_body(
                f"cube_{name}",
                object_shapes(self.variant, half_edge_m),
                centre=tuple(centre),
                rgba=COLOURS.get(name, OTHER_COLOUR),
                density=OBJECT_DENSITY,
                condim=6,
            )

    def _setup_observables(self) -> Any:
        return super()._setup_observables() if self.with_observables else {}
