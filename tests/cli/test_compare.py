"""`memento compare`: the plan from an experiment, from flags, and from an existing comparison."""

from dataclasses import replace
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.cli.comparison import Changes, plan
from memento.core.errors import UsageError

NOTHING = Changes(
    domains=(), methods=(), models=(), seeds=None, preset=None, evaluator=None, initial=None, episodes=None,
    settings={},
)
FLAGS = replace(NOTHING, domains=("hanoi-kinematic",), methods=("memento", "random"), preset="smoke", seeds="1-2")
REFUSED = {
    "compare": "nothing to compare: name an experiment",
    "compare mian": "unknown experiment 'mian': did you mean 'main'?",
    "compare --domain hanoi": "names no method",
    "compare main --seeds x": "seeds cannot be 'x'",
    "compare main --jobs 0": "--jobs must be at least 1, not 0",
    "compare main --workers 0": "--workers must be at least 1, not 0",
    "compare main --model openai:gpt-5.2": "OPENAI_API_KEY",
}


def test_flags_alone_make_an_experiment(tmp_path: Path) -> None:
    planned = plan(None, FLAGS, runs_dir=tmp_path, name="mine")
    assert planned.folder.path == tmp_path / "mine"
    assert [arm.name for arm in planned.experiment.arms] == ["memento", "random"]
    assert len(planned.settings) == 4
    assert not planned.folder.path.exists(), "nothing is written before the comparison runs"


def test_flags_change_an_experiment(tmp_path: Path) -> None:
    planned = plan("main", replace(FLAGS, methods=()), runs_dir=tmp_path, name=None)
    assert planned.experiment.seeds == (1, 2)
    assert [task.domain for task in planned.experiment.tasks] == ["hanoi-kinematic"]
    assert planned.experiment.preset == "smoke"


def test_a_comparison_grows_and_keeps_its_name(tmp_path: Path) -> None:
    first = plan(None, FLAGS, runs_dir=tmp_path, name="mine")
    first.folder.write_plan(first.experiment)
    assert plan("mine", NOTHING, runs_dir=tmp_path, name=None).experiment == first.folder.plan()
    grown = plan("mine", replace(NOTHING, seeds="1-3"), runs_dir=tmp_path, name=None)
    assert grown.experiment.seeds == (1, 2, 3)
    with pytest.raises(UsageError, match="--name has no effect"):
        plan("mine", NOTHING, runs_dir=tmp_path, name="other")


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("")
    with pytest.raises(UsageError, match=r"mine exists and is not a comparison: choose another --name"):
        plan(None, FLAGS, runs_dir=tmp_path, name="mine")


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_one_sentence(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert exit_code(line.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert REFUSED[line] in printed.err
    assert not (tmp_path / "runs").exists()
