"""`memento compare` as a user runs it: real processes, interrupted and continued."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from memento.core.events import EliteChanged, EpisodeEnded, EvaluatorChosen, InitialChosen, RunStarted
from memento.evidence.folder import ComparisonFolder
from memento.evidence.plan import list_jobs
from memento.memory.lock import is_locked
from memento.memory.runs import is_run
from memento.memory.store import RunStore

from ..support.processes import members_of, start_process, wait_until_gone
from ..support.program import PROGRAM

SMALL = ("--domain", "hanoi-kinematic", "--preset", "smoke", "--episodes", "2", "--jobs", "2", "--display", "plain")


def memento(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*PROGRAM, *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=280)


def facts(folder: ComparisonFolder, name: str, *kinds: type) -> list:
    with RunStore.read(folder.runs / name) as store:
        return list(store.facts(only=kinds))


@pytest.mark.slow
def test_methods_share_p_0_evaluator_and_seeds_and_are_measured_on_others(tmp_path):
    done = memento(tmp_path, "compare", *SMALL, "--method", "memento", "--method", "random", "--seeds", "5", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["status"], result["runs"], result["done"], result["measured"]) == ("done", 2, 2, 2)
    assert [row["arm"] for row in result["table"]] == ["memento", "random"]
    folder = ComparisonFolder(tmp_path / "runs" / "comparison")
    names = [job.name for job in list_jobs(folder.plan())]
    initial = {facts(folder, name, InitialChosen)[0].program for name in names}
    evaluators = {fact.chosen.program for name in names for fact in facts(folder, name, EvaluatorChosen) if fact.final}
    assert len(initial) == len(evaluators) == 1
    begins = [facts(folder, name, EliteChanged)[0] for name in names]
    assert begins[0].fitness == begins[1].fitness, "p_0 has the same fitness in both"
    searched = [{f.episode.seed for f in facts(folder, name, EpisodeEnded) if not f.order.startswith("final/")}
                for name in names]
    assert searched[0] == searched[1]
    measured = list(folder.measures().values())
    held_out = [{episode["seed"] for episode in found.episodes} for found in measured]
    assert held_out[0] == held_out[1] and not held_out[0] & searched[0] and len(held_out[0]) == 2

    stamps = {name: (folder.runs / name / "run.sqlite").stat().st_mtime_ns for name in names}
    again = memento(tmp_path, "compare", "comparison", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["table"] == result["table"]
    assert stamps == {name: (folder.runs / name / "run.sqlite").stat().st_mtime_ns for name in names}

    (folder.path / "measures.jsonl").unlink()
    report = memento(tmp_path, "report", "comparison", "--out", "c.html", "--csv", "rows")
    assert report.returncode == 0, report.stderr
    assert (tmp_path / "c.html").stat().st_size > 10_000
    assert {path.stem for path in (tmp_path / "rows").glob("*.csv")} >= {"runs", "curves", "tests"}


@pytest.mark.slow
def test_it_goes_on_past_a_failed_run_and_says_so_in_the_end(tmp_path):
    """One arm's evaluator is not valid: its run fails, the others do not wait for it."""
    (tmp_path / "wrong.py").write_text(
        "class Evaluator:\n    def evaluate(self, trajectory):\n        return float('nan'), {}\n"
    )
    (tmp_path / "mine.toml").write_text(
        'domains = ["hanoi-kinematic"]\nseeds = "1"\npreset = "smoke"\nevaluator = "reference"\n'
        '[[arms]]\nname = "wrong"\nmethod = "random"\nevaluator = "wrong.py"\n[[arms]]\nmethod = "random"\n'
        '[[measures]]\nname = "m"\nepisodes = 1\n'
    )
    done = memento(tmp_path, "compare", "mine.toml", "--jobs", "2", "--json", "--display", "plain")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["status"], result["done"], result["measured"]) == ("incomplete", 1, 1)
    name = "hanoi-kinematic--wrong--s1"
    assert "not valid" in result["not_done"][name]
    assert set(result["not_done"]) == {name, f"{name}.m"}


@pytest.mark.slow
def test_an_interrupted_comparison_leaves_nothing_behind_and_is_gone_on_with(tmp_path):
    words = ["compare", *SMALL, "--method", "memento", "--method", "random", "--seeds", "1-2", "--set", "k_hc=30",
             "--name", "c"]
    process = start_process([*PROGRAM, *words], cwd=tmp_path, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True)
    folder = ComparisonFolder(tmp_path / "runs" / "c")
    deadline_s = time.monotonic() + 60
    first = "hanoi-kinematic--memento--s1"
    while not (is_run(folder.runs / first) and facts(folder, first, RunStarted)):
        assert time.monotonic() < deadline_s and process.poll() is None
        time.sleep(0.1)
    time.sleep(1.0)
    children = members_of(process.pid)
    assert children
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "continue with: memento compare" in errors
    wait_until_gone(children)
    before = {name.name for name in folder.runs.iterdir()}
    assert before
    done = memento(tmp_path, "compare", "c", "--json", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 4
    assert before <= {name.name for name in folder.runs.iterdir()}
    interrupted = facts(folder, first, RunStarted)
    assert len(interrupted) == 1, "it was continued, not restarted"


@pytest.mark.slow
def test_a_run_that_cannot_be_read_fails_by_itself(tmp_path):
    """As if a process was killed at the moment it made its database, or a disk lost something."""
    words = ("compare", *SMALL, "--method", "random", "--method", "eureka", "--seeds", "1", "--name", "c",
             "--evaluator", "reference", "--no-measure", "--json")
    assert memento(tmp_path, *words).returncode == 0
    folder = ComparisonFolder(tmp_path / "runs" / "c")
    broken = folder.runs / "hanoi-kinematic--eureka--s1" / "run.sqlite"
    for path in broken.parent.glob("run.sqlite*"):
        path.unlink()
    broken.write_bytes(b"")
    done = memento(tmp_path, *words)
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert (result["done"], list(result["not_done"])) == (1, [broken.parent.name])
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_after_a_kill_the_runs_that_go_on_by_themselves_are_waited_for(tmp_path):
    words = ["compare", *SMALL, "--method", "random", "--method", "eureka", "--seeds", "1", "--name", "c",
             "--evaluator", "reference", "--no-measure", "--set", "k=20"]
    process = start_process([*PROGRAM, *words], cwd=tmp_path, stderr=subprocess.DEVNULL)
    folder = ComparisonFolder(tmp_path / "runs" / "c")
    begun = folder.runs / "hanoi-kinematic--random--s1"
    deadline_s = time.monotonic() + 60
    while not is_locked(begun) or not is_run(begun):
        assert time.monotonic() < deadline_s and process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    process.kill()
    process.wait()
    done = memento(tmp_path, "compare", "c", "--json", "--no-measure")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 2
    assert len(facts(folder, begun.name, RunStarted)) == 1


@pytest.mark.slow
def test_a_run_out_of_budget_goes_on_with_a_larger_one(tmp_path):
    words = ("compare", *SMALL, "--method", "random", "--seeds", "1", "--name", "c", "--evaluator", "reference",
             "--json")
    spent = memento(tmp_path, *words, "--set", "budget_calls=2")
    assert spent.returncode == 3, spent.stderr
    result = json.loads(spent.stdout)
    assert result["not_done"]["hanoi-kinematic--random--s1"] == "out of budget"
    again = memento(tmp_path, *words, "--set", "budget_calls=2")
    assert again.returncode == 3 and "budget" in again.stderr
    done = memento(tmp_path, *words, "--set", "budget_calls=100")
    assert done.returncode == 0, done.stderr
