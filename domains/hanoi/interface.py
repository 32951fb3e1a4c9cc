"""The prompt texts of the Hanoi task under given options: exact shapes, units, frames and effects of commands."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import degrees
from string import Template

from ...core.values import Brief
from . import referee, task
from .options import Settings
from .randomisation import Randomisation, Range


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """The motion facts in which the simulated and the kinematic arm differ."""

    control_period_s: float
    move_per_unit_m: float          # goal displacement for an action of 1
    turn_per_unit_rad: float
    gripper: str                    # one sentence: how fast the fingers move
    achieved: str                   # text for goal_update "achieved"
    desired: str                    # text for goal_update "desired"
    hand: str                       # the start pose, the fingers' axis, the reach
    touch: str                      # fingers, grasps, readings, what yields to a push
    push: str                       # how far a push of 0.1 m/s slides a cube
    timing: str = ""
    placing: str = ""
    friction_matters: bool = True   # False where torsional and rolling friction have no effect


REFERENCE_FITNESS = """\
f_e = 0.45 mean of P over all steps + 0.45 best P + 0.10 score of the tower on C at the end; 1 with success.
P = 0.95 (0.14 approach + 0.18 grasp and lift + 0.20 transport + 0.20 placement + 0.28 tower on C), less up to 15 %
for a near-illegal stack, + 0.05 smoothness. So early progress counts, and success at any step gives 1.
max_lift_height_m and max_grasp_lift (8 cm = 1) count from the bare table, held or not: cubes of the tower have them
from the start. first_lift_step is the first true lift, near the hand and 2 cm above the cube's first place."""


def brief(settings: Settings, motion: Motion) -> Brief:
    """The texts for prompts, exact for these settings."""
    names, half_edges = task.cube_names(settings.n_cubes), task.cube_half_edges(settings.n_cubes)
    randomisation = settings.randomisation
    facts = {
        "n_cubes": settings.n_cubes,
        "names_small_first": ", ".join(names),
        "start_text": _start(names, settings.rules),
        "half_edges": ", ".join(f"{name} {half_edge}" for name, half_edge in zip(names, half_edges, strict=True)),
        "cube_pos_size": 3 * settings.n_cubes,
        "cube_quat_size": 4 * settings.n_cubes,
        "horizon": settings.horizon,
        "period_s": f"{motion.control_period_s:g}",
        "period_ms": f"{1000 * motion.control_period_s:g}",
        "table": task.TABLE_HEIGHT_M,
        "thickness": task.CONTAINER_THICKNESS_M,
        "hole_edge": task.HOLE_EDGE_M,
        "bar": task.BAR_WIDTH_M,
        "hole_x": task.HOLE_LOCAL_M[0],
        "gate_x_low": task.GATE_X_M[0],
        "gate_x_high": task.GATE_X_M[1],
        "gate_y": task.GATE_HALF_Y_M,
        "container_moved_cm": f"{100 * referee.CONTAINER_MOVED_M:g}",
        "resting_cm": f"{100 * referee.RESTING_SPEED_M_S:g}",
        "released_cm": f"{100 * referee.RELEASED_M:g}",
        "settled": f"{referee.SETTLED_S:g}",
        "rules_text": _rules_text(settings),
        "other_rules": _other_rules(settings),
        "parking": _parking(settings),
        "illegal_at": f"{task.ILLEGAL_AT:.2f}",
        "stack_side": task.STACK_HORIZONTAL_FACTOR,
        "stack_height_cm": f"{100 * task.STACK_VERTICAL_M:g}",
        "placing_text": motion.placing and f"\n- {motion.placing}",
        "pos_noise": _noisy(randomisation.noise_std_m, randomisation.bias_m, randomisation.latency_steps),
        "quat_noise": _noisy(randomisation.orientation_noise_std_rad, randomisation.latency_steps),
        "move": f"{motion.move_per_unit_m:g}",
        "turn": f"{motion.turn_per_unit_rad:g}",
        "gripper": motion.gripper,
        "goal_text": motion.achieved if settings.goal_update == "achieved" else motion.desired,
        "hand_text": motion.hand,
        "touch_text": motion.touch,
        "timing_text": motion.timing,
    }
    return Brief(
        task=_filled_text("task", facts),
        policy_interface=_filled_text("policy", facts),
        evaluator_interface=_filled_text("evaluator", facts),
        uncertainties=_uncertainties(randomisation, motion),
        evaluator_uncertainties=_seen_on_record(randomisation, motion),
        reference_fitness=REFERENCE_FITNESS,
    )


