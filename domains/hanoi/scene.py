"""The robosuite scene: a Panda at a table with three containers and a tower of objects."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from ..arm.physics.cache import compiled_code_in
from ..arm.physics.library import forget_compilation
from ..arm.simulator import CACHE, CONTROL_HZ, controller_config, quiet_robosuite
from . import scene_objects as objects
from . import task

with quiet_robosuite(), compiled_code_in(CACHE):
    from robosuite.environments.manipulation.manipulation_env import ManipulationEnv
    from robosuite.models.arenas import TableArena
    from robosuite.models.tasks import ManipulationTask

TABLE_SIZE_M = (0.8, 0.8, 0.05)
# For contacts and constraints. robosuite requests 5,000 of each, for which MuJoCo reserves 1.3 GB; a step takes
# less than 0.4 MB, even with all cubes in a heap. If it is too small, `HanoiEnvironment.step` raises.
ARENA = "32M"


class HanoiScene(ManipulationEnv):  # type: ignore[misc]  # robosuite has no types
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
        with quiet_robosuite():
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
        self.robots[0].robot_model.mujoco_model = None      # the robot alone, compiled for other controllers
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
            yield objects.free_body(
                f"container_{name}",
                objects.container_shapes(),
                centre=(x, y, task.CONTAINER_Z_M),
                rgba=objects.PLATE_COLOUR,
                density=objects.PLATE_DENSITY,
                condim=3,
            )
        x, y = task.CONTAINER_XY_M[task.SOURCE]
        tower = task.tower(len(self.object_names), (x + task.HOLE_LOCAL_M[0], y))
        for name, half_edge_m, centre in zip(self.object_names, self.half_edges_m, tower, strict=True):
            yield objects.free_body(
                f"cube_{name}",
                objects.object_shapes(self.variant, half_edge_m),
                centre=tuple(centre),
                rgba=objects.COLOURS.get(name, objects.OTHER_COLOUR),
                density=objects.OBJECT_DENSITY,
                condim=6,
            )

    def _setup_observables(self) -> Any:
        return super()._setup_observables() if self.with_observables else {}
