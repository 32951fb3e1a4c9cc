"""MEMENTO from Python: the examples of its guide, where an event loop runs and where none does."""

import asyncio
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import memento
import pytest
from memento.app.api import displays
from memento.memory.runs import is_run
from memento.memory.store import RunStore

from ...support.processes import start_process

pytestmark = pytest.mark.quick

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "python-api.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
IDLE = "class FrankaPolicy:\n    def reset(self): ...\n    def compute_action(self, obs): return [0.0] * 7\n"


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that the examples of the guide leave behind. They run like a notebook's cells, in an event loop."""
    folder = tmp_path_factory.mktemp("notebook")
    found: dict[str, Any] = {"folder": folder}

    async def cells() -> None:
        for number, example in enumerate(EXAMPLES):
            exec(compile(example, f"python-api.md, example {number + 1}", "exec"), found)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asyncio.run(cells())
    return found


@pytest.mark.slow
def test_the_examples_leave_a_finished_run(names: dict[str, Any]) -> None:
    run = memento.load("from", runs=names["folder"] / "runs")
    assert (run.name, run.state, run.result.status) == ("from-python", "done", "done")
    assert run.settings["seed"] == 3
    candidates = run.candidates()
    assert run.result.candidates == len(candidates) - 1
    assert run.candidate("p_0") == candidates[0]
    assert candidates[0].elite_of[0] == 0
    assert candidates[0].metrics
    elite = run.elite
    assert elite is not None
    assert elite == run.candidate(elite.id)
    assert elite.fitness == run.result.fitness == max(each.fitness or 0.0 for each in candidates)
    assert "FrankaPolicy" in (elite.program or "")
    rows = run.rows()
    assert [row["id"] for row in rows] == [each.id for each in candidates]
    assert not {"program", "metrics"} & rows[0].keys()
    assert [entry.seq for entry in run.facts()] == list(range(1, len(list(run.facts())) + 1))
    assert elite.id in (names["folder"] / names["page"]).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_examples_evaluate_a_candidate_and_a_text(names: dict[str, Any]) -> None:
    assert (names["found"].policy, names["found"].per_episode[0].ended_by) == ("a program text", "horizon")


@pytest.mark.slow
def test_a_frame_needs_pandas(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(memento.UsageError, match="needs pandas, which is not installed"):
        names["run"].frame()


@pytest.mark.slow
def test_a_frame_has_a_row_for_each_candidate(names: dict[str, Any]) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed; it is the user's own")
    frame = names["run"].frame()
    assert list(frame["id"]) == [each.id for each in names["run"].candidates()]


def test_a_wrong_argument_is_one_sentence(tmp_path: Path) -> None:
    wrong: list[tuple[Any, str]] = [
        (lambda: memento.run("hanoi-kinematic", k_hcc=3, runs=tmp_path), r"k_hc\b.*the argument k_hcc="),
        (lambda: memento.run("hanoi-kinematic", display="loud", runs=tmp_path), "display"),
        (lambda: memento.run("hanoi-kinematic", options={"horizn": 3}, runs=tmp_path), "horizon"),
        (lambda: memento.evaluate("no.py", domain="hanoi-kinematic"), "there is no policy file no.py"),
        (lambda: memento.evaluate("x =\n1", domain="hanoi-kinematic"), "not a valid policy"),
        (lambda: memento.load("secnd", runs=tmp_path), "no run"),
    ]
    for call, says in wrong:
        with pytest.raises(memento.UsageError, match=says):
            call()
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_a_wrong_argument_to_a_run_is_one_sentence(names: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(memento.UsageError, match="candidate"):
        names["run"].candidate("g9/hill/1")
    with pytest.raises(memento.UsageError, match=r"name it \*.html"):
        names["run"].report(tmp_path / "page.pdf")


def test_evaluate_works_without_an_event_loop_and_repeats_itself(tmp_path: Path) -> None:
    policy = tmp_path / "idle.py"
    policy.write_text(IDLE)
    given: dict[str, Any] = {"domain": "hanoi-kinematic", "episodes": 1, "seed": 7, "options": {"horizon": 15}}
    first = memento.evaluate(policy, **given)
    again = memento.evaluate(IDLE, salt=first.salt, **given)
    assert first.policy == str(policy)
    assert first.per_episode == again.per_episode


NOTEBOOK = """
import asyncio, sys, memento

async def cell():
    memento.run("hanoi-kinematic", preset="smoke", name="long", display="plain", generations=500)

try:
    asyncio.run(cell())
except KeyboardInterrupt:
    print("interrupted", memento.load("long").state)
"""


@pytest.mark.slow
def test_an_interrupt_in_a_notebook_ends_the_run_cleanly(tmp_path: Path) -> None:
    process = start_process(
        [sys.executable, "-c", NOTEBOOK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
        start_new_session=True,
    )
    folder, deadline_s = tmp_path / "runs" / "long", time.monotonic() + 40
    while not (is_run(folder) and facts_in(folder) > 1):
        assert time.monotonic() < deadline_s, process.communicate(timeout=5)
        assert process.poll() is None, process.communicate(timeout=5)
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=150)
    assert out.strip() == "interrupted stopped", err
    assert "run runs/long" in err


def facts_in(folder: Path) -> int:
    with RunStore.read(folder) as store:
        return store.last_seq


def test_a_notebook_shows_lines_on_stdout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module, place in ((sys, "out"), (None, "err")):
        monkeypatch.setitem(sys.modules, "ipykernel", module)
        with displays.display_of("plain") as screen:
            screen.on_open(Path("runs/a"))
        assert getattr(capsys.readouterr(), place) == "run runs/a\n"


def test_public_names_are_listed_and_documented() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    for name in memento.__all__:
        assert getattr(memento, name).__doc__, name
        assert name in guide or name == "EpisodeResult" or name.startswith("__"), name
    assert {*memento.__all__} <= {*dir(memento)}
    with pytest.raises(AttributeError, match="no attribute 'rum'"):
        memento.rum  # noqa: B018 - the access is what is tested


@pytest.mark.slow
def test_a_policy_that_is_too_slow_fails_its_episodes() -> None:
    slow = "class FrankaPolicy:\n    def reset(self):\n        pass\n\n    def compute_action(self, obs):\n" \
           "        sum(range(200_000))\n        return [0.0] * 7\n"
    options = {"horizon": 20}
    given: dict[str, Any] = {"domain": "hanoi-kinematic", "episodes": 1, "workers": 1, "options": options}
    assert memento.evaluate(slow, **given).per_episode[0].error is None
    (episode,) = memento.evaluate(slow, step_limit_ms=0.05, **given).per_episode
    assert episode.error is not None and episode.error.startswith("too-slow: ")
    assert (episode.fitness, episode.success) == (0.0, False)
