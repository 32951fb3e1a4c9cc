"""`memento cell`: a check that finds what is wrong, and trials of a policy."""

import json
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.extensions.cell.cell_file import SHIPPED
from PIL import Image

pytestmark = pytest.mark.quick

INTO_THE_TABLE = """
class FrankaPolicy:
    def reset(self):
        self.steps = 0
    def compute_action(self, obs):
        self.steps += 1
        return [1.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0]
"""


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    """The shipped twin, with few frames for its containers."""
    text = (SHIPPED / "twin.toml").read_text("utf-8")
    path = tmp_path / "lab.toml"
    path.write_text(text + "[grounding]\ncontainer_frames = 2\n", "utf-8")
    return path


@pytest.mark.slow
def test_a_good_cell_is_found_good(cell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["cell", "check", "--cell", str(cell), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["ok"] and [finding["what"] for finding in result["findings"]] == [
        "camera", "segments", "table", "containers", "cube small", "cube medium", "cube large", "cube xlarge", "reach",
        "limits",
    ]


@pytest.mark.slow
def test_a_stopped_trial_is_reported_with_the_reason(
    cell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text(INTO_THE_TABLE, "utf-8")
    asked = ["cell", "run", str(policy), "--cell", str(cell), "--trials", "1", "--workers", "1", "--json"]
    assert exit_code(asked) == 0
    [trial] = (result := json.loads(capsys.readouterr().out))["trials"]
    assert (trial["success"], trial["ended_by"], trial["stopped"]) == (False, "stopped", "box")
    assert "border" in trial["because"] and trial["fault"] is None and result["success_rate"] == 0.0
    assert trial["metrics"]["grasps"] == 0 and trial["metrics"]["tower_seen_on_c"] is False


@pytest.mark.slow
def test_a_wrong_target_of_a_phase_ends_the_trial_with_a_sentence(
    cell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text(INTO_THE_TABLE.replace("[1.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0]", "[1, 0.0, 0.0, 0.7, 0.0, 1, 0]"))
    asked = ["cell", "run", str(policy), "--cell", str(cell), "--trials", "1", "--workers", "1", "--json", "--mode"]
    assert exit_code([*asked, "phase"]) == 2
    assert "cell.mode cannot be 'phase'; it must be one of increments, phases" in capsys.readouterr().err
    assert exit_code([*asked, "phases"]) == 0
    [trial] = json.loads(capsys.readouterr().out)["trials"]
    assert (trial["ended_by"], trial["stopped"], trial["fault"]) == ("stopped", "target", None)
    assert trial["because"].startswith("the target of pick_hover, 0.000, 0.000, 0.700, is not between")


@pytest.mark.slow
def test_the_first_trial_is_a_film(cell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, film = tmp_path / "policy.py", tmp_path / "film.gif"
    policy.write_text(INTO_THE_TABLE, "utf-8")
    asked = ["cell", "run", str(policy), "--cell", str(cell), "--trials", "1", "--workers", "1", "--film"]
    assert exit_code([*asked, str(tmp_path / "film.avi")]) == 2
    assert "--film" in capsys.readouterr().err
    assert exit_code([*asked, str(film)]) == 0
    with Image.open(film) as opened:
        assert opened.n_frames > 5 and opened.width == 800


@pytest.mark.parametrize("asked", [["check"], ["run", "policy.py"]])
def test_a_missing_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: list[str]) -> None:
    assert exit_code(["cell", *asked, "--cell", str(tmp_path / "none.toml")]) == 2
    assert "none.toml cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "why"), [
    ((), "which model?"),
    (("--calibrate", "search", "--model", "offline"), "--model has no effect"),
    (("--calibrate", "search"), "there is nothing to calibrate"),
])
def test_a_calibration_that_cannot_begin_is_refused(
    cell: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], why: str
) -> None:
    policy = tmp_path / "policy.py"
    policy.write_text(INTO_THE_TABLE, "utf-8")
    asked = ["cell", "calibrate", str(policy), "--cell", str(cell), "--runs", str(tmp_path / "runs"), *more]
    assert exit_code(asked) == 2
    assert why in capsys.readouterr().err and not (tmp_path / "runs").exists()


def test_a_calibration_is_for_domains_with_a_robot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["run", "hanoi-kinematic", "--method", "calibrate", "--evaluator", "reference", "--runs", str(tmp_path)]
    assert exit_code(asked) == 2
    assert "has no robot to calibrate for" in capsys.readouterr().err
