"""Why a known environment ended an episode: the value and the bound, or what happened.

From Gymnasium's and MiniGrid's own code; of other environments nothing is known, and reaching a goal is no broken rule.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def broken_rule(env: Any) -> str:
    """The rule that ended the episode, with the value and its bound, such as "height 0.19 < 0.2"; "" if not known."""
    bare = env.unwrapped
    made_by = {each.__module__ for each in type(bare).__mro__ if not each.__module__.endswith("mujoco_env")}
    if not any(module.startswith(("gymnasium.envs.", "minigrid.")) for module in made_by):
        return ""
    found = (rule(bare) for name, rule in _RULES if hasattr(bare, name))
    return next(filter(None, found), "")


def _unhealthy(bare: Any) -> str:
    """MuJoCo's robots: the height, the tilt of a planar one, then any other number of the state."""
    free = bare.model.jnt_type[0] == 0      # the trunk has 6 degrees of freedom, else x, height and tilt
    position = bare.data.qpos
    words = _outside("height", position[2 if free else 1], bare._healthy_z_range)
    words = words or _outside("tilt", position[2], getattr(bare, "_healthy_angle_range", None))
    limits = getattr(bare, "_healthy_state_range", None)
    state = [] if limits is None else bare.state_vector()[2:]
    return words or next(filter(None, (_outside("a state", value, limits) for value in state)), "")


def _pendulum(bare: Any) -> str:
    """The pendulums of MuJoCo: their bounds are in their code alone."""
    if type(bare).__name__.startswith("InvertedPendulum"):
        return _outside("angle", bare.data.qpos[1], (-0.2, 0.2))
    if type(bare).__name__.startswith("InvertedDoublePendulum"):
        return _outside("tip height", bare.data.site_xpos[0][2], (1.0, np.inf))
    return ""


def _crash_words(bare: Any) -> str:
    """Box2D's walker and lander: the body touched the ground, or left the world."""
    if bare.game_over:
        return "hull hit the ground" if hasattr(bare, "hull") else "body hit the ground"
    if hasattr(bare, "hull"):
        return _outside("x", bare.hull.position[0], (0.0, np.inf))
    middle = bare.helipad_x1 / 2 + bare.helipad_x2 / 2     # of the pad, in the middle of the world
    return _outside("x", (bare.lander.position.x - middle) / middle, (-1.0, 1.0))


def _off_track(bare: Any) -> str:
    """Box2D's racing car: it left the playfield, 2,000 units of the track divided by its scale."""
    limit = 2000 / 6.0
    found = (_outside(axis, at, (-limit, limit)) for axis, at in zip("xy", bare.car.hull.position, strict=True))
    return next(filter(None, found), "")


def _pole_fell(bare: Any) -> str:
    x, _, angle, _ = bare.state
    return (_outside("x", x, (-bare.x_threshold, bare.x_threshold))
            or _outside("angle", angle, (-bare.theta_threshold_radians, bare.theta_threshold_radians)))


def _in_lava(bare: Any) -> str:
    cell = bare.grid.get(*bare.agent_pos)
    return "stepped into lava" if cell is not None and cell.type == "lava" else ""


def _in_hole(bare: Any) -> str:
    return "fell into a hole" if bytes(bare.desc[divmod(int(bare.s), bare.ncol)]) == b"H" else ""


def _outside(what: str, value: float, limits: tuple[float, float] | None) -> str:
    """The words for a value that left its limits, with digits that show on which side it is; "" for one within."""
    if limits is None or limits[0] < value < limits[1]:
        return ""
    below = value <= limits[0]
    bound = f"{limits[0] if below else limits[1]:.4g}"
    shown = next((text for digits in (3, 5, 8) if (text := f"{value:.{digits}g}") != bound), bound)
    return f"{what} {shown} {'<' if below else '>'} {bound}"


_RULES: Sequence[tuple[str, Callable[[Any], str]]] = (   # by an attribute that the environment has
    ("_healthy_z_range", _unhealthy), ("data", _pendulum), ("game_over", _crash_words), ("car", _off_track),
    ("theta_threshold_radians", _pole_fell), ("agent_pos", _in_lava), ("ncol", _in_hole),
)
