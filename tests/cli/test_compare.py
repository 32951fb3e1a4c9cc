"""`memento compare`: the plan from an experiment, from flags, and from an existing comparison."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.cli.comparison_plan import Changes, plan
from memento.core.errors import UsageError

pytestmark = pytest.mark.quick

NOTHING = Changes(
    domains=(), methods=(), models=(), seeds=None, preset=None, evaluator=None, initial=None, episodes=None,
    settings={},
)
FLAGS = replace(NOTHING, domains=("hanoi-kinematic",), methods=("memento", "random"), preset="smoke", seeds="1-2")
REFUSED = {
    "compare": "nothing to compare: name an experiment",
    "compare mian": "unknown experiment 'mian': did you mean 'main'?",
    "compare gym:Hopper-v5": "'gym:Hopper-v5' is a task, not an experiment: memento compare --domain gym:Hopper-v5",
    "compare --domain hanoi": "names no method",
    "compare main --seeds x": "seeds cannot be 'x'",
    "compare main --jobs 0": "--jobs must be at least 1, not 0",
    "compare main --workers 0": "--workers must be at least 1, not 0",
    "compare main --model openai:gpt-5.2": "OPENAI_API_KEY",
    "compare robosuite --seeds 1": "the offline model has no shelf for robosuite:Restack, robosuite:NutAssemblySquare,"
    " robosuite:Wipe, robosuite:TwoArmLift, robosuite:TwoArmHandover: choose a model with --model, or compare the"
    " others alone: --domain robosuite:Lift --domain robosuite:Stack",
    "compare ladder --domain nuts": "the offline model has no shelf for robosuite:NutAssembly: choose a model",
    "run robosuite:Wipe --estimate": "the offline model has no shelf for robosuite:Wipe: choose a model with --model",
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


def test_an_estimate_of_a_comparison_is_that_of_its_runs_and_needs_no_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["compare", "--domain", "hanoi-kinematic", "--method", "memento", "--method", "random", "--preset", "smoke",
             "--seeds", "1-3", "--model", "anthropic:claude-sonnet-5", "--runs", str(tmp_path), "--estimate"]
    assert exit_code([*asked, "--json"]) == 0
    parts = {part["arm"]: part for part in json.loads(capsys.readouterr().out)["parts"]}
    assert [(name, part["runs"]) for name, part in parts.items()] == [
        ("hanoi-kinematic, memento", 3), ("hanoi-kinematic, random", 3),
    ]
    assert parts["hanoi-kinematic, memento"]["total"]["calls"] > parts["hanoi-kinematic, random"]["total"]["calls"]
    assert exit_code(asked) == 0
    text = capsys.readouterr().out
    low = sum(3 * part["total"]["calls"][0] for part in parts.values())
    [total] = [line for line in text.splitlines() if line.strip().startswith("total")]
    assert total.split()[1] == "6" and total.split()[2].startswith(f"{low:,}")
    assert "6 runs to do; nothing was spent" in text and "final measures ask no model" in text
    assert list(tmp_path.iterdir()) == []
