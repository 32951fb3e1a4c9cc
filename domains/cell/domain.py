"""The domain interface of a robot cell: programs of `hanoi` run unchanged, and E_R takes the evaluator's place."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from ...core.errors import UsageError, unknown
from ...core.ports import Environment, Renderer, Rig, Shelf
from ...core.values import JSON, Brief, Contract, Program
from .. import hanoi

PERIOD_S = hanoi.MOTION.control_period_s
HORIZON = 12_000
MAX_HORIZON = 1_000_000


class CellDomain:
    """Implements `core.ports.Domain`. Options are `cell`, a file or its content, and `horizon`, in control steps."""

    name = "cell"
    title = "Tower of Hanoi in a robot cell: camera, grounding, guarded arm"
    contract: Contract = hanoi.DOMAIN.contract
    evaluator_contract: Contract = hanoi.DOMAIN.evaluator_contract

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """The cell's content with all defaults, and the horizon. Raises UsageError."""
        from .cell_file import SHIPPED, cell_of, content_of, read_cell

        for key in given:
            if key not in ("cell", "horizon"):
                raise unknown("option of cell", key, ("cell", "horizon"))
        cell, horizon = given.get("cell", str(SHIPPED / "twin.toml")), given.get("horizon", HORIZON)
        if isinstance(horizon, bool) or not isinstance(horizon, int) or not 1 <= horizon <= MAX_HORIZON:
            raise UsageError(f"cell.horizon cannot be {horizon!r}; it must be a whole number from 1 to {MAX_HORIZON}")
        if isinstance(cell, str):
            content = content_of(read_cell(Path(cell)))
        elif isinstance(cell, dict):
            content = content_of(cell_of(cell, where="cell.cell"))
        else:
            raise UsageError(f"cell.cell cannot be {cell!r}; it must be the path of a cell's file")
        return {"cell": content, "horizon": horizon}

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts of `hanoi` without randomisation, the interface that the cell keeps, and what a cell records."""
        from .cell_file import cell_of
        from .rig import UNCERTAINTIES, evaluator_interface, policy_interface

        content = options["cell"]
        assert isinstance(content, dict)
        given: dict[str, JSON] = {
            "randomisation": "none", "horizon": options["horizon"],
            "goal_update": cell_of(content, where="the cell").execution.goal_update,
        }
        brief = hanoi.DOMAIN.brief(hanoi.DOMAIN.options(given, preset="paper"))
        return replace(
            brief, policy_interface=policy_interface(brief.policy_interface), uncertainties=UNCERTAINTIES,
            evaluator_interface=evaluator_interface(brief.evaluator_interface), reference_fitness="",
        )

    def rig(self, options: Mapping[str, JSON]) -> Rig:
        """The cell in words, the bounds of its file, and whether there is one arm: see `core.ports.Calibrating`."""
        from .cell_file import cell_of
        from .rig import rig_of

        content = options["cell"]
        assert isinstance(content, dict)
        return rig_of(cell_of(content, where="the cell"))

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The camera's view and the scene of recorded trials: see `core.ports.Drawable`."""
        from .cell_file import cell_of
        from .render import CellRenderer

        content = options["cell"]
        assert isinstance(content, dict)
        return CellRenderer(cell=cell_of(content, where="the cell"))

    def control_period_ms(self, options: Mapping[str, JSON]) -> float:
        """The duration of a control step: see `core.ports.Periodic`."""
        return 1000 * PERIOD_S

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Open the cell of these (completed) options."""
        from .environment import CellEnvironment

        return CellEnvironment(options)

    def reference_evaluator(self) -> Program:
        """E_R: metrics of an execution, without a fitness. Its fitness is always 0."""
        text = files(__package__) / "evaluators" / "real.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """None: programs are made in simulation."""
        return None
