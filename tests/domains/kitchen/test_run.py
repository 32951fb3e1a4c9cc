"""Runs in chosen scenes: the search uses only these, the final evaluation uses held-out kitchens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.errors import UsageError
from memento.core.events import EpisodeEnded
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen.unity.build import PLATFORMS, client_commit
from memento.memory.store import RunStore

from ...reference_policies import policy_file
from .kitchens import RECORDINGS, needs_recordings

pytestmark = pytest.mark.quick

POLICY = policy_file("kitchen")


def memento(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memento", *arguments], cwd=cwd, capture_output=True, text=True, timeout=150,
        env={**os.environ, "HOME": str(cwd)},
    )


@pytest.mark.slow
def test_a_search_in_one_scene_is_measured_in_others(tmp_path: Path) -> None:
    done = memento(
        "run", "kitchen", "--preset", "smoke", "--scenes", "Kitchen2", "--set", "kitchen.final_scenes=Kitchen5",
        "--set", "kitchen.horizon=5", "--name", "one", "--workers", "1", "--display", "none", cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    with RunStore.read(tmp_path / "runs" / "one") as store:
        ended = [fact for fact in store.facts() if isinstance(fact, EpisodeEnded)]
    final = [fact.episode.scene for fact in ended if fact.order.startswith("final/")]
    search = [fact.episode.scene for fact in ended if not fact.order.startswith("final/")]
    assert {*search} == {"Kitchen2"} and {*final} == {"Kitchen5"} and len(final) == 2


def test_the_final_scenes_are_held_out_by_default() -> None:
    options = DOMAIN.options({}, preset="quick")
    assert options["scenes"] == ["Kitchen1", "Kitchen2", "Kitchen3"]
    assert DOMAIN.final_options(options, seed=None)["scenes"] == [f"Kitchen{number}" for number in range(4, 30)]
    options = DOMAIN.options({"scenes": ["Kitchen4-28"]}, preset="quick")
    assert DOMAIN.final_options(options, seed=None)["scenes"] == ["Kitchen29"], "scenes of the search are not held out"
    options = DOMAIN.options({"scenes": ["held-out"]}, preset="quick")
    assert DOMAIN.final_options(options, seed=None)["scenes"] == options["scenes"], "there are no others"
    options.pop("final_scenes")
    assert DOMAIN.final_options(options, seed=None)["scenes"] == options["scenes"], "options of an older run"
    with pytest.raises(UsageError, match="final_scenes cannot contain"):
        DOMAIN.options({"final_scenes": ["FloorPlan1"]}, preset="quick")


@needs_recordings
def test_held_out_kitchens_that_were_not_recorded_are_not_used(tmp_path: Path) -> None:
    for part in ("start_states", "recorded"):
        (tmp_path / part).mkdir()
        for number in (1, 2, 3, 9):
            (tmp_path / part / f"FloorPlan{number}.json").symlink_to(RECORDINGS / part / f"FloorPlan{number}.json")
    given = {"backend": "recorded", "recordings": str(tmp_path)}
    assert DOMAIN.options(given, preset="quick")["final_scenes"] == ["FloorPlan9"]
    (tmp_path / "recorded" / "FloorPlan9.json").unlink()
    assert DOMAIN.options(given, preset="quick")["final_scenes"] == ["FloorPlan1", "FloorPlan2", "FloorPlan3"]


@pytest.mark.slow
def test_an_evaluation_reports_each_scene(tmp_path: Path) -> None:
    done = memento(
        "evaluate", str(POLICY), "--domain", "kitchen", "--scenes", "Kitchen1,Kitchen2", "--episodes", "4",
        "--workers", "1", cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines() if line.startswith("  Kitchen")] == [
        [scene, "success", "2", "of", "2,", "fitness", "0.980"] for scene in ("Kitchen1", "Kitchen2")
    ]


def test_bad_scenes_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    for scenes, words in (("Kitchen0", "scenes are Kitchen1"), ("FloorPlan1", "need kitchen.backend=recorded")):
        assert exit_code(["run", "kitchen", "--scenes", scenes]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", [
    ["run", "kitchen"], ["evaluate", str(POLICY), "--domain", "kitchen"],
    ["kitchen", "record", "FloorPlan1", "--out", "x"],
])
def test_without_a_unity_build_every_command_explains_how_to_get_one(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    unity = [] if command[0] == "kitchen" else ["--set", "kitchen.backend=unity"]
    assert exit_code([*command, *unity]) == 2
    message = capsys.readouterr().err
    assert message.startswith("memento: no Unity build of AI2-THOR is in") and "download_only=True" in message
    assert message.count("\n") == 1, "one sentence, no traceback"
    assert [*tmp_path.iterdir()] == [], "ai2thor was not even imported"


@pytest.mark.slow
def test_doctor_reports_whether_a_unity_build_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("memento.cli.doctor_checks.renderers", dict)
    exit_code(["doctor"])
    output = capsys.readouterr().out
    assert "no build in" in output and "download_only=True" in output
    name = f"thor-{PLATFORMS[0]}-{client_commit()}"
    program = tmp_path / ".ai2thor/releases" / name / name
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    exit_code(["doctor"])
    output = capsys.readouterr().out
    assert name in output and "no build in" not in output
