"""What a notebook shows, and calls while a run goes on; on a recorded run, without starting one."""

import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import memento
import pytest
from memento.app.api.notebook import PLOTS, Calling, calling, html_table
from memento.app.api.record import candidate_of
from memento.app.results import EpisodeResult, EvaluateResult
from memento.core.events import CandidateScored
from memento.memory.store import RunStore
from memento.tui.display import ProgressBar, Silence

from ...tui.watch.recording import SetClock, begin, recorded


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> memento.Run:
    folder = tmp_path_factory.mktemp("n") / "runs" / "first"
    begin(folder, recorded(), SetClock()).close()
    return memento.load(folder)


def test_reprs_are_one_short_line(run: memento.Run, tmp_path: Path) -> None:
    elite = run.elite
    assert elite is not None
    assert repr(run) == f"<Run first: done, hanoi-kinematic, elite {elite.id}, F {elite.fitness:.3f}>"
    assert repr(elite).startswith(f"<Candidate {elite.id}: ")
    for each in (run, elite, run.result):
        assert "\n" not in repr(each) and len(repr(each)) < 250
    RunStore.create(tmp_path / "empty", clock=SetClock()).close()
    assert "killed before its first fact" in repr(memento.Run(tmp_path / "empty")), "a repr never raises"


def test_html_shows_state_elite_and_curve_and_escapes_what_models_wrote(run: memento.Run) -> None:
    page, elite = run._repr_html_(), run.elite
    assert elite is not None
    assert elite.id in page and "data:image/svg+xml;base64," in page and "Episodes" in page
    assert "class FrankaPolicy" in elite._repr_html_() and "<details>" in elite._repr_html_()
    assert "<script>" not in html_table("<script>", [("<script>", "<script>")])


def test_an_evaluation_shows_its_interval() -> None:
    found = EvaluateResult(
        policy="<p>.py", domain="d", variant=None, randomisation=None, episodes=4, seed=0, success_rate=0.5,
        fitness=None, return_mean=None, success_interval=(0.15, 0.85), steps_per_s=1.0, wall_s=1.0, salt="none",
        sandbox=(),
    )
    assert repr(found) == (
        "<EvaluateResult: policy <p>.py, domain d, success 50 % [15, 85] %, episodes 4, faults 0>"
    )
    assert "&lt;p&gt;.py" in found._repr_html_()
    assert EpisodeResult.__doc__


def test_all_runs_of_a_folder_are_listed(run: memento.Run, tmp_path: Path) -> None:
    assert [each.name for each in memento.runs(run.folder.parent)] == ["first"]
    assert memento.runs(tmp_path / "none") == []


@pytest.mark.slow
@pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra plots is not installed")
def test_a_run_is_plotted(run: memento.Run) -> None:
    figure = run.plot()
    assert [axes.get_title() for axes in figure.axes] == ["fitness", "descent of the elite", "episodes by purpose"]
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(run.plot("lineage").axes) == 1


def test_another_plot_is_refused(run: memento.Run) -> None:
    with pytest.raises(memento.UsageError, match="fitness"):
        run.plot("fitnes")
    assert PLOTS == ("fitness", "lineage", "episodes")


# ------------------------------------------------------------------------------- while a run goes on


def shown_all(on_candidate: Callable[[Any], object], folder: Path) -> Calling:
    """All facts of the recorded run, shown to a display that calls."""
    display = Calling(Silence(), on_candidate, candidate_of)
    display.on_open(folder)
    for _, fact in recorded():
        display.show(fact)
    return display


def test_each_scored_candidate_is_handed_over_once(run: memento.Run) -> None:
    seen: list[Any] = []
    assert shown_all(seen.append, run.folder).error is None
    assert [each.id for each in seen] == [
        fact.candidate.id for _, fact in recorded() if isinstance(fact, CandidateScored)
    ]
    last = seen[-1]
    assert (last.fitness, last.program) == (run.candidate(last.id).fitness, run.candidate(last.id).program)


def test_a_run_is_asked_to_stop_after_true_or_an_error(tmp_path: Path) -> None:
    with begin(tmp_path / "live", recorded()[:5], SetClock()) as store:
        calls: list[Any] = []

        def once(candidate: Any) -> bool:
            calls.append(candidate)
            return True

        shown_all(once, store.folder)
        assert len(calls) == 1, "no call after the stop"
        assert [request.kind for request in store.take_requests()] == ["stop-after-candidate"]
        failed = shown_all(lambda candidate: 1 / 0, store.folder)
        assert isinstance(failed.error, ZeroDivisionError)
        assert [request.kind for request in store.take_requests()] == ["stop-after-candidate"]


def test_what_the_call_raised_is_raised_at_the_end() -> None:
    with pytest.raises(ZeroDivisionError), calling(Silence(), lambda candidate: 1 / 0, candidate_of) as display:
        for _, fact in recorded():
            display.show(fact)
    with calling(silence := Silence(), None, candidate_of) as display:
        assert display is silence


def test_the_bar_is_one_line_that_ends_full(run: memento.Run) -> None:
    stream = io.StringIO()
    bar = ProgressBar(stream, clock=lambda: 0.0)
    for _, fact in recorded():
        bar.show(fact)
    bar.close()
    lines = stream.getvalue().split("\r")
    assert stream.getvalue().count("\n") == 1 and stream.getvalue().endswith("\n")
    assert "·" in lines[1] and "·" not in lines[-1]
    assert f"F {run.result.fitness:.3f}" in lines[-1]
    broken = ProgressBar(io.StringIO(), clock=lambda: 0.0)
    broken._stream.close()
    broken.show(recorded()[0][1])
