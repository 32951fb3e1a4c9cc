"""The results of a comparison so far: the state of each run, its measures, and its failures."""

from typing import TYPE_CHECKING

from ..core.errors import StoreError
from ..core.events import EliteChanged
from ..core.values import JSON
from ..evidence.comparing import Comparing
from ..evidence.scheduling import OVER, JobPhase, Progress, WorkUnit
from ..evidence.summary import Row, RunStanding, rows_of
from ..memory.runs import is_run
from ..memory.store import RunStore

if TYPE_CHECKING:
    pass
from .comparison_plan import Planned


class ComparisonResults:
    """Collects results during a comparison. Call `begin` first."""

    def __init__(self, planned: Planned) -> None:
        self._planned = planned
        self._folder = planned.folder
        self._comparing: Comparing | None = None
        self._standings: dict[str, RunStanding] = {}
        self._messages: dict[str, str] = {}

    @property
    def comparing(self) -> Comparing:
        """The running comparison. `begin` must have been called."""
        assert self._comparing is not None
        return self._comparing

    def begin(self, comparing: Comparing) -> None:
        """Start with the results of earlier calls."""
        self._comparing = comparing
        for unit in comparing.units:
            self.look(unit)

    def note(self, unit: WorkUnit, phase: JobPhase, message: str) -> None:
        """Update after a unit started or ended."""
        if phase in OVER:
            self.look(unit)
        if phase is JobPhase.FAILED:
            self._messages[unit.name] = message
        else:
            self._messages.pop(unit.name, None)

    def look(self, unit: WorkUnit) -> None:
        """Read the state of a run. A measure, or a run that has no store yet, changes nothing."""
        path = self._folder.run_of(unit.job)
        if unit.measure is not None or not is_run(path):
            return
        try:
            with RunStore.read(path) as store:
                elites = [fact for fact in store.facts(only=(EliteChanged,)) if isinstance(fact, EliteChanged)]
        except StoreError:  # its store does not exist yet
            return
        if elites:
            self._standings[unit.job.name] = RunStanding(
                generation=elites[-1].generation, initial_fitness=elites[0].fitness, fitness=elites[-1].fitness,
                success=elites[-1].success_rate,
            )

    def standing(self, unit: WorkUnit) -> RunStanding | None:
        """The state of a unit's run; None if it has no elite yet."""
        return self._standings.get(unit.job.name)

    def success(self, unit: WorkUnit) -> float | None:
        """The success rate of a measure. The unit must be a measure that is done."""
        assert unit.measure is not None
        return self._folder.measures()[unit.job.name, unit.measure.name].success

    def rows(self, progress: Progress) -> tuple[Row, ...]:
        """The results so far, by task, model and arm."""
        return rows_of(
            self._planned.experiment, self.comparing.jobs, progress, self._standings, self._folder.measures()
        )

    def result(self, progress: Progress, *, wall_s: float) -> dict[str, JSON]:
        """The final object, for scripts."""
        units = self.comparing.units
        phases = [progress.phase(unit) for unit in units if unit.measure is None]
        not_done: dict[str, JSON] = {
            unit.name: self._messages.get(unit.name, str(progress.phase(unit)))
            for unit in units if progress.phase(unit) is not JobPhase.DONE
        }
        return {
            "comparison": str(self._folder.path),
            "status": "incomplete" if not_done else "done",
            "runs": len(phases),
            "done": phases.count(JobPhase.DONE),
            "measured": sum(unit.measure is not None and progress.phase(unit) is JobPhase.DONE for unit in units),
            "not_done": not_done,
            "table": [row.as_json() for row in self.rows(progress)],
            "wall_s": round(wall_s, 3),
        }
