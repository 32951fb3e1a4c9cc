"""`memento audit` on a small task: the counts, the worst programs as files, and what is refused."""

import json
import shlex
from pathlib import Path

import pytest
from memento.cli import exit_code

pytestmark = pytest.mark.quick

LENIENT = '''"""Pays for a hand that is high, whatever becomes of the tower."""

import numpy as np


class Evaluator:
    """Pays for the hand's height."""

    def evaluate(self, trajectory):
        height = float(np.asarray(trajectory["eef_pos"])[:, 2].max())
        return min(1.0, max(0.0, height)), {"height": height}
'''
SMALL = ["--set", "hanoi-kinematic.horizon=40", "--episodes", "1"]


@pytest.mark.slow
def test_a_lenient_evaluator_is_found_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = tmp_path / "lenient.py"
    evaluator.write_text(LENIENT)
    audit = ["audit", "hanoi-kinematic", "--evaluator", str(evaluator), *SMALL, "--programs", "3", "--json"]
    assert exit_code([*audit, "--out", str(tmp_path / "worst")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["share"] > 0.5, "the hand starts high"
    assert found["total"]["hacks"] == sum(row["hacks"] for row in found["rows"])
    assert [row["programs"] for row in found["rows"] if row["kind"] == "bred"] == [3]
    worst = found["worst"][0]
    _, _, program, *flags = shlex.split(found["films"][0])
    assert Path(program).is_file()
    assert flags[flags.index("--seed") + 1] == "0"
    options = [flags[place + 1] for place, word in enumerate(flags) if word == "--set"]
    again = ["evaluate", program, "--domain", "hanoi-kinematic", *[w for o in options for w in ("--set", o)]]
    assert exit_code([*again, "--evaluator", str(evaluator), "--episodes", "1", "--salt", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fitness"] == worst["fitness"], "the film shows what was judged"


@pytest.mark.parametrize(("arguments", "words"), [
    (["hanoi-kinematic", "--programs", "-1"], "--programs must be from 0"),
    (["hanoi-kinematic", "--episodes", "0"], "--episodes must be from 1"),
    (["nowhere", "elsewhere"], "no run 'nowhere'"),
    (["a.json.xz", "--evaluator", "x.py"], "--evaluator, --out and --set have an effect with a DOMAIN only"),
    (["hanoi-kinematic", "--keep", "kept"], "--keep takes the exploits of runs: name runs instead of a domain"),
    (["a.json.xz", "--keep", "kept"], "an archive holds none: name the runs"),
    (["hanoi-kinematic", "--evaluator", "nowhere.py"], "there is no evaluator file nowhere.py"),
    (["hanoi-kinematic", "--evaluator", "nowhere", "--runs", "none"], "no run 'nowhere'"),
])
def test_bad_input_is_one_sentence(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert exit_code(["audit", *arguments]) == 2
    assert words in capsys.readouterr().err
