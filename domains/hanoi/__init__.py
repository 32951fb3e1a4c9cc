"""Tower of Hanoi with a simulated Franka Panda arm (paper, appendix A)."""

from collections.abc import Mapping

from ...core.ports import Environment
from ...core.values import JSON
from .domain import HanoiDomain
from .interface import Motion

# Facts of robosuite's operational-space controller for the Panda; a test compares them with its configuration.
MOTION = Motion(
    control_period_s=0.05,
    move_per_unit_m=0.05,
    turn_per_unit_rad=0.5,
    gripper="Opening or closing all the way takes about 12 steps.",
    achieved=(
        "**The goal is taken anew at every control step from where the hand is**: goal = current pose + increment."
        " Within a step the arm covers only a part of the way: held at 1, `dx` moves it about 1.25 cm a step"
        " after a few steps, and less at the start. A small command moves it in proportion. With 0 it stops after"
        " about a centimetre. Where its weight is not compensated exactly (see the actuators' strength) it"
        " also drifts up or down, by up to 1 mm a step, and a command proportional to the remaining error then"
        " comes to rest some millimetres off."
    ),
    desired=(
        "**Increments accumulate**: goal = last goal + increment, wherever the arm is. Held at 1, `dx` moves the"
        " goal 5 cm a step, faster than the arm can follow, and the arm goes on towards the goal after the"
        " command is back at 0. The goal itself is not observed. At rest the arm is within a few millimetres of"
        " the goal (see the actuators' strength)."
    ),
    hand=(
        "At the start the end effector is near (-0.10, 0, 1.01), the tool points straight down to within 0.15 rad"
        " (`robot0_eef_quat` near (1, 0, 0.06, 0)), and the fingers, half open, move along the world's y axis."
        " The fingers move along the hand's own y axis, whatever way it is turned; a positive `rz` turns it"
        " counter-clockwise seen from above."
    ),
)

_DEFAULTS: dict[str, JSON] = {
    "randomisation": "table",
    "rules": "strict",
    "goal_update": "achieved",
    "n_cubes": 4,
    "horizon": 12_000,
    "variant": "cube",
    "physics": "exact",
    "idle_stop_s": 0.0,
}


def _environment(options: Mapping[str, JSON]) -> Environment:
    from .environment import HanoiEnvironment

    return HanoiEnvironment(options)


DOMAIN = HanoiDomain(
    name="hanoi",
    title="Tower of Hanoi, Franka Panda in robosuite",
    motion=MOTION,
    make=_environment,
    defaults={
        "paper": _DEFAULTS,
        # Programs that solve the task never leave all cubes at rest for longer than 5 s: 30 s is hopeless.
        "quick": {**_DEFAULTS, "horizon": 6_000, "idle_stop_s": 30.0, "physics": "fast"},
        "smoke": {**_DEFAULTS, "horizon": 150, "physics": "fast"},
    },
    choices={
        "variant": ("cube", "asymmetric", "cylinder"),
        "physics": ("stock", "exact", "near-exact", "fast"),
    },
    numbers={"idle_stop_s": (0.0, 1e6)},
)