def _filled_text(name: str, facts: Mapping[str, object]) -> str:
    text = (files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(facts).strip() + "\n"


def _noisy(*ranges: Range) -> str:
    return "exact" if all(bounds == (0.0, 0.0) for bounds in ranges) else "**noisy**"


def _start(names: Sequence[str], rules: str) -> str:
    """What stands where, and what is to be done with it."""
    between = " between the containers" if rules == "paper" else ""     # on the bare table, fewer are possible
    if len(names) == 1:
        return (
            f"and one cube ({names[0]}) stands in container A. Move it to container C: one move. What follows holds\n"
            "for towers of any height; with one cube the rules on other cubes never apply."
        )
    return (
        f"and a tower of {len(names)} cubes ({', '.join(reversed(names))}, the largest at the bottom) stands in"
        " container A. Move\nthe whole tower to container C, one cube at a time, in the order of the Tower of Hanoi:"
        " a larger cube must\nnever stand on a smaller one. The shortest solution has"
        f" {2 ** len(names) - 1} moves{between}."
    )


def _rules_text(settings: Settings) -> str:
    if settings.rules == "paper":
        return ""
    moved, settled = f"{100 * referee.MOVED_M:g} cm", f"{referee.SETTLED_S:g} s"
    return (
        f"\n\nA cube has settled once it was at rest and released for {settled}. These moves are *illegal* as well,"
        " and end the episode:\n\n"
        f"- Two or more cubes are farther than {moved}, in any direction, from where each settled last: move one cube"
        " at a time, and let it settle before the next.\n"
        "- A cube settles in another container than before although a smaller cube stood above it, or a smaller one"
        " stands in its new container.\n"
        f"- A cube rests outside the gates of all three containers for {referee.PARKING_LIMIT_S:g} s after it was"
        " released, or another cube is moved meanwhile. Do not park cubes on the bare table.\n"
        f"- A container is tipped by more than {degrees(referee.CONTAINER_TILT_RAD):.0f}°, or moved by more than"
        f" {100 * referee.CONTAINER_MOVED_M:g} cm."
    )


def _other_rules(settings: Settings) -> str:
    """For evaluators: whether anything but a larger cube on a smaller one ends an episode as illegal."""
    alone = "One cube has no pairs: it is always 0. " if settings.n_cubes == 1 else ""
    if settings.rules == "paper":
        return f"{alone}No other move is illegal."
    return f"{alone}No array names the other illegal moves, which end the episode as well: the positions show them."


def _parking(settings: Settings) -> str:
    """For evaluators: what a cube on the bare table is worth."""
    if settings.rules == "paper":
        return (
            "Cubes may be put on the bare table: no rule forbids it, so it is nothing to punish, and no progress"
            " either. A cube that lies there counts as still in the container from which it came"
            f"{_parked_example(settings.n_cubes)}."
        )
    return (
        "A cube that is left on the bare table is illegal and ends the episode: parking is no way to the goal, and"
        " the episode ranks below the same moves without it."
    )


def _parked_example(n_cubes: int) -> str:
    if n_cubes == 1:
        return ""
    return (f": with all but the largest on the table, all moves are left; with the largest then in its place on C,"
            f" {2 ** (n_cubes - 1) - 1}")


# Quantity, its sentence, and whether it applies to simulated contacts only.
_SENTENCES: tuple[tuple[str, str, bool], ...] = (
    ("noise_std_m", "Every observed cube and container position has Gaussian noise on each axis, other noise for each"
                    " object and axis; its standard deviation is drawn once an episode from {} m.", False),
    ("bias_m", "All observed cube and container positions share one unknown offset, fixed for the episode, each axis"
               " from {} m. The end effector's own position does not have it: what the cameras see and where the"
               " hand is differ by this offset.", False),
    ("noise_correlation", "This noise is correlated in time: AR(1), with a coefficient of {} from one control step"
                          " to the next; its values have that standard deviation.", False),
    ("object_bias_m", "Each cube and each container has a separate offset on top, fixed for the episode, each"
                      " axis from {} m.", False),
    ("bias_drift_m_per_sqrt_s", "The shared offset drifts slowly, a random walk of {} m per square root of a second"
                                " on each axis.", False),
    ("latency_steps", "Observed cube and container poses are late by a whole number of control steps, drawn once an"
                      " episode from {}; the robot's own readings are not.", False),
    ("orientation_noise_std_rad", "Every observed cube and container orientation is turned by a fresh random rotation"
                                  " vector with a standard deviation of {} rad on each axis.", False),
    ("world_offset_m", "All containers are shifted together, x and y each by {} m.", False),
    ("container_yaw_rad", "Each container is turned about the vertical through its origin by {} rad; the tower is"
                          " turned with container A.", False),
    ("initial_cube_xy_m", "Each cube of the initial tower is off the hole's centre, x and y each by {} m.", False),
    ("actuator_gain_scale", "The strength of the actuators is scaled once an episode by {}. The arm's weight is"
                            " compensated for a scale of 1, so the arm hangs too low or too high otherwise; the"
                            " fingers open to about 0.04 m times the scale, at most 0.04 m.", False),
    ("joint_damping_scale", "The joints' damping is scaled by {}: the arm answers more slowly or quickly.", False),
    ("sliding_friction_scale", "Sliding friction of everything that touches (cubes, fingers, containers, table) is"
                               " scaled by {}.", False),
    ("cube_mass_scale", "The mass of each cube is scaled by {}.", True),
    ("torsional_friction", "The torsional friction coefficient is drawn from {}.", True),
    ("rolling_friction", "The rolling friction coefficient is drawn from {}.", True),
    ("push_rate_hz", "From time to time a random cube gets a small push; the rate is {} per second.", False),
    ("push_speed_m_s", "A push changes the cube's speed by {} m/s in a random horizontal direction.", False),
)
# The range with which a quantity has no effect; (0, 0) where it is not listed.
_NOTHING: Mapping[str, Range] = {
    "actuator_gain_scale": (1.0, 1.0),
    "joint_damping_scale": (1.0, 1.0),
    "sliding_friction_scale": (1.0, 1.0),
    "cube_mass_scale": (1.0, 1.0),
    "torsional_friction": (0.005, 0.005),
    "rolling_friction": (0.0001, 0.0001),
}


def _uncertainties(randomisation: Randomisation, motion: Motion) -> str:
    """One bullet for each quantity that differs between episodes or hides something."""
    lines = []
    for quantity, sentence, contacts_only in _SENTENCES:
        bounds: Range = getattr(randomisation, quantity)
        if bounds == _NOTHING.get(quantity, (0.0, 0.0)) or (contacts_only and not motion.friction_matters):
            continue
        lines.append(f"- {_filled_sentence(sentence, bounds)}")
        if quantity == "push_speed_m_s":
            lines[-1] += f" {motion.push}"
        if quantity == "noise_std_m" and randomisation.noise_correlation == (0.0, 0.0):
            lines.append("- This noise is independent from one control step to the next.")
    if not lines:
        return "Observations are exact, and every episode begins in nearly the same way.\n"
    return "\n".join(["Drawn for every episode, uniformly, and not shown to the policy:", "", *lines]) + "\n"


_ON_RECORD = frozenset({"world_offset_m", "container_yaw_rad", "initial_cube_xy_m", "push_rate_hz"})


def _seen_on_record(randomisation: Randomisation, motion: Motion) -> str:
    """For evaluators, which see true states: the differences that show in a recording."""
    slides = f" {motion.push.partition(',')[0].rstrip('.')}."
    lines = [
        f"- {_filled_sentence(sentence, getattr(randomisation, quantity))}"
        f"{slides if quantity == 'push_rate_hz' else ''}"
        for quantity, sentence, _ in _SENTENCES
        if quantity in _ON_RECORD and getattr(randomisation, quantity) != (0.0, 0.0)
    ]
    if not lines:
        return "Every episode begins in nearly the same way.\n"
    return "\n".join(["Drawn uniformly for every episode:", "", *lines]) + "\n"


def _filled_sentence(sentence: str, bounds: Range) -> str:
    """A sentence with its range; a single value is not drawn."""
    low, high = bounds
    plain = sentence if low < high else re.sub(r"drawn (once an episode )?from", "always", sentence)
    return plain.format(_words(bounds))


def _words(bounds: Range) -> str:
    low, high = bounds
    return f"{low:g}" if low == high else f"[{low:g}, {high:g}]"
