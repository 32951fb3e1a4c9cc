"""Bad input gets one clear sentence on stderr that names the problem and the fix, exit 2, no traceback."""

import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.events import RunStarted, VoteCast
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.settings import build_settings

from ..support.story import STORY

pytestmark = pytest.mark.quick

GOOD_POLICY = """
class Policy:
    def reset(self):
        pass
    def act(self, observation):
        return [0.0] * 7
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMENTO_GOLDEN", raising=False)
    (tmp_path / "broken.py").write_text("def (:")
    decorated = "class P:\n    @keep(f\"{'5\xa0mm'}\")\n    def reset(self): pass\n"
    (tmp_path / "unprintable.py").write_text(decorated, "utf-8")  # Python 3.12 prints it: there it lacks the class
    (tmp_path / "nested.py").write_text("x = " + "{0: " * 95 + "1" + "}" * 95)
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "not-a-run").mkdir()
    (tmp_path / "deep.toml").write_text("a = " + "[" * 3000 + "]" * 3000)
    (tmp_path / "long.toml").write_text("k_hc = " + "9" * 100_000)
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    (tmp_path / "endless.py").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.py")
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(50_000_000)


BAD = {
    "a command": (["rnu"], ["rnu", "run"]),
    "a flag": (["run", "hanoi", "--sed", "1"], ["--sed", "--seed"]),
    "a number": (["run", "hanoi", "--seed", "one"], ["--seed"]),
    "a domain": (["run", "hanoy"], ["hanoy", "hanoi"]),
    "no domain": (["run"], ["which domain", "hanoi"]),
    "a method": (["run", "hanoi", "--method", "momento"], ["momento", "memento"]),
    "a preset": (["run", "hanoi", "--preset", "quik"], ["quik", "quick"]),
    "a model": (["run", "hanoi", "--model", "ofline"], ["ofline", "offline"]),
    "a judge": (["run", "hanoi", "--judge", "opnai:x"], ["opnai", "openai"]),
    "a missing key": (["run", "hanoi", "--model", "openai:gpt-5.2"], ["OPENAI_API_KEY"]),
    "a judge's missing key": (["run", "hanoi", "--judge", "anthropic:claude"], ["ANTHROPIC_API_KEY"]),
    "a setting": (["run", "hanoi", "--set", "k_hcc=3"], ["k_hcc", "k_hc"]),
    "a domain's option": (["run", "hanoi", "--set", "hanoi.gaol_update=x"], ["gaol_update", "goal_update"]),
    "a count": (["run", "hanoi", "--set", "n_roll=0"], ["n_roll", "0"]),
    "workers": (["run", "hanoi", "--workers", "0"], ["workers", "0"]),
    "an absent settings file": (["run", "hanoi", "--config", "none.toml"], ["none.toml"]),
    "an absent policy": (["run", "hanoi", "--initial", "none.py"], ["none.py"]),
    "a policy that does not parse": (["run", "hanoi", "--initial", "broken.py"], ["broken.py"]),
    "a policy without the class": (["run", "hanoi", "--initial", "empty.py"], ["empty.py", "Policy"]),
    "a policy of bytes": (["run", "hanoi", "--initial", "bytes.py"], ["bytes.py", "UTF-8"]),
    "an absent evaluator": (["run", "hanoi", "--evaluator", "none.py"], ["none.py"]),
    "an evaluator without the class": (["run", "hanoi", "--evaluator", "empty.py"], ["empty.py", "Evaluator"]),
    "nearly an evaluator": (["run", "hanoi", "--evaluator", "refrence"], ["refrence", "reference"]),
    "evaluate: nearly an evaluator": (
        ["evaluate", "p.py", "--domain", "hanoi", "--evaluator", "referenc"], ["referenc", "reference"]
    ),
    "a name": (["run", "hanoi", "--name", "../x"], ["../x"]),
    "evaluate: a domain": (["evaluate", "p.py", "--domain", "hanoy"], ["hanoy", "hanoi"]),
    "evaluate: no domain": (["evaluate", "p.py"], ["--domain"]),
    "evaluate: an absent policy": (["evaluate", "none.py", "--domain", "hanoi"], ["none.py"]),
    "evaluate: does not parse": (["evaluate", "broken.py", "--domain", "hanoi"], ["broken.py"]),
    "evaluate: cannot be printed": (["evaluate", "unprintable.py", "--domain", "hanoi"], ["unprintable.py"]),
    "evaluate: nested deeply": (["evaluate", "nested.py", "--domain", "hanoi"], ["nested.py", "90 levels"]),
    "evaluate: a variant": (["evaluate", "p.py", "--domain", "hanoi", "--variant", "cubes"], ["cubes", "cube"]),
    "evaluate: randomisation": (
        ["evaluate", "p.py", "--domain", "hanoi", "--randomisation", "tabel"], ["tabel", "table"]
    ),
    "evaluate: episodes": (["evaluate", "p.py", "--domain", "hanoi", "--episodes", "0"], ["--episodes", "0"]),
    "evaluate: workers": (["evaluate", "p.py", "--domain", "hanoi", "--workers", "-1"], ["--workers", "-1"]),
    "evaluate: another table": (
        ["evaluate", "p.py", "--domain", "hanoi", "--set", "k_hc=1"], ["k_hc", "hanoi.NAME=VALUE"]
    ),
    "resume: no runs": (["resume", "x"], ["x", "runs"]),
    "resume: not a run": (["resume", "./not-a-run"], ["not-a-run"]),
    "show: no runs": (["show", "x"], ["x"]),
    "export: no runs": (["export", "x", "--out", "y.py"], ["x"]),
    "stop: no runs": (["stop", "x"], ["x"]),
    "pause: no runs": (["pause", "x"], ["x"]),
    "show: a part without a candidate": (["show", "x", "--code"], ["--code", "g1/macro/0"]),
    "a negative count": (["run", "hanoi", "--set", "k_macro=-1"], ["k_macro", "-1"]),
    "negative workers": (["run", "hanoi", "--workers", "-2"], ["workers", "-2"]),
    "no generations": (["run", "hanoi", "--set", "generations=0"], ["generations", "0"]),
    "nothing to propose": (
        ["run", "hanoi", "--set", "k_hc=0", "--set", "k_macro=0", "--set", "k_cross=0"], ["k_hc", "nothing"]
    ),
    "a negative seed": (["run", "hanoi", "--seed", "-1"], ["seed", "-1"]),
    "a budget of nothing": (["run", "hanoi", "--budget-calls", "0"], ["budget_calls", "0"]),
    "a negative budget": (["run", "hanoi", "--budget-usd", "-1"], ["budget_usd", "-1"]),
    "a display": (["run", "hanoi", "--display", "rihc"], ["--display", "rihc", "rich"]),
    "a variant": (["run", "hanoi", "--set", "hanoi.variant=cubes"], ["cubes", "cube"]),
    "a scene": (
        ["evaluate", "p.py", "--domain", "kitchen", "--scenes", "FloorPlan1x"], ["FloorPlan1x", "FloorPlan1"]
    ),
    "scenes where there are none": (["evaluate", "p.py", "--domain", "hanoi", "--scenes", "A"], ["scenes"]),
    "evaluate: without the class": (["evaluate", "empty.py", "--domain", "hanoi"], ["empty.py", "class"]),
    "evaluate: a folder": (["evaluate", "not-a-run", "--domain", "hanoi"], ["not-a-run"]),
    "evaluate: a negative seed": (["evaluate", "p.py", "--domain", "hanoi", "--seed", "-1"], ["--seed", "-1"]),
    "evaluate: a seed of more than 63 bits": (
        ["evaluate", "p.py", "--domain", "hanoi", "--seed", str(2**64)], ["--seed", "at most"]
    ),
    "evaluate: episodes without end": (
        ["evaluate", "p.py", "--domain", "hanoi", "--episodes", "1000000000"], ["--episodes", "100000"]
    ),
    "a number of 100,000 digits": (["run", "hanoi", "--set", "k_hc=" + "9" * 100_000], ["k_hc"]),
    "a setting that is nested deep": (["run", "hanoi", "--set", "k_hc=" + "[" * 3000], ["k_hc"]),
    "a settings file that is nested deep": (["run", "hanoi", "--config", "deep.toml"], ["deep.toml", "nested"]),
    "a settings file of too many digits": (["run", "hanoi", "--config", "long.toml"], ["long.toml", "digits"]),
    "a settings file without end": (["run", "hanoi", "--config", "endless.toml"], ["endless.toml", "regular file"]),
    "an experiment that is nested deep": (["compare", "deep.toml"], ["deep.toml", "not TOML"]),
    "show: a name of 5,000 letters": (["show", "x" * 5000], ["too long"]),
    "show: a path of long names": (["show", "a/" + "x" * 300], ["too long"]),
    "evaluate: a name of 5,000 letters": (["evaluate", "x" * 5000, "--domain", "hanoi"], ["too long"]),
    "evaluate: an endless device": (["evaluate", "endless.py", "--domain", "hanoi"], ["endless.py", "regular file"]),
    "evaluate: a pipe that nobody writes": (["evaluate", "pipe.py", "--domain", "hanoi"], ["pipe.py", "regular file"]),
    "evaluate: a large file": (["evaluate", "large.py", "--domain", "hanoi"], ["large.py", "larger than 1 MB"]),
    "domains: a domain": (["domains", "hanoy"], ["hanoy", "hanoi"]),
    "an absent domain of the user": (["run", "nowhere.at_all:DOMAIN"], ["nowhere"]),
    "a shell": (["completion", "bsh"], ["bsh", "bash"]),
    "an unreachable replay": (["run", "--replay", "x"], ["x"]),
}
OF_A_RUN = {
    "show: a candidate": (["show", "one", "g1/makro/0"], ["g1/makro/0", "g1/macro/0"]),
    "show: an evaluator": (["show", "one", "eval/g0/judge/9"], ["eval/g0/judge/9", "eval/g0/judge/0"]),
    "show: nearly a run": (["show", "onne"], ["onne", "one"]),
    "export: a candidate": (["export", "one", "g1/makro/0", "--out", "y.py"], ["g1/makro/0", "g1/macro/0"]),
    "export: a vote": (["export", "one", "eval/g0/judge/0", "--out", "y.py"], ["eval/g0/judge/0", "no program"]),
    "export: over a file": (["export", "one", "--out", "empty.py"], ["empty.py", "exists already"]),
    "export: into nowhere": (["export", "one", "--out", "a/b/c.py"], ["a/b/c.py"]),
    "stop: not live": (["stop", "one"], ["one", "not live"]),
    "resume: workers": (["resume", "one", "--workers", "0"], ["--workers", "0"]),
    "resume: a budget for what is done": (["resume", "one", "--budget-calls", "9"], ["one", "done"]),
    "a taken name": (["run", "hanoi-kinematic", "--preset", "smoke", "--name", "one"], ["one", "resume one"]),
    "resume: a newer store": (["resume", "newer"], ["newer", "newer version", "update"]),
    "show: a newer store": (["show", "newer"], ["newer", "newer version", "update"]),
}


def assert_one_sentence(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("memento: ")
    assert printed.err.count("\n") == 1
    assert "Traceback" not in printed.err
    assert all(word in printed.err for word in words), printed.err


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_and_exit_2(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, words = BAD[name]
    (tmp_path / "p.py").write_text(GOOD_POLICY)
    assert exit_code(arguments) == 2
    assert_one_sentence(capsys, words)
    assert not (tmp_path / "runs").exists(), "nothing starts before the input is checked"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A finished run "one", and a run "newer" by a future version."""
    folder = tmp_path / "runs"
    for name in ("one", "newer"):
        facts = [
            replace(fact, order="eval/g0/judge/0") if isinstance(fact, VoteCast)
            else replace(fact, settings=build_settings({"domain": "hanoi"}, environment={}).as_json())
            if isinstance(fact, RunStarted) else fact for fact in STORY
        ]
        with RunStore.create(folder / name, clock=SystemClock()) as store:
            store.append(facts)
    with sqlite3.connect(folder / "newer" / "run.sqlite") as database:
        database.execute("UPDATE _sqlite_migrations SET name = '9999 of tomorrow'")
    database.close()
    return folder


@pytest.mark.parametrize("name", OF_A_RUN)
@pytest.mark.usefixtures("runs")
def test_of_a_run_one_sentence_and_exit_2(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, words = OF_A_RUN[name]
    assert exit_code(arguments) == 2
    assert_one_sentence(capsys, words)


@pytest.mark.parametrize("arguments", [["resume", "one"], ["resume", "one", "--budget-calls", "5"]])
def test_a_run_that_another_process_writes(
    arguments: list[str], runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    holds = "\n".join([
        "import sys", "from pathlib import Path", "from memento.memory.lock import WriterLock",
        f"lock = WriterLock.acquire(Path({str(runs / 'one')!r}), now=0.0)", "print('held', flush=True)",
        "sys.stdin.read()",
    ])
    with subprocess.Popen(
        [sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        code = exit_code(arguments)
        other.communicate("", timeout=20)
    assert code == 2
    assert_one_sentence(capsys, ["live", "stop"])
