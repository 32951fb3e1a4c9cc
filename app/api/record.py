"""A run on disk, read from its log."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import app
from ...core.errors import MementoError, UsageError, no_such
from ...core.events import CandidateScored, Fact, InitialChosen
from ...core.text import number, one_line, share
from ...core.values import JSON
from ...evidence.loading import load_runs
from ...memory.lock import is_locked
from ...memory.lookup import INITIAL_POLICY, look_up
from ...memory.quality import Seen
from ...memory.run_status import state_of
from ...memory.run_view import RunView
from ...memory.slots import Slot
from ...memory.store import Entry, RunStore
from ...settings.evaluate import build_rank_settings
from ..rank import rank
from ..results import RankResult, RunResult, result_of
from . import notebook, reporting
from .waiting import apart, finish

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

APART = ("program", "metrics")      # what is not a column of `Run.frame`
FLOATS = ("fitness", "success_rate", "mean_return", "bound", "difference")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Candidate:
    """One policy of a search: its program, its results, and where it comes from.

    `fitness` is F in [0, 1], the mean over the search's episodes, by which candidates are compared; None if it failed
    or was pruned. `success_rate` is S in [0, 1], None also where the task has no success predicate; `mean_return` is
    None where it has no rewards. `fresh_fitness` is the mean over the `fresh_episodes` on which it met other programs,
    and which the search did not select it by; None if there are none.
    """

    id: str                             # such as "g2/macro/1"
    generation: int                     # 0 for p_0
    operator: str | None                # such as "hill-climb"; None while it is not scored
    state: str                          # "scored", "accepted", "rejected", "pruned", "failed", … as in `memento show`
    parents: tuple[str, ...] = ()       # ids
    summary: str = ""                   # what the model says that it changed
    fitness: float | None = None
    evaluator_version: int = 1          # of the evaluator that `fitness` is by
    success_rate: float | None = None
    mean_return: float | None = None
    fresh_fitness: float | None = None
    fresh_episodes: int = 0
    bound: float | None = None          # the upper bound of F of a pruned candidate
    difference: float | None = None     # F minus F of the climb's current policy; None outside the climb
    episodes: int = 0                   # rolled out for it
    steps: int = 0                      # in these episodes
    fault: str | None = None            # why it failed, in one line
    elite_of: tuple[int, ...] = ()      # the generations whose elite it was
    program: str | None = None          # its source text
    metrics: dict[str, JSON] = field(default_factory=dict)      # M, aggregated over the episodes

    def __repr__(self) -> str:
        return f"<Candidate {self.id}: {self.state}, F {number(self.fitness)}, success {share(self.success_rate)}>"

    def _repr_html_(self) -> str:
        return _candidate_html(self)


def _candidate_html(candidate: Candidate) -> str:
    """A candidate's figures, and its program to open."""
    pairs = (
        ("state", candidate.state), ("F", number(candidate.fitness)), ("success", share(candidate.success_rate)),
        ("return", "" if candidate.mean_return is None else number(candidate.mean_return, digits=2)),
        ("parents", ", ".join(candidate.parents)), ("change", one_line(candidate.summary, 300)),
        ("fault", one_line(candidate.fault or "", 300)),
    )
    program = escape(candidate.program or "")
    code = f"<details><summary>program</summary><pre>{program}</pre></details>" if program else ""
    return notebook.html_table(f"candidate {candidate.id}", pairs) + code


