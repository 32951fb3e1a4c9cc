"""Tower of Hanoi without a physics engine: the same interface and rules, thousands of steps per second.

    audit           programs that please an evaluator without doing the task
    cubes           the cubes and containers of the kinematic world: support, pushes, falls and topples
    environment     the environment of the kinematic Hanoi task: world, sensors, referee and trace, stepped together
    hand            the arm of the kinematic world: the motion of the hand under commands, with lag, sag and limits
    known_episodes  episodes of known order of merit for probes: a scripted hand in the kinematic world
    world           the hand among the cubes of the kinematic world: where contacts stop it, what it pushes
"""

from collections.abc import Iterable, Mapping

from ...core.ports import AuditProgram, Environment, KnownEpisode
from ...core.values import JSON
from ..audit_reader import read_audit
from ..hanoi.domain import HanoiDomain
from ..hanoi.interface import Motion
from .hand import CONTROL_PERIOD_S, MOVE_PER_UNIT_M, TURN_PER_UNIT_RAD

MOTION = Motion(
    control_period_s=CONTROL_PERIOD_S,
    move_per_unit_m=MOVE_PER_UNIT_M,
    turn_per_unit_rad=TURN_PER_UNIT_RAD,
    gripper="Opening or closing all the way takes 3 steps.",
    achieved=(
        "**The goal is computed again at every control step from where the hand is**: goal = current pose + increment."
        " Within a step the hand covers about 85 % of the way, then stands. Where the arm's weight is not"
        " compensated exactly (see the actuators' strength) it also drifts up or down, by up to 4 mm a step, and"
        " a command proportional to the remaining error then comes to rest some millimetres off. Its"
        " movements are inexact by about 0.3 mm."
    ),
    desired=(
        "**Increments accumulate**: goal = last goal + increment, wherever the hand is. Within a step the hand covers"
        " about 85 % of the way to the goal, at most 7.5 cm on each axis. The goal itself is not observed. At rest"
        " the hand is within a few millimetres of the goal (see the actuators' strength)."
    ),
    hand=(
        "At the start the end effector is near (-0.10, 0, 1.01), the tool points straight down"
        " (`robot0_eef_quat` is (1, 0, 0, 0)), and the fingers, half open, move along the world's y axis."
        " The fingers move along the hand's own y axis, whatever way it is turned; a positive `rz` turns it"
        " counter-clockwise seen from above. It reaches x from -0.25 to 0.32, y from -0.45 to 0.45, z up to 1.25."
    ),
    touch=(
        "**Fingers.** Each is 2 cm wide and 1 cm thick. Open, q is 0.04, or 0.04 times an actuator strength below 1;"
        " closed on nothing it is 0. Closing on a cube moves it to the middle between the fingers and straightens it;"
        " then q is its half-edge. It is held if the end effector is at least 2 mm below the cube's top and the"
        " fingertips are above its bottom, the cube's middle is no more than its half-edge less 2 to 8 mm (by"
        " friction) off along the hand's x axis, the hand is turned against its faces by at most 0.6 rad and tilted by"
        " at most 0.35 rad; otherwise it is squeezed out. A cube that carries another one cannot be taken."
        " One unit of rotation turns the hand by 0.21 rad in a step; any yaw can be reached, a tilt up to 0.6 rad."
        " A cube looks the same after a quarter turn."
    ),
    push="A push of 0.1 m/s slides a cube by 1 mm, divided by the scale of its sliding friction.",
    timing=(
        "The physics is simplified: fingers, held cubes and cubes stop at what they touch or push it aside, and what"
        " is let go falls at once, toppling where its centre is not supported. Containers do not move."
    ),
    placing="A cube that is not entirely within a hole stands on the plate's bars, tilted and too high.",
    friction_matters=False,
)

_DEFAULTS: dict[str, JSON] = {
    "randomisation": "table",
    "rules": "strict",
    "goal_update": "achieved",
    "n_cubes": 4,
    "horizon": 1_500,
    "variant": "cube",
}


def _environment(options: Mapping[str, JSON]) -> Environment:
    from .environment import KinematicHanoi

    return KinematicHanoi(options)


def _known_episodes(options: Mapping[str, JSON], seed: int) -> Iterable[KnownEpisode]:
    from .known_episodes import known_episodes

    return known_episodes(options, seed=seed)


def _audit_programs() -> Iterable[AuditProgram]:
    from . import audit

    return read_audit(audit, "FrankaPolicy")


DOMAIN = HanoiDomain(
    name="hanoi-kinematic",
    title="Tower of Hanoi without physics, for quick experiments",
    motion=MOTION,
    make=_environment,
    known=_known_episodes,
    audit=_audit_programs,
    defaults={"paper": _DEFAULTS, "quick": _DEFAULTS, "smoke": {**_DEFAULTS, "horizon": 120}},
    choices={"variant": ("cube",)},
    has_arm=False,
    # The same correlation in time as 0.97 per step of 50 ms.
    ranges={"hard": {"noise_correlation": [0.885, 0.885]}},
)
