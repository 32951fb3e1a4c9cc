"""Tests see nothing of whoever runs them: the same verdict in a hostile environment and folder."""

import locale
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memento.cli import exit_code

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).relative_to(ROOT)

HOSTILE = {
    "OPENAI_API_KEY": "sk-mine", "ANTHROPIC_API_KEY": "sk-mine", "GEMINI_API_KEY": "x", "GROQ_API_KEY": "x",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/", "OPENAI_ORG_ID": "x",
    "HTTP_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "ALL_PROXY": "socks5://127.0.0.1:9",
    "MEMENTO_RUNS": "nowhere", "MEMENTO_DISPLAY": "none", "MEMENTO_WRONG": "x", "MEMENTO_SALT": "x",
    "PYTHONWARNINGS": "error", "PYTHONHASHSEED": "7", "PYTHONSAFEPATH": "1", "MUJOCO_GL": "wrong",
    "COLUMNS": "40", "LINES": "5", "NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "dumb",
    "LANG": "C", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "XDG_STATE_HOME": "relative", "TMP": "relative",
}
REPRESENTATIVES = (     # each failed, or would have, in one of these
    HERE, "tests/cli/test_report_follow.py", "tests/cli/test_models.py",
    "tests/models/test_opening.py", "tests/settings/test_settings.py",
)


def test_nothing_of_the_caller_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert not os.environ.keys() & HOSTILE.keys() - {"LANG", "TZ", "MEMENTO_SALT"}
    assert not [name for name in os.environ if name.endswith("_API_KEY") or name.lower().endswith("_proxy")]
    assert (os.environ["MEMENTO_SALT"], time.tzname[0]) == ("none", "UTC")
    assert locale.getpreferredencoding().lower() == "utf-8"
    assert not sys.warnoptions
    assert not list(Path.cwd().iterdir())
    assert Path.home().name.startswith("memento-home-")
    mask = os.umask(0o022)
    assert mask == 0o022
    assert exit_code(["report", "x", "--follow"]) == 2
    assert "no run 'x'" in capsys.readouterr().err


def test_the_same_verdict_in_a_hostile_environment(tmp_path: Path) -> None:
    folder = tmp_path / "a földer with blanks"
    (folder / "runs" / "x").mkdir(parents=True)
    (folder / "runs" / "x" / "run.sqlite").write_text("not a run")
    (folder / "memento.toml").write_text("wrong = true\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / ".config").mkdir()
    home.chmod(0o500)
    on_path = tmp_path / "path"
    on_path.mkdir()
    (on_path / "tomllib.py").write_text("raise RuntimeError('of PYTHONPATH')\n")
    done = subprocess.run(
        [sys.executable, "-E", "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--rootdir", ROOT,
         "-c", ROOT / "pyproject.toml", "--basetemp", folder / "basetemp",
         "--deselect", f"{HERE}::test_the_same_verdict_in_a_hostile_environment",
         *(ROOT / each for each in REPRESENTATIVES)],
        cwd=folder, env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(on_path)} | HOSTILE,
        umask=0o077, capture_output=True, text=True, timeout=250, check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["basetemp", "memento.toml", "runs"]
    assert [path.name for path in home.iterdir()] == [".config"]
