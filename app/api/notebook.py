"""What a notebook shows of runs, candidates and results: short reprs, HTML, plots, and calls while a run goes on.

HTML escapes every text, since names and summaries come from models. Charts are images, so that their style stays apart
from the notebook's.
"""

import base64
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import MementoError
from ...core.events import CandidateScored, Fact
from ...core.extras import require
from ...core.ports import Activity, Attentive, Display
from ...core.text import one_line
from ...core.values import JSON
from ...evidence.figures import list_figures
from ...evidence.findings import find
from ...evidence.loading import Evidence, load_runs
from ...evidence.parts import figure_svg
from ...evidence.records import RunRecord
from ...memory.card import card_words
from ...memory.slots import Slot
from ...memory.store import ask
from ...tui.live_view import LiveView, steady_clock

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


OnCandidate = Callable[[Any], object]      # with a Candidate
MakeCandidate = Callable[[Slot, str | None, dict[str, JSON]], object]
PLOTS: Final = ("fitness", "lineage", "episodes")
STOP: Final = "stop-after-candidate"
CELL: Final = "text-align:left;padding:.1em 1em .1em 0;vertical-align:top"


# ------------------------------------------------------------------------------------------------- HTML


def html_table(title: str, pairs: Iterable[tuple[str, str]]) -> str:
    """A title, and names with their values."""
    rows = "".join(
        f'<tr><th style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in pairs if value
    )
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def run_html(folder: Path, *, state: str, elite: str) -> str:
    """The state of the run in a folder, its elite, in words, its card, and the curve of its fitness."""
    [record] = load_runs([folder]).records
    pairs = [
        ("state", state), ("task", f"{record.domain} by {record.method}, {record.model}, seed {record.seed}"),
        ("elite", elite),
        *(() if record.card is None else card_words(record.card, record.name)),
    ]
    return html_table(f"run {folder.name}", pairs) + _curve(record)


def _curve(record: RunRecord) -> str:
    evidence = Evidence(title=record.name, records=(record,))
    figure = next((each for group in find(evidence).groups for each in list_figures(group)), None)
    if figure is None:
        return ""
    packed = base64.b64encode(figure_svg(figure).encode()).decode()
    return f'<img alt="{escape(figure.title)}" width="420" src="data:image/svg+xml;base64,{packed}">'


# ------------------------------------------------------------------------------------------------ plots


def plot_run(folder: Path, kinds: Sequence[str], fitness: Sequence[tuple[float | None, bool]]) -> "Figure":
    """A figure with one panel for each kind, by matplotlib. Raises UsageError without it.

    `fitness` is F of every candidate in the order of arrival, and whether it was an elite.
    """
    require("plots", "run.plot()")
    from matplotlib.figure import Figure

    [record] = load_runs([folder]).records
    draw: Mapping[str, Callable[[Axes], None]] = {
        "fitness": lambda axes: _plot_fitness(axes, fitness),
        "lineage": lambda axes: _plot_lineage(axes, record),
        "episodes": lambda axes: _plot_episodes(axes, record),
    }
    figure = Figure(figsize=(5.2 * len(kinds), 3.6), layout="constrained")
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        draw[kind](axes)
    figure.suptitle(one_line(folder.name, 80))
    vars(figure)["_repr_png_"] = lambda: _png(figure)   # a notebook shows it so, without pyplot's global state
    return figure


def _png(figure: "Figure") -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110)
    return file.getvalue()


def _plot_fitness(axes: "Axes", candidates: Sequence[tuple[float | None, bool]]) -> None:
    """F of every candidate in the order of arrival, and of the best so far."""
    scored = [(place, fitness) for place, (fitness, _) in enumerate(candidates) if fitness is not None]
    elites = [(place, fitness) for place, fitness in scored if candidates[place][1]]
    axes.scatter(*_columns(scored), s=14, color="0.65", label="candidates")
    axes.step(*_columns([*elites, (len(candidates) - 1, elites[-1][1])] if elites else []), where="post",
              color="tab:blue", label="elite")
    axes.set(xlabel="candidate", ylabel="F", title="fitness")
    axes.legend(frameon=False)


