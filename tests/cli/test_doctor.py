"""`memento doctor`: every layer in plain words, keys by name alone, and an exit code that scripts can use."""

import json
from pathlib import Path

import pytest
from memento.cli import doctor_checks, exit_code
from memento.runtime.rollouts import sandbox
from memento.runtime.rollouts.sandbox import probing

pytestmark = pytest.mark.quick

LAYERS = {name: sandbox.Layer(live=True, found="tried") for name in doctor_checks.PROMISES}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has everything; drawing is tried by one test only."""
    monkeypatch.setattr(doctor_checks, "renderers", lambda: {"egl": None, "osmesa": "no library"})
    monkeypatch.setattr(doctor_checks.sandbox, "layers", lambda: LAYERS)
    monkeypatch.setattr(doctor_checks, "memory_bytes", lambda: 16 << 30)
    monkeypatch.setattr(doctor_checks, "free_disk_bytes", lambda folder: 16 << 30)


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = exit_code(["doctor", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.slow
def test_a_machine_that_has_everything(capsys) -> None:
    status, out, _ = called(capsys)
    assert status == 0
    assert out.splitlines()[-1] == "everything a run needs is installed"
    assert all(name in out for name in LAYERS)


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["landlock", "seccomp", "rlimits"])
def test_a_missing_layer_is_reported_with_its_fix(capsys, monkeypatch, layer) -> None:
    found = {**LAYERS, layer: sandbox.Layer(live=False, found="the kernel is old")}
    monkeypatch.setattr(doctor_checks.sandbox, "layers", lambda: found)
    status, out, _ = called(capsys)
    assert status == 1
    assert "the kernel is old" in out
    assert "NOT ISOLATED" in out and "--require-sandbox" in out
    assert out.splitlines()[-1] == f"something essential is missing: {layer}"


def test_every_layer_has_a_promise_in_words() -> None:
    assert set(doctor_checks.PROMISES) == set(probing.NAMES)


@pytest.mark.slow
def test_keys_are_named_and_never_shown(capsys, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-value")
    monkeypatch.setenv("GROQ_API_KEY", "gsk-value")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    status, out, err = called(capsys, "--json")
    assert status == 0
    assert "value" not in out + err
    findings = {each["name"]: each["state"] for each in json.loads(out.splitlines()[-1])["findings"]}
    assert findings["OPENAI_API_KEY"] == findings["GROQ_API_KEY"] == "ok"
    assert findings["ANTHROPIC_API_KEY"] == "absent"


@pytest.mark.slow
def test_json_is_one_object_and_the_words_go_to_stderr(capsys, monkeypatch) -> None:
    monkeypatch.setattr(doctor_checks, "free_disk_bytes", lambda folder: 1000)
    status, out, err = called(capsys, "--json")
    assert status == 1
    assert len(out.splitlines()) == 1
    result = json.loads(out)
    assert result["fine"] is False
    assert [each["name"] for each in result["findings"] if each["state"] == "missing"] == ["disk"]
    assert "something essential is missing: disk" in err


@pytest.mark.slow
def test_no_renderer_is_not_an_error(capsys, monkeypatch) -> None:
    unusable = {"egl": "no display", "osmesa": "no library"}
    monkeypatch.setattr(doctor_checks, "renderers", lambda: unusable)
    status, out, _ = called(capsys)
    assert status == 0
    assert "no renderer works here" in out and "libegl1" in out


@pytest.mark.slow
def test_a_unity_build_of_another_client_is_none(capsys, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    build = tmp_path / ".ai2thor/releases/thor-CloudRendering-abc"
    build.mkdir(parents=True)
    (build / build.name).touch(mode=0o755)
    status, out, _ = called(capsys)
    assert status == 0
    assert f"no build in {tmp_path}" in out and "download_only=True" in out and build.name not in out


def test_a_renderer_that_crashes_or_hangs_is_reported(monkeypatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(doctor_checks, "_DRAW", "import os; os.abort()")
    assert all("code -6" in flaw for flaw in doctor_checks.renderers().values())
    monkeypatch.setattr(doctor_checks, "_DRAW", "import time; time.sleep(100)")
    monkeypatch.setattr(doctor_checks, "RENDER_S", 0.2)
    assert all("did not draw within 0.2 s" in flaw for flaw in doctor_checks.renderers().values())
    monkeypatch.setattr(doctor_checks, "_DRAW", "raise ImportError('no libEGL')")
    monkeypatch.setattr(doctor_checks, "RENDER_S", 30)
    assert set(doctor_checks.renderers().values()) == {"ImportError: no libEGL"}


def test_the_machine_is_really_looked_at() -> None:
    assert doctor_checks.version_of("numpy") and doctor_checks.version_of("no-such-package") is None
    assert doctor_checks.free_disk_bytes(Path("no/such/folder")) > 0
