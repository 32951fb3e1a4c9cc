"""The cell in words, for models: what a calibration and a writer of evaluators know of it."""

from importlib.resources import files
from string import Template

from ...core.ports import Rig
from ..hanoi import task
from .cell_file import CUBES, Cell

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


def rig_of(cell: Cell) -> Rig:
    """The rig of a calibration in this cell: only what a laboratory knows about its cell."""
    camera, limits, execution, grounding = cell.camera, cell.limits, cell.execution, cell.grounding
    note = cell.calibration.note.strip()
    goal = "measured pose of the hand" if execution.goal_update == "achieved" else "last goal"
    description = _filled("rig", {
        "name": f"The cell is called {cell.name!r}.", "note": f" {note}" if note else "",
        "width": camera.width, "height": camera.height, "every": camera.every_steps,
        "smoothing": f"{grounding.smoothing:g}", "jump_mm": f"{1000 * grounding.jump_m:g}",
        "goal": goal, "move_mm": f"{1000 * execution.move_per_unit_m:g}",
        "turn": f"{execution.turn_per_unit_rad:g}", "rate": f"{execution.rate_per_s:g}",
        "speed": f"{limits.speed_m_s:g}",
        "full_mm": f"{1000 * 0.05 * min(limits.speed_m_s, execution.rate_per_s * execution.move_per_unit_m):.0f}",
        "low": ", ".join(f"{value:g}" for value in limits.low_m),
        "high": ", ".join(f"{value:g}" for value in limits.high_m),
        "wall": limits.wall_steps, "force": f"{limits.force_n:g}", "force_steps": limits.force_steps,
        "astray_mm": f"{1000 * limits.astray_m:g}", "tilt": f"{limits.tilt_rad:g}", "trial_s": f"{limits.trial_s:g}",
        "above_mm": f"{1000 * (limits.low_m[2] - task.TABLE_HEIGHT_M):.0f}",
    })
    return Rig(
        description=description, bounds=dict(cell.calibration.bounds), one_at_a_time=cell.arm.kind != "twin",
    )


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
    text = (files(f"{__package__}.texts") / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(facts).strip() + "\n"
