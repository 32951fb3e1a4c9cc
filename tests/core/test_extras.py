"""A missing optional package is one sentence with the command that installs it."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from memento.core import extras
from memento.core.errors import UsageError

ABSENT = extras.Extra(gives="a test", modules=("json", "no_such_module_here"))


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "EXTRAS", {"x": ABSENT})
    with pytest.raises(UsageError, match=r"films needs no_such_module_here, which is not installed: .*x"):
        extras.require("x", "films")
    assert extras.missing_modules("x") == ("no_such_module_here",)


@pytest.mark.parametrize(("record", "command"), [
    ('{"url": "file:///srv/a%20b/memento_evolve-0.1.0-py3-none-any.whl"}',
     "pip install '/srv/a b/memento_evolve-0.1.0-py3-none-any.whl[video]'"),
    (None, "pip install 'PATH.whl[video]'"), ("damaged", "pip install 'PATH.whl[video]'"),
    ('{"url": "https://example.org/x.whl"}', "pip install 'PATH.whl[video]'"),
])
def test_without_a_lock_file_the_command_installs_from_the_same_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: str | None, command: str
) -> None:
    """Never from an index: the name of the distribution is not registered there, so anybody could."""
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    installed = SimpleNamespace(read_text=lambda name: record)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: installed)
    assert extras.install_command("video") == command


def test_only_missing_packages_of_extras_are_explained() -> None:
    known = extras.explain(ModuleNotFoundError("…", name="scipy.stats"))
    assert known is not None and "needs scipy" in str(known)
    assert extras.explain(ModuleNotFoundError("…", name="memento.no_such")) is None
    assert extras.explain(ImportError("libGL.so.1", name="cv2")) is None


def test_a_misspelt_extra_is_our_mistake() -> None:
    with pytest.raises(UsageError, match="robosuite"):
        extras.require("robosuit", "it")


def test_a_package_that_pythonpath_hides_is_named(tmp_path: Path) -> None:
    """Reported for shells of ROS, whose PYTHONPATH has another Python's numpy."""
    theirs = tmp_path / "lib" / "python3.8" / "site-packages" / "numpy"
    theirs.mkdir(parents=True)
    (theirs / "__init__.py").write_text("raise ImportError('Importing the numpy C-extensions failed')")
    found = {**os.environ, "PYTHONPATH": str(theirs.parent)}
    asked = [sys.executable, "-m", "memento", "domains", "gym:CartPole-v1"]
    refused = subprocess.run(asked, env=found, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2 and "Traceback" not in refused.stderr
    assert "C-extensions failed ('numpy' is taken from" in refused.stderr and "unset it" in refused.stderr


def test_a_package_that_another_installation_replaced_is_named_with_the_way_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from importlib.metadata import version

    (tmp_path / "requirements.lock").write_text(f"numpy=={version('numpy')} \\\n    --hash=sha256:0\npytest==0.1 \\\n")
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    assert extras.replaced_packages() == {}
    monkeypatch.setattr(extras, "SIMULATING", ("numpy", "pytest"))
    assert extras.replaced_packages() == {"pytest": ("0.1", version("pytest"))}
    assert "pip install --python .venv/bin/python pytest==0.1" in extras.replaced_words("pytest", "0.1", "9")
