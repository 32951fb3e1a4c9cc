"""Changed physics: masses, friction, damping and strength times a factor, and actions that are late.

The factors are drawn from the episode's seed, so an episode can be repeated. They serve to see whether a program holds
under other conditions than those that it was found in. For environments on MuJoCo and on Box2D.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Protocol

import numpy as np

from ...core.errors import UsageError

NOMINAL, LIGHT, HEAVY = "none", "light", "heavy"
STREAM: Final = 0x706572      # sets the draws apart from those of the environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """The range of each factor of an episode, and the most steps by which actions are late."""

    mass: tuple[float, float]           # of every body, with its inertia
    friction: tuple[float, float]       # of every surface
    damping: tuple[float, float]        # of every joint; MuJoCo alone
    strength: tuple[float, float]       # of every actuator
    delay: int


RANGES: Final[Mapping[str, Ranges]] = {
    LIGHT: Ranges(mass=(0.92, 1.08), friction=(0.85, 1.15), damping=(0.9, 1.1), strength=(0.95, 1.05), delay=0),
    HEAVY: Ranges(mass=(0.8, 1.2), friction=(0.6, 1.4), damping=(0.7, 1.3), strength=(0.85, 1.15), delay=1),
}
CHOICES: Final = (NOMINAL, *RANGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """The factors of one episode, and the steps by which its actions are late."""

    mass: float
    friction: float
    damping: float
    strength: float
    delay: int

    def as_json(self) -> dict[str, float]:
        """The draw for a recording."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}


def draw(level: str, seed: int) -> Draw:
    """The factors of the episode with this seed (0 to 2**31 - 1); `level` is a key of RANGES."""
    ranges = RANGES[level]
    rng = np.random.default_rng([STREAM, seed])
    mass, friction, damping, strength = (
        round(float(rng.uniform(*bounds)), 4)
        for bounds in (ranges.mass, ranges.friction, ranges.damping, ranges.strength)
    )
    return Draw(mass=mass, friction=friction, damping=damping, strength=strength,
                delay=int(rng.integers(ranges.delay + 1)))


def sentence(level: str) -> str:
    """What differs between episodes at this level, for prompts."""
    ranges = RANGES[level]

    def span(bounds: tuple[float, float]) -> str:
        return f"{bounds[0]:g} to {bounds[1]:g}"

    late = f"; actions take effect up to {ranges.delay} step late" if ranges.delay else ""
    return (
        f"The physics differ: drawn once for an episode, all masses are {span(ranges.mass)} times their nominal value, "
        f"friction {span(ranges.friction)}, damping of joints {span(ranges.damping)}, and the strength of motors "
        f"{span(ranges.strength)} times{late}. A policy does not learn the draw."
    )


class Changing(Protocol):
    """An environment whose physics can be changed."""

    def before(self, factors: Draw) -> None:
        """Change what exists before the environment is reset."""

    def after(self, factors: Draw) -> None:
        """Change what a reset makes."""

    def scaled_action(self, action: Any, factors: Draw) -> Any:
        """The action that has the strength of the draw; the action itself where actuators have it."""


def changing(env: Any, name: str) -> Changing:
    """The way to change an environment's physics. Raises UsageError if it is neither MuJoCo nor Box2D."""
    inner = env.unwrapped
    model = getattr(inner, "model", None)
    if model is not None and hasattr(model, "body_mass") and hasattr(model, "actuator_gainprm"):
        return _MuJoCo(model)
    if type(inner).__module__.startswith("gymnasium.envs.box2d") or _box2d_world(inner) is not None:
        return _Box2D(inner)
    raise UsageError(f"gym.perturb changes the physics of MuJoCo and of Box2D, and {name} has neither; leave it at "
                     f"{NOMINAL!r}")


def can_change(env: Any, name: str) -> bool:
    """Whether an environment's physics can be changed."""
    try:
        changing(env, name)
    except Exception:  # noqa: BLE001 - a user's environment may raise anything when it is looked at
        return False
    return True


def _box2d_world(inner: Any) -> Any:
    world = getattr(inner, "world", None)
    return world if hasattr(world, "bodies") and hasattr(world, "contacts") else None


class _MuJoCo:
    """Scales the model, which an environment keeps over its episodes."""

    def __init__(self, model: Any) -> None:
        self._model = model
        names = ("body_mass", "body_inertia", "geom_friction", "dof_damping", "actuator_gainprm", "actuator_biasprm")
        self._nominal = {name: getattr(model, name).copy() for name in names}

    def before(self, factors: Draw) -> None:
        import mujoco

        by = {
            "body_mass": factors.mass, "body_inertia": factors.mass, "geom_friction": factors.friction,
            "dof_damping": factors.damping,
        }
        for name, nominal in self._nominal.items():
            getattr(self._model, name)[:] = nominal * by.get(name, 1.0)
        for name in ("actuator_gainprm", "actuator_biasprm"):      # a motor's force is linear in the first three
            getattr(self._model, name)[:, :3] = self._nominal[name][:, :3] * factors.strength
        mujoco.mj_setConst(self._model, mujoco.MjData(self._model))     # what follows from masses, for the solver

    def after(self, factors: Draw) -> None:
        """The model is changed already."""

    def scaled_action(self, action: Any, factors: Draw) -> Any:
        return action


class _Box2D:
    """Scales the world, which a reset makes again."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def before(self, factors: Draw) -> None:
        """There is no world yet."""

    def after(self, factors: Draw) -> None:
        world = _box2d_world(self._inner)
        if world is None:
            raise UsageError("gym.perturb: the environment has no Box2D world after reset()")
        for body in world.bodies:
            for fixture in body.fixtures:
                fixture.friction *= factors.friction
                fixture.density *= factors.mass
            if body.fixtures:
                body.ResetMassData()
        for contact in world.contacts:
            contact.ResetFriction()

    def scaled_action(self, action: Any, factors: Draw) -> Any:
        """Environments set the torque from the size of an action of floats in every step."""
        floats = isinstance(action, np.ndarray) and action.dtype.kind == "f"
        return (action * factors.strength).astype(action.dtype) if floats else action
