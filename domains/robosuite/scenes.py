"""robosuite's environments, made lean: no renderer, cameras or observables, little memory, one generator."""

import logging
from collections import OrderedDict
from typing import Any

from ..arm.models import KeptModel, without_robot_alone
from ..arm.physics.cache import compiled_code_in
from ..arm.physics.symbols import forget_compilation
from ..arm.simulator import CACHE, CONTROL_HZ, controller_config, quiet_robosuite
from .tasks import Task

with quiet_robosuite(), compiled_code_in(CACHE):
    import robosuite.environments.manipulation as _manipulation  # noqa: F401  # registers the environments
    from robosuite.environments.base import REGISTERED_ENVS
    from robosuite.environments.manipulation.stack import Stack

# Sizes that robosuite draws when it builds a model (a cube's, a hammer's, a peg's) are those of this seed.
MODEL_SEED = 0
# For contacts and constraints. robosuite requests 5,000 of each, for which MuJoCo reserves 1.3 GB. If it is too
# small, a step raises.
ARENA = "64M"


class Restack(Stack):  # type: ignore[misc]  # robosuite has no types
    """Stack with another start: the green cube stands on the red one. Success is Stack's: red on green."""

    def _reset_internal(self) -> None:
        super()._reset_internal()
        data = self.sim.data
        below = data.get_joint_qpos(self.cubeA.joints[0]).copy()
        above = data.get_joint_qpos(self.cubeB.joints[0]).copy()
        above[:3] = below[:3]
        above[2] += self.cubeA.top_offset[2] - self.cubeB.bottom_offset[2]
        data.set_joint_qpos(self.cubeB.joints[0], above)


class Lean(KeptModel):
    """What every task's environment gets: mixed in before robosuite's class."""

    def _load_model(self) -> None:
        super()._load_model()   # type: ignore[misc]
        size = self.model.root.find("size")     # type: ignore[attr-defined]
        size.attrib.clear()
        size.set("memory", ARENA)

    def _setup_observables(self) -> Any:
        return OrderedDict()

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
        """The operational-space controller of the first arm; a reset makes a new one."""
        return self.robots[0].part_controllers["right"]     # type: ignore[attr-defined]

    @property
    def gripper(self) -> Any:
        """The first arm's gripper model, which keeps the current opening command."""
        return self.robots[0].gripper["right"]              # type: ignore[attr-defined]


def make_scene(name: str, task: Task, *, horizon: int) -> Any:
    """The environment of a task: a subclass of robosuite's own, which decides reward and success."""
    base = REGISTERED_ENVS[task.environment or name]
    logging.getLogger("robosuite_logs").setLevel(logging.ERROR)     # it reports joint limits at every step
    with quiet_robosuite(), without_robot_alone():
        scene = type(f"Lean{name}", (Lean, base), {})(
            robots=["Panda"] * task.arms,
            controller_configs=[controller_config() for _ in range(task.arms)],
            use_camera_obs=False, has_renderer=False, has_offscreen_renderer=False, renderer="mujoco",
            reward_shaping=True, control_freq=CONTROL_HZ, horizon=horizon, ignore_done=True, hard_reset=False,
            seed=MODEL_SEED,
        )
    forget_compilation()
    return scene
