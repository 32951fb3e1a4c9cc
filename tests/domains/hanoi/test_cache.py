"""Compiled code is cached between processes, in a folder of the user."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from memento.domains.arm.physics import cache

from ...support.processes import start_process

SCRIPT = """
from memento.domains.hanoi import DOMAIN
from memento.domains.hanoi.environment import HanoiEnvironment
environment = HanoiEnvironment(DOMAIN.options({"physics": "exact"}, preset="paper"))
environment.reset(index=0, seed=0)
environment.step([0.0] * 7)
print(*environment.simulation.scene.mj_data.qpos)
"""


def reset_and_step(home: Path) -> "subprocess.Popen[str]":
    variables = {**os.environ, "XDG_CACHE_HOME": str(home)}
    return start_process([sys.executable, "-c", SCRIPT], env=variables, stdout=subprocess.PIPE)


def compiled(home: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in home.rglob("*.nbc")}


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_two_that_start_together_compile_once_and_a_third_not_at_all(tmp_path: Path) -> None:
    together = [reset_and_step(tmp_path), reset_and_step(tmp_path)]
    said = [process.communicate(timeout=600)[0] for process in together]
    assert [process.returncode for process in together] == [0, 0]
    assert said[0] == said[1] != ""
    before = compiled(tmp_path)
    found = [path for path in before if "control_step" in path.name]
    assert len(found) == 1
    third = reset_and_step(tmp_path)
    assert third.communicate(timeout=600)[0] == said[0]
    assert compiled(tmp_path) == before


def test_an_unwritable_home_still_gives_a_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(tmp_path))
    folder = cache.cache_folder()
    assert folder.is_dir() and tmp_path in folder.parents
    assert folder == cache.cache_folder()
    assert folder.stat().st_mode & 0o077 == 0


def test_a_folder_that_another_owns_or_may_write_to_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setattr(cache.tempfile, "gettempdir", lambda: str(scratch))
    for place in (home / "memento" / "models", home / "memento"):
        folder = cache.user_folder("models")
        assert folder == home / "memento" / "models"
        place.chmod(0o777)
        found = cache.user_folder("models")
        assert found is not None and found.is_relative_to(scratch)
        place.chmod(0o700)
    monkeypatch.setattr(cache.os, "getuid", lambda: 12345)
    assert cache.user_folder("models") is None


DOUBLED = """
import os, sys
from numba import njit
from memento.domains.arm.physics.cache import compiled_code_in
from pathlib import Path
with compiled_code_in(Path(sys.argv[2])):
    sys.path.insert(0, sys.argv[1])
    from doubling import double
print(double(4), sum(double.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_damaged_compiled_code_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "doubling.py").write_text(
        "from numba import njit\n\n@njit(cache=True)\ndef double(number):\n    return 2 * number\n"
    )
    kept = tmp_path / "kept"

    def said() -> str:
        command = [sys.executable, "-c", DOUBLED, str(tmp_path), str(kept)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    assert [said(), said()] == ["8 0\n", "8 1\n"]
    for pattern in ("*.nbi", "*.nbc"):
        for size in (0, 7, 100):
            [path] = kept.rglob(pattern)
            path.write_bytes(path.read_bytes()[:size])
            assert [said(), said()] == ["8 0\n", "8 1\n"], (pattern, size)


def test_only_the_first_waits(tmp_path: Path) -> None:
    entered = 0
    for _ in range(2):
        with cache.first_compilation(tmp_path):
            entered += 1
    assert entered == 2
    assert (tmp_path / "complete").exists()


def test_a_compilation_that_failed_is_not_called_complete(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), cache.first_compilation(tmp_path):
        _ = 1 / 0
    assert not (tmp_path / "complete").exists()