def _plot_lineage(axes: "Axes", record: RunRecord) -> None:
    """The elite and its ancestors: F by generation, each joined to its parents; another marker for each operator."""
    placed = {row.id: (row.generation, row.fitness or 0.0) for row in record.lineage}
    for row in record.lineage:
        for parent in row.parents:
            if parent in placed:
                axes.plot(*_columns([placed[parent], placed[row.id]]), color="0.7", zorder=1)
    for operator in dict.fromkeys(row.operator for row in record.lineage):
        points = [placed[row.id] for row in record.lineage if row.operator is operator]
        axes.scatter(*_columns(points), label=str(operator), zorder=2)
    axes.set(xlabel="generation", ylabel="F", title="descent of the elite")
    if placed:
        axes.legend(frameon=False)


def _plot_episodes(axes: "Axes", record: RunRecord) -> None:
    """How many episodes each purpose took."""
    counts = {} if record.card is None else record.card.episodes
    bars = axes.barh([*counts], [*counts.values()], color="tab:blue")
    axes.bar_label(bars, padding=2)
    axes.set(xlabel="episodes", title="episodes by purpose")
    axes.invert_yaxis()


def _columns(points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


# --------------------------------------------------------------------------------- while a run goes on


class Calling(Attentive):
    """A display that also calls `on_candidate` with each scored candidate; `error` is what that raised.

    `make` makes a candidate of its slot, its program and its metrics.

    The run ends cleanly after a candidate for which the call returns True, or raises.
    """

    def __init__(self, inner: Display, on_candidate: OnCandidate, make: MakeCandidate) -> None:
        self.folder: Path | None = None
        self.error: BaseException | None = None
        self._inner, self._on_candidate, self._make = inner, on_candidate, make
        self._live, self._clock, self._over = LiveView(), steady_clock(), False

    def on_open(self, folder: Path) -> None:
        """The run has its folder."""
        self.folder = folder
        self._inner.on_open(folder)

    def recall(self, facts: Iterable[Fact]) -> None:
        """Read what was there before, without a call."""
        known = [*facts]
        for fact in known:
            self._live.on_fact(fact, self._clock())
        self._inner.recall(known)

    def show(self, fact: Fact) -> None:
        """Show the fact, then call."""
        self._inner.show(fact)
        self._live.on_fact(fact, self._clock())
        if isinstance(fact, CandidateScored) and not self._over:
            self._call(fact)

    def _call(self, fact: CandidateScored) -> None:
        slot = self._live.view.slots.candidates.get(fact.candidate.id)
        if slot is None:
            return
        try:
            found = self._make(slot, fact.candidate.program.text or None, dict(fact.candidate.metrics))
            self._over = self._on_candidate(found) is True
        except BaseException as error:  # noqa: BLE001 - the call of the user's code raises it again at the end
            self.error, self._over = error, True
        if self._over and self.folder is not None:
            try:
                ask(self.folder, STOP)
            except MementoError as error:
                self.error = self.error or error

    def on_begin(self, order: str) -> None:
        """An agent started an order."""
        if isinstance(self._inner, Attentive):
            self._inner.on_begin(order)

    def on_retry(self, order: str, why: str) -> None:
        """The model call of an order is tried again."""
        if isinstance(self._inner, Attentive):
            self._inner.on_retry(order, why)

    def observe(self, activity: Activity) -> None:
        """A worker does something else."""
        if isinstance(self._inner, Attentive):
            self._inner.observe(activity)

    def tick(self) -> None:
        """Time passed."""
        self._inner.tick()

    def close(self) -> None:
        """The other display is closed by who opened it."""


@contextmanager
def calling(display: Display, on_candidate: OnCandidate | None, make: MakeCandidate) -> Iterator[Display]:
    """A display that also calls `on_candidate`; what that raised is raised at the end of the block."""
    if on_candidate is None:
        yield display
        return
    both = Calling(display, on_candidate, make)
    yield both
    if both.error is not None:
        raise both.error