class Run:
    """A run in its folder: `memento.run` and `memento.load` return one.

    Nothing is kept in memory: every method reads the log as it is now, also that of a run that another process works
    on. All raise StoreError if the log is damaged or was written by a newer version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()     # a notebook may change its directory

    def __repr__(self) -> str:
        try:
            view = self._view()
        except MementoError as error:
            return f"<Run {self.name}: {error}>"
        elite = view.status.elite
        best = "no elite yet" if elite is None else f"elite {elite.candidate}, F {number(elite.fitness)}"
        state = state_of(view.status.status, live=is_locked(self.folder))
        return f"<Run {self.name}: {state}, {view.status.settings.get('domain', '?')}, {best}>"

    def _repr_html_(self) -> str:
        elite = self.elite
        words = "none yet" if elite is None else (
            f"{elite.id}: F {number(elite.fitness)}, success {share(elite.success_rate)};"
            f" {one_line(elite.summary, 200)}"
        )
        return notebook.run_html(self.folder, state=self.state, elite=words)

    @property
    def name(self) -> str:
        """The name of the run, which is that of its folder."""
        return self.folder.name

    @property
    def state(self) -> str:
        """"running", "paused", "done", "stopped", "out of budget", "failed" or "killed"."""
        return state_of(self._view().status.status, live=is_locked(self.folder))

    @property
    def settings(self) -> dict[str, JSON]:
        """All settings of the run, completed, with the options of its domain under "options"."""
        return dict(self._view().status.settings)

    @property
    def result(self) -> RunResult:
        """The figures of the run so far, as in the JSON of `memento run`; `status` is `state`."""
        with RunStore.read(self.folder) as store:
            self._require_begun(store)
            return result_of(store, status=self.state)

    @property
    def elite(self) -> Candidate | None:
        """The best policy so far; None before the search."""
        elite = self._view().status.elite
        return None if elite is None else self.candidate(elite.candidate)

    def candidate(self, name: str) -> Candidate:
        """The candidate with this id, such as "g1/hill/2", or "p_0". Raises UsageError with the nearest ids."""
        known = {each.id: each for each in self.candidates()}
        if name == INITIAL_POLICY and known:
            return next(iter(known.values()))
        if name not in known:
            raise no_such("candidate", name, [INITIAL_POLICY, *known])
        return known[name]

    def candidates(self) -> list[Candidate]:
        """The policies of the search in the order in which they arrived, p_0 first; failed and pruned ones too."""
        with RunStore.read(self.folder) as store:
            view, programs, metrics = _read(store)
            if view.status.elite is not None:
                initial = look_up(store, INITIAL_POLICY)
                metrics.setdefault(initial.id, initial.metrics)
        return [
            candidate_of(slot, programs.get(key), metrics.get(key, {}), view.slots.seen.get(key))
            for key, slot in view.slots.candidates.items()
        ]

    def frame(self) -> "pandas.DataFrame":
        """The candidates as a table: one row each, the columns are the fields of `Candidate` but program and metrics.

        Numbers that may be missing are floats, NaN where a candidate has none. Raises UsageError if pandas is not
        installed.
        """
        try:
            import pandas
        except ImportError:
            raise UsageError(
                "a DataFrame needs pandas, which is not installed: install it, or use candidates(), which has the"
                " same values"
            ) from None
        return pandas.DataFrame(self.rows()).astype(dict.fromkeys(FLOATS, float))

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `frame` as dicts."""
        return [
            {name: value for name, value in asdict(candidate).items() if name not in APART}
            for candidate in self.candidates()
        ]

    def facts(self, *kinds: type[Fact]) -> Iterator[Entry]:
        """The log in the order of its commits: entries with `seq` (from 1), `at` (seconds since the epoch) and `fact`.

        With `kinds`, classes of `memento.core.events`, only those.
        """
        with RunStore.read(self.folder) as store:
            yield from store.facts_after(0, only=kinds or None)

    def plot(self, *kinds: str) -> "Figure":
        """A matplotlib figure with a panel for each kind: "fitness", "lineage" and "episodes" (by purpose); all by
        default. Raises UsageError for another kind, and without the extra `plots`.
        """
        for kind in kinds:
            if kind not in notebook.PLOTS:
                raise no_such("plot", kind, notebook.PLOTS)
        fitness = [(each.fitness, bool(each.elite_of)) for each in self.candidates()]
        return notebook.plot_run(self.folder, kinds or notebook.PLOTS, fitness)

    def report(self, out: str | Path, *, pictures: bool = True) -> Path:
        """Write the page of `memento report` about this run and return its path; an existing file is replaced.

        `pictures` draws moments of the elite's first episode, if this machine can. Raises UsageError if the file
        cannot be written or is not named *.html.
        """
        path = Path(out)
        reporting.require_page(path)
        evidence = load_runs([self.folder])
        drawn = apart(lambda: reporting.draw(evidence)) if pictures else reporting.Pictures(missing=reporting.UNWANTED)
        reporting.write_page(path, evidence, drawn, command=f"memento report {self.name} --out {path.name}")
        return path

    def rank(
        self, *, episodes: int = 20, programs: int = 8, seed: int = 0, salt: str | None = None,
        workers: int | None = None,
    ) -> RankResult:
        """Measure the run's best programs on fresh common episodes as `memento rank` does, the best first.

        Episodes that the folder holds already are not rolled out again. Raises UsageError, StoreError for a damaged
        file of episodes, and RolloutError if the simulator fails.
        """
        settings = build_rank_settings(
            self.folder, episodes=episodes, programs=programs, seed=seed, salt=salt, workers=workers
        )
        return finish(lambda: rank(settings))

    def resume(
        self, *, workers: int | None = None, display: str = "auto",
        on_candidate: "notebook.OnCandidate | None" = None, **budgets: float,
    ) -> "Run":
        """Continue a stopped or killed run to its end, and return it; a finished one is returned at once.

        `budgets` replace those of the run, such as `budget_usd=5`. `display` and `on_candidate` are as in
        `memento.run`. Raises UsageError
        for a run that another process works on, and other MementoErrors as `memento.run` does.
        """
        from ...settings import parse_budgets
        from .displays import display_of

        changed = parse_budgets(budgets, ())
        with display_of(display) as screen, notebook.calling(screen, on_candidate, candidate_of) as seen:
            finish(lambda: app.resume(self.folder, display=seen, workers=workers, budgets=changed))
        return self

    def _view(self) -> RunView:
        with RunStore.read(self.folder) as store:
            self._require_begun(store)
            return _read(store)[0]

    def _require_begun(self, store: RunStore) -> None:
        if not store.last_seq:
            raise UsageError(f"the run {self.name!r} was killed before its first fact: there is nothing to read")


