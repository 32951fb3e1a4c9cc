"""The domain interface of a robot cell: programs of `hanoi` run unchanged, and E_R takes the evaluator's place."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from string import Template

from ...core.errors import UsageError, no_such
from ...core.ports import Environment, Renderer, Rig, Shelf
from ...core.values import JSON, Brief, Contract, Program
from ...domains import hanoi
from ...domains.hanoi import task
from .cell_file import (
    CUBES,
    FINGERTIP_M,
    INCREMENTS,
    LEAST_SPEED,
    MODES,
    PHASES,
    SAME_M,
    SAME_RAD,
    SHIPPED,
    STATUS,
    Cell,
    cell_of,
    content_of,
    read_cell,
)
from .guard import COMMANDED, room

# The cell in words, for models: what a calibration and a writer of evaluators know of it.


UNCERTAINTIES = (
    "Cubes and containers are as the camera sees them, a few millimetres off; a part of that is the same during a "
    "whole trial. Every trial begins in nearly the same way.\n"
)
IN_A_CELL = (       # what the interface of a simulation without noise says, and what holds here
    ("small to large, m, world; exact |", "small to large, m, world; **as the camera sees them** |"),
    ("of each cube, **w, x, y, z**; exact |", "of each cube, **w, x, y, z**; **as the camera sees them** |"),
    ("containers A, B, C, m, world; exact |", "containers A, B, C, m, world; **as seen at the start** |"),
    ("containers A, B, C, **w, x, y, z**; exact |", "containers A, B, C, **w, x, y, z**; **as seen at the start** |"),
    ("and NaN ends the episode\nwith fitness 0.", "and NaN stops the arm,\nwhich ends the trial."),
)
SUCCESS_IN_A_CELL = (
    "checked after every control step on the true state",
    "checked after every control step (on the true state in a simulated cell, as far as the camera sees in a real one)",
)
OF_HANOI = "The action is `[dx, dy, dz"        # where the interface of a simulation says what seven numbers do


def rig_of(cell: Cell, mode: str) -> Rig:
    """The rig of a calibration in this cell: only what a laboratory knows about its cell."""
    camera, limits, grounding = cell.camera, cell.limits, cell.grounding
    note = cell.calibration.note.strip()
    description = _filled("rig", {
        "name": f"The cell is called {cell.name!r}.", "note": f" {note}" if note else "",
        "width": camera.width, "height": camera.height, "every": camera.every_steps,
        "smoothing": f"{grounding.smoothing:g}", "jump_mm": f"{1000 * grounding.jump_m:g}",
        "execution": (_execution_of_phases if mode == PHASES else _execution_of_increments)(cell).strip(),
        "low": _listed(limits.low_m), "high": _listed(limits.high_m),
        "wall": limits.wall_steps, "force": f"{limits.force_n:g}", "force_steps": limits.force_steps,
        "astray_mm": f"{1000 * limits.astray_m:g}", "tilt": f"{limits.tilt_rad:g}", "trial_s": f"{limits.trial_s:g}",
        "above_mm": f"{1000 * (limits.low_m[2] - task.TABLE_HEIGHT_M):.0f}", "tips_mm": f"{1000 * FINGERTIP_M:.0f}",
    })
    return Rig(
        description=description, bounds=dict(cell.calibration.bounds), one_at_a_time=cell.arm.kind != "twin",
    )


def _execution_of_increments(cell: Cell) -> str:
    limits, execution = cell.limits, cell.execution
    goal = "measured pose of the hand" if execution.goal_update == "achieved" else "last goal"
    return _filled("rig-increments", {
        "goal": goal, "move_mm": f"{1000 * execution.move_per_unit_m:g}",
        "turn": f"{execution.turn_per_unit_rad:g}", "rate": f"{execution.rate_per_s:g}",
        "speed": f"{limits.speed_m_s:g}",
        "full_mm": f"{1000 * 0.05 * min(limits.speed_m_s, execution.rate_per_s * execution.move_per_unit_m):.0f}",
    })


def _execution_of_phases(cell: Cell) -> str:
    """In words, and its code, c_R of the paper."""
    limits, part = cell.limits, cell.phases
    return _filled("rig-phases", {
        "speed": f"{limits.speed_m_s:g}", "commanded": f"{COMMANDED:g}",
        "acceleration": f"{limits.acceleration_m_s2:g}", "braking": f"{limits.braking_m_s2:g}",
        "jerk": f"{part.jerk_m_s3:g}", "clearance_mm": f"{1000 * part.clearance_m:g}",
        "arrived_mm": f"{1000 * part.arrived_m:g}", "touch": f"{part.touch_n:g}", "settle_s": f"{part.settle_s:g}",
        "pick_shift_mm": _listed(1000 * shift for shift in part.pick_shift_m),
        "stack_shift_mm": _listed(1000 * shift for shift in part.stack_shift_m),
        "lower_mm": f"{1000 * part.place_lower_m:g}",
        "code": "\n\n\n".join(
            (files(__package__) / name).read_text(encoding="utf-8").strip() for name in ("phases.py", "execution.py")
        ),
    })


def phases_interface(of_increments: str, cell: Cell) -> str:
    """The interface of a policy whose seven numbers are phases: in place of what increments do."""
    low, high = room(cell.limits)
    part, motion = cell.phases, hanoi.MOTION
    begin, end = of_increments.index(f"\n\n{OF_HANOI}"), of_increments.index(motion.hand)
    here = _filled("policy-phases", {
        "low": _listed(low), "high": _listed(high), "yaw": f"{part.yaw_rad:g}",
        "speed": f"{COMMANDED * cell.limits.speed_m_s:g}", "gripper": motion.gripper,
        "period_ms": f"{1000 * PERIOD_S:g}", "same_mm": f"{1000 * SAME_M:g}", "same_rad": f"{SAME_RAD:g}",
        "least": LEAST_SPEED,
        "arrived_mm": f"{1000 * part.arrived_m:g}", "touch": f"{part.touch_n:g}", "settle_s": f"{part.settle_s:g}",
    })
    return f"{of_increments[:begin]}\n{here}\n{of_increments[end:].replace('a positive `rz`', 'a positive `yaw`')}"


def phases_evaluator_interface(of_increments: str) -> str:
    """The interface of an evaluator of phases: what the recorded actions are, and the status of each phase."""
    begin, end = of_increments.index("- **Actions**"), of_increments.index("- **`illegal_score`**")
    text = of_increments[:begin] + _filled("action-phases", {}) + of_increments[end:]
    last = "| `unseen_s` |"
    row = f"| `{STATUS}` | (T+1, 1) | of the phase: 0 under way, 1 done, 2 ended by a contact |\n"
    return text.replace(last, row + last)


def _listed(numbers: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in numbers)


def policy_interface(of_hanoi: str) -> str:
    """The interface of a policy: that of `hanoi` without noise, where the camera and the guard change it."""
    for simulated, here in IN_A_CELL:
        assert simulated in of_hanoi
        of_hanoi = of_hanoi.replace(simulated, here)
    return of_hanoi


def evaluator_interface(of_hanoi: str) -> str:
    """The interface of an evaluator: that of `hanoi`, and what a cell records besides."""
    return f"{of_hanoi.rstrip()}\n\n{_filled('evaluator', {'n_cubes': len(CUBES)})}"


def _filled(name: str, facts: dict[str, object]) -> str:
    text = (files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(facts).strip() + "\n"


PERIOD_S = hanoi.MOTION.control_period_s
HORIZON = 12_000
OPTIONS = ("cell", "horizon", "mode")
MAX_HORIZON = 1_000_000


def _cell_of(options: Mapping[str, JSON]) -> Cell:
    content = options["cell"]
    assert isinstance(content, dict)
    return cell_of(content, where="the cell")


class CellDomain:
    """Implements `core.ports.Domain`.

    Options are `cell`, a file or its content, `horizon`, in control steps, and `mode`: what a program's numbers are.
    """

    name = "cell"
    title = "Tower of Hanoi in a robot cell: camera, grounding, guarded arm"
    contract: Contract = hanoi.DOMAIN.contract
    evaluator_contract: Contract = hanoi.DOMAIN.evaluator_contract

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """The cell's content with all defaults, the horizon and the mode. Raises UsageError."""
        for key in given:
            if key not in OPTIONS:
                raise no_such("option of cell", key, OPTIONS)
        mode = given.get("mode", INCREMENTS)
        if mode not in MODES:
            raise UsageError(f"cell.mode cannot be {mode!r}; it must be one of {', '.join(MODES)}")
        cell, horizon = given.get("cell", str(SHIPPED / "twin.toml")), given.get("horizon", HORIZON)
        if isinstance(horizon, bool) or not isinstance(horizon, int) or not 1 <= horizon <= MAX_HORIZON:
            raise UsageError(f"cell.horizon cannot be {horizon!r}; it must be a whole number from 1 to {MAX_HORIZON}")
        if isinstance(cell, str):
            content = content_of(read_cell(Path(cell)))
        elif isinstance(cell, dict):
            content = content_of(cell_of(cell, where="cell.cell"))
        else:
            raise UsageError(f"cell.cell cannot be {cell!r}; it must be the path of a cell's file")
        return {"cell": content, "horizon": horizon, "mode": mode}

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts of `hanoi` without randomisation, the interface that the cell keeps, and what a cell records."""
        cell = _cell_of(options)
        given: dict[str, JSON] = {
            "randomisation": "none", "horizon": options["horizon"], "goal_update": cell.execution.goal_update,
        }
        brief = hanoi.DOMAIN.brief(hanoi.DOMAIN.options(given, preset="paper"))
        simulated, here = SUCCESS_IN_A_CELL
        assert simulated in brief.task
        policy, evaluator = policy_interface(brief.policy_interface), evaluator_interface(brief.evaluator_interface)
        if options.get("mode") == PHASES:       # options of earlier versions have no mode
            policy, evaluator = phases_interface(policy, cell), phases_evaluator_interface(evaluator)
        return replace(
            brief, task=brief.task.replace(simulated, here), policy_interface=policy, uncertainties=UNCERTAINTIES,
            evaluator_interface=evaluator, reference_fitness="",
        )

    def rig(self, options: Mapping[str, JSON]) -> Rig:
        """The cell in words, the bounds of its file, and whether there is one arm: see `core.ports.Calibrating`."""
        return rig_of(_cell_of(options), str(options.get("mode", INCREMENTS)))

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The camera's view and the scene of recorded trials: see `core.ports.Drawable`."""
        from .render import CellRenderer

        return CellRenderer(cell=_cell_of(options))

    def control_period_ms(self, options: Mapping[str, JSON]) -> float:
        """The duration of a control step: see `core.ports.Periodic`."""
        return 1000 * PERIOD_S

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Open the cell of these (completed) options."""
        from .environment import CellEnvironment

        return CellEnvironment(options)

    def reference_evaluator(self) -> Program:
        """E_R: metrics of an execution, without a fitness. Its fitness is always 0."""
        text = files(__package__) / "evaluator.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """None: programs are made in simulation."""
        return None


DOMAIN = CellDomain()
IMPORT_STRING = f"{__name__}:DOMAIN"
