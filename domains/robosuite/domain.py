"""The domain interface of robosuite's tasks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Final

from ...core.order_ids import CONDITIONS
from ...core.ports import AuditProgram, Environment, Renderer, Shelf, Story
from ...core.recording import Recording
from ...core.values import JSON, Brief, Contract, Program
from ..arm.motion import ACHIEVED, CONTROL_PERIOD_S, DESIRED, GRIPPER, MOVE_PER_UNIT_M, TURN_PER_UNIT_RAD
from ..hanoi.randomisation import CHANGES
from ..shelf_reader import read_shelf
from . import options as task_options
from .options import NoiseRanges, Settings
from .tasks import LASTING_STEPS, REST_M_S, REST_RAD_S, TASKS, Field, Task, layout

# The prompt texts of a robosuite task: exact shapes, units, frames and effects of commands.


_FINGERS = (
    " The fingers are half open at the start and move along the hand's own y axis, whatever way it is turned"
    "{along}; a positive `rz` turns the hand counter-clockwise seen from above. Fingers that hold an object stop at"
    " its half-width. The fingertips reach about 1.2 cm below the end effector's position, and the palm is about"
    " 3.3 cm above it."
)
# Of the model; `tests/domains/robosuite/test_geometry.py` reads them from the simulator.
BASE_Z_M: Final = 0.912
JOINT_LIMITS_RAD: Final = (
    (-2.8973, 2.8973), (-1.7628, 1.7628), (-2.8973, 2.8973), (-3.0718, -0.0698), (-2.8973, 2.8973), (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)
REACH_M: Final = {0.82: 0.77, 0.9: 0.79, 1.0: 0.8, 1.1: 0.8, 1.2: 0.79}    # by the end effector's z, tool down
NEAREST_M: Final = 0.29         # from here on, at each of these heights
_LIMITS: Final = "; ".join(f"{low:g} to {high:g}" for low, high in JOINT_LIMITS_RAD)
_JOINTS: Final = f"Limits of the joints 1 to 7, rad: {_LIMITS}."
_REACH: Final = (
    f"With the tool straight down, the end effector can be from {NEAREST_M:g} m to "
    + ", ".join(f"{reach:g} m (at z = {z:g})" for z, reach in REACH_M.items())
    + " from the axis of joint 1, seen from above."
)
_TURNING: Final = (
    "Joint 1 turns the arm about the vertical, counter-clockwise seen from above for growing angles; joint 7 turns the"
    " hand, clockwise seen from above while the tool points down. Joint 7 starts near 0.8, so without joint 1 the hand"
    " can turn 2.1 rad clockwise and 3.6 rad counter-clockwise from there."
)
_SIZES: Final = (
    "The hand is 0.205 m wide along its own y axis and 0.063 m along x. Each finger is 0.02 m wide and 0.03 m thick,"
    " its pad is 0.016 m wide and high; open, the pads are 0.08 m apart. A finger presses with at most 20 N."
)
_SENTENCES: Mapping[str, str] = {
    "noise_std_m": "Every observed object position has Gaussian noise on each axis; its standard deviation is drawn"
                   " once an episode from {} m.",
    "bias_m": "All observed object positions share one unknown offset, fixed for the episode, each axis from {} m."
              " The end effector's own position does not have it.",
    "object_bias_m": "Each observed position has a separate offset on top, fixed for the episode, each axis from"
                     " {} m.",
    "noise_correlation": "This noise is correlated in time: AR(1), with a coefficient of {} from one control step to"
                         " the next.",
    "latency_steps": "Observed object poses are late by a whole number of control steps, drawn once an episode from"
                     " {}.",
    "bias_drift_m_per_sqrt_s": "The shared offset drifts slowly, a random walk of {} m per square root of a second.",
    "orientation_noise_std_rad": "Every observed object orientation is turned by a fresh random rotation vector with"
                                 " a standard deviation of {} rad on each axis.",
}


def brief(task: Task, settings: Settings) -> Brief:
    """The texts for prompts, exact for these settings."""
    text, _, reward = _read(task.text).partition("## reward\n")
    noisy = any(bounds != (0.0, 0.0) for bounds in settings.ranges.ranges().values())
    settled = settings.settled
    facts = {
        **task.words,
        **({"in_hand": ""} if settled else {}),
        "action": _action(task),
        "action_size": task.action_size,
        "commands": _commands(task),
        "arm_text": _arm(task),
        "exactness": "Poses of objects are **noisy**, all other values exact." if noisy else "All values are exact.",
        "goal_text": ACHIEVED if settings.goal_update == "achieved" else DESIRED,
        "hand_text": _hand(task),
        "horizon": settings.horizon,
        "period_ms": f"{1000 * CONTROL_PERIOD_S:g}",
        "period_s": f"{CONTROL_PERIOD_S:g}",
        "reward": reward.strip(),
        "start": task.start,
        "success_rows": (
            "whether the task counts as solved: true in the last row of a solved episode alone" if settled
            else "the task's success predicate"
        ),
        "when": _moment_words(task, lasting=settled),
        "two_frames": " (robot 0's and robot 1's own axes are given below)" if task.arms == 2 else "",
    }
    fields = layout(task)
    return Brief(
        task=_filled_text(text, facts),
        policy_interface=_filled_text(_read("policy"), {**facts, "fields": _table(fields, "({size},)")}),
        evaluator_interface=_filled_text(_read("evaluator"), {**facts, "fields": _table(fields, "(T+1, {size})")}),
        uncertainties=_uncertainties(settings.ranges),
    )


def _moment_words(task: Task, *, lasting: bool) -> str:
    """When the predicate of a task counts as success."""
    if not lasting:
        return "at the first control step at which it holds"
    held = f"once it has held for {LASTING_STEPS * CONTROL_PERIOD_S:g} s without a break"
    if not task.placed:
        return held
    flat = " and lies flat" if task.flat else ""
    return (
        f"{held}, while no robot touches what was put down, and that is at rest (slower than {100 * REST_M_S:g} cm/s"
        f" and {REST_RAD_S:g} rad/s){flat}"
    )


def _read(name: str) -> str:
    return (files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8")


def _filled_text(text: str, facts: Mapping[str, object]) -> str:
    return Template(text).substitute(facts).strip() + "\n"


def _table(fields: tuple[Field, ...], shape: str) -> str:
    return "\n".join(f"| `{field.name}` | {shape.format(size=field.size)} | {field.text} |" for field in fields)


def _action(task: Task) -> str:
    one = "dx, dy, dz, rx, ry, rz" + (", g" if task.grips else "")
    if task.arms == 1:
        return f"`[{one}]`"
    names = [name.strip() for name in one.split(",")]
    return "`[" + ", ".join(f"{name}{k}" for k in range(task.arms) for name in names) + "]`, robot 0 first"


def _commands(task: Task) -> str:
    axes = "the world's x, y, z" if task.arms == 1 else "**that robot's own** x, y, z (see below)"
    lines = [
        f"- `dx, dy, dz` move the goal of the end effector along {axes}: 1 is {MOVE_PER_UNIT_M:g} m.",
        f"- `rx, ry, rz` turn its goal orientation, a rotation vector about the same axes: 1 is"
        f" {TURN_PER_UNIT_RAD:g} rad.",
    ]
    if task.grips:
        lines.append(
            "- `g` moves the fingers: positive closes, negative opens, 0 keeps their command; its size does not matter."
            f" {GRIPPER}"
        )
    return "\n".join(lines)


def _hand(task: Task) -> str:
    if not task.grips:
        return ""
    return "\n\n" + _FINGERS.format(along=", which is the world's y at the start" if task.arms == 1 else "").strip()


def _arm(task: Task) -> str:
    """The arm's base, reach, joints and sizes."""
    bases = [f"({x:g}, {y:g}, {BASE_Z_M:g})" for x, y in task.bases]
    where = f"The arm's base, on the axis of joint 1, is at {bases[0]}."
    if task.arms == 2:
        where = f"The arms' bases, on the axes of their joints 1, are at {bases[0]} and {bases[1]}."
    lines = [where, _REACH, _JOINTS, _TURNING, _SIZES] if task.grips else [where, _JOINTS]
    return "\n".join(f"- {line}" for line in lines)


