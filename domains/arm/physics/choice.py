"""The implementations of the control steps, by name."""

from typing import Protocol

from ..arrays import Array
from . import OWN_STEP, PHYSICS
from .stock import ArmScene, StockPhysics

__all__ = ("PHYSICS", "Physics", "make_physics")


class Physics(Protocol):
    """An implementation of the control steps of a scene."""

    def begin(self) -> None:
        """Prepare for a new episode after the scene's reset."""

    def step(self, action: Array) -> None:
        """Advance one control step."""


def make_physics(name: str, scene: ArmScene, *, goal_update: str) -> Physics:
    """One of PHYSICS, from slow to fast; "stock" is the reference, "exact" agrees with it bit for bit.

    "near-exact" differs from them by rounding; "fast" also lets MuJoCo put objects at rest to sleep, and takes
    14 substeps of 3.6 ms instead of 25 of 2 ms.
    """
    if name == OWN_STEP:
        return StockPhysics(scene, goal_update=goal_update)
    from .compiled import COARSE_SUBSTEPS, CompiledPhysics  # numba takes a second to import

    if name == "fast":
        return CompiledPhysics(
            scene, goal_update=goal_update, near_exact=True, sleep=True, substeps=COARSE_SUBSTEPS,
        )
    return CompiledPhysics(scene, goal_update=goal_update, near_exact=name == "near-exact")
