"""Bad input gets one clear sentence on stderr that names the thing and the mend, exit 2, no traceback."""

from pathlib import Path

import pytest
from memento.cli import exit_code

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
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "broken.py").write_text("def (:")
    (tmp_path / "empty.py").write_text("x = 1\n")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "not-a-run").mkdir()


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
}


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_and_exit_2(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, words = BAD[name]
    (tmp_path / "p.py").write_text(GOOD_POLICY)
    assert exit_code(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("memento: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert all(word in told.err for word in words), told.err
    assert not (tmp_path / "runs").exists(), "nothing is begun before the input is known to be good"
