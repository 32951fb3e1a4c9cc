"""Tower of Hanoi with a simulated Franka Panda arm (paper, appendix A).

    audit           programs that please an evaluator without doing the task
    domain          the domain interface of a Hanoi task; the robosuite and the kinematic domain are its two instances
    environment     tower of Hanoi in robosuite: the environment that a trusted worker steps (paper, appendix A)
    evaluator       the evaluator that the paper selected, as a program: loaded as text, run in a sandbox
    interface       the prompt texts of the Hanoi task under given options: exact shapes, units
    touch           what the fingers do to cubes and containers in simulation: measured values, and their text for pol
    known_episodes  episodes of known order for the simulated arm: those of the kinematic twin
    narration       describes a recorded episode step by step: the current move, its phase, and the state of the tower
    options         the options of a Hanoi environment: names, defaults and validation
    randomisation   what differs between episodes: ranges by preset, and one draw from them (paper
    recording       the recording of an episode, the same for every Hanoi environment: true states, actions
    referee         the step-by-step judge of an episode: success, illegal moves, placements
    render          pictures of a recorded episode
    scene           the robosuite scene: a Panda at a table with three containers and a tower of objects
    sensors         the observation of a policy: the flat vector, and the sensor noise added to the true state
    simulation      the parts of a simulated Hanoi environment: scene, draws applied to it, physics, and true state
    story           the story of a Hanoi episode for those who write policies: moves, phases, what is held
    task            the predicates of the Tower-of-Hanoi task: geometry, container gates, stacking, success, illegal
"""

from collections.abc import Iterable, Mapping
from math import ceil

from ...core.errors import UsageError
from ...core.ports import AuditProgram, Environment, KnownEpisode, Twin
from ...core.values import JSON
from ..arm.motion import ACHIEVED, CONTROL_PERIOD_S, DESIRED, GRIPPER, MOVE_PER_UNIT_M, TURN_PER_UNIT_RAD
from ..audit_reader import read_audit
from .domain import HanoiDomain
from .interface import Motion
from .options import settings
from .randomisation import QUANTITIES
from .touch import CONTAINERS_YIELD, TOUCH, TURNING_ACHIEVED, TURNING_DESIRED, YAW

MOTION = Motion(
    control_period_s=CONTROL_PERIOD_S,
    move_per_unit_m=MOVE_PER_UNIT_M,
    turn_per_unit_rad=TURN_PER_UNIT_RAD,
    gripper=GRIPPER,
    achieved=(
        f"{ACHIEVED} Where its weight is not compensated exactly (see the actuators' strength) it"
        " also drifts up or down, by up to 1 mm a step, and a command proportional to the remaining error then"
        f" comes to rest some millimetres off.{TURNING_ACHIEVED}"
    ),
    desired=(
        f"{DESIRED} At rest the arm is within a few millimetres of the goal (see the actuators' strength)."
        f"{TURNING_DESIRED}"
    ),
    hand=(
        "At the start the end effector is near (-0.10, 0, 1.01), the tool points straight down to within 0.15 rad"
        " (`robot0_eef_quat` near (1, 0, 0.06, 0)), and the fingers, half open, move along the world's y axis."
        " The fingers move along the hand's own y axis, whatever way it is turned; a positive `rz` turns it"
        f" counter-clockwise seen from above.{YAW}"
    ),
    touch=f"{TOUCH} {CONTAINERS_YIELD}",
    push="A push of 0.1 m/s slides a cube by about 1 mm.",
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


def _known_episodes(options: Mapping[str, JSON], seed: int) -> Iterable[KnownEpisode]:
    from .known_episodes import known_episodes

    return known_episodes(options, seed=seed)


def _audit_programs() -> Iterable[AuditProgram]:
    from . import audit

    return read_audit(audit, "FrankaPolicy")


_SHARED = ("randomisation", "rules", "goal_update", "n_cubes", "variant", *QUANTITIES)


def _twin(options: Mapping[str, JSON]) -> Twin:
    """The kinematic task with the same cubes, rules and randomness, and as many seconds for an episode."""
    from ..hanoi_kinematic import DOMAIN as KINEMATIC

    if options["variant"] != "cube":
        raise UsageError(
            f"the gate cannot try programs for hanoi.variant = {options['variant']!r}: {KINEMATIC.name} has plain cubes"
            " only; remove gate = 'on'"
        )
    longer = KINEMATIC.motion.control_period_s / CONTROL_PERIOD_S
    horizon = ceil(settings(options, domain="hanoi").horizon / longer)
    shared = {key: value for key, value in options.items() if key in _SHARED}
    return Twin(domain=KINEMATIC.name, options=KINEMATIC.options({**shared, "horizon": horizon}, preset="paper"))


DOMAIN = HanoiDomain(
    name="hanoi",
    title="Tower of Hanoi, Franka Panda in robosuite",
    motion=MOTION,
    make=_environment,
    known=_known_episodes,
    cheap=_twin,
    audit=_audit_programs,
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