def _read(store: RunStore) -> tuple[RunView, dict[str, str], dict[str, dict[str, JSON]]]:
    """The view of a run, and the programs and metrics of its candidates by id."""
    view, programs, metrics = RunView(), dict[str, str](), dict[str, dict[str, JSON]]()
    for entry in store.facts_after(0, texts=False):
        view.apply(entry.fact, entry.at)
        match entry.fact:
            case CandidateScored(candidate=found):
                if found.program.text:
                    programs[found.id] = found.program.text
                metrics[found.id] = dict(found.metrics)
            case InitialChosen(order=str(order), program=program):
                programs[order] = program.text
    return view, programs, metrics


def candidate_of(
    slot: Slot, program: str | None, metrics: dict[str, JSON], seen: Seen | None = None
) -> Candidate:
    """The candidate of a slot, with its program, its metrics, and what was seen of it on fresh episodes."""
    return Candidate(
        id=slot.id, generation=slot.generation, operator=None if slot.operator is None else str(slot.operator),
        state=slot.state, parents=slot.parents, summary=slot.summary, fitness=slot.fitness,
        evaluator_version=slot.version, success_rate=slot.success_rate, mean_return=slot.mean_return, bound=slot.bound,
        difference=slot.difference, fresh_fitness=None if seen is None else seen.fitness,
        fresh_episodes=0 if seen is None else seen.episodes,
        episodes=slot.rolled, steps=slot.steps, elite_of=slot.elite_of, program=program, metrics=metrics,
        fault=None if slot.fault is None else f"{slot.fault.kind}: {slot.fault.message}",
    )