def _uncertainties(ranges: NoiseRanges) -> str:
    """One bullet for each kind of sensor noise."""
    lines = [
        f"- {_SENTENCES[quantity].format(_words(*bounds))}"
        for quantity, bounds in ranges.ranges().items() if bounds != (0.0, 0.0)
    ]
    if not lines:
        return "Episodes differ only in how they start.\n"
    return "\n".join(["Drawn for every episode and not reported to the policy:", "", *lines]) + "\n"


def _words(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"[{low:g}, {high:g}]"


WITH_SHELF: Final = ("Lift", "Stack")     # whose observations one set of parts reads
TUNED: Final = 60  # episodes of a tuning: a grasp needs numbers that fit one another, and an episode takes a second


@dataclass(frozen=True, slots=True, kw_only=True)
class RobosuiteDomain:
    """Implements `core.ports.Domain` for one task."""

    task_name: str
    name: str = task_options.NAME
    contract: Contract = Contract(class_name="FrankaPolicy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract: Contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    @property
    def title(self) -> str:
        """One line for lists."""
        return f"{TASKS[self.task_name].title} (robosuite {self.task_name})"

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options, completed from the preset's defaults. Raises UsageError."""
        return task_options.complete(TASKS[self.task_name], given, preset=preset)

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts under these (completed) options."""
        task = TASKS[self.task_name]
        return brief(task, task_options.settings(task, options))

    def conditions(self, options: Mapping[str, JSON]) -> dict[str, dict[str, JSON]]:
        """The presets of sensor noise, without single quantities of the search's: see `core.ports.Varying`."""
        given = {key: value for key, value in options.items() if key not in task_options.QUANTITIES}
        return {
            name: self.options({**given, "noise": preset}, preset="paper")
            for name, preset in zip(CONDITIONS, CHANGES, strict=True)
        }

    def control_period_ms(self, options: Mapping[str, JSON]) -> float:
        """The duration of a control step: see `core.ports.Periodic`."""
        return 1000 * CONTROL_PERIOD_S

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        from .environment import RobosuiteEnvironment

        return RobosuiteEnvironment(self.task_name, options)

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import RobosuiteRenderer

        return RobosuiteRenderer(task_name=self.task_name)

    def story(self, recording: Recording) -> Story:
        """The story of an episode: see `core.ports.Narrating`."""
        from .story import episode_story

        return episode_story(recording)

    def reference_evaluator(self) -> Program:
        """robosuite's staged reward over the episode, with metrics."""
        text = files(__package__) / "evaluator.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """The parts of the offline model; None for tasks without a shelf, which need a language model."""
        return _shelf(self.task_name) if self.task_name in WITH_SHELF else None

    def tuning_episodes(self, options: Mapping[str, JSON]) -> int:
        """How far an offline search tunes constants by default: see `core.ports.Numeric`."""
        return 0 if self.shelf() is None else TUNED

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`."""
        from ..plain_audit import vector_programs

        size = TASKS[self.task_name].action_size
        return vector_programs(self.contract.class_name, idle=[0.0] * size, low=[-1.0] * size, high=[1.0] * size)


@cache
def _shelf(task: str) -> Shelf:
    """The shelf of Markdown pages, one for Lift and Stack: parts of mixed quality. The program of the first fails."""
    return read_shelf(files(__package__) / "shelf", {"task": task})
