"""Standard streams that cannot be written, are closed, or cannot hold a character: the work goes on, no traceback."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from ..support.program import PROGRAM, SMOKE
from .conftest import Finished

pytestmark = pytest.mark.quick

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


def shell(line: str, folder: Path, *arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """The program with these arguments where `line` has "$@"."""
    return subprocess.run(
        ["sh", "-c", line, "sh", *PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True,
        timeout=100, env=os.environ | environment, check=False, errors="replace",
    )


@pytest.mark.slow
@pytest.mark.parametrize("line", [
    pytest.param('"$@" 2> /dev/full', marks=[needs_full, pytest.mark.nightly], id="a full disk"),
    pytest.param('"$@" 2>&-', marks=pytest.mark.nightly, id="closed"), pytest.param('"$@" 2>&- <&-', id="both closed"),
])
@pytest.mark.parametrize("display", ["plain", "rich"])
def test_a_run_goes_on_without_stderr(line: str, display: str, tmp_path: Path) -> None:
    done = shell(line, tmp_path, *SMOKE, "--name", "one", "--display", display, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "done"
    assert done.stdout.count("\n") == 1, "nothing but the result is on stdout"


@pytest.mark.slow
def test_an_error_without_stderr(tmp_path: Path) -> None:
    for line in ('"$@" 2> /dev/full', '"$@" 2>&-'):
        done = shell(line, tmp_path, "show", "nothing")
        assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.slow
@needs_full
@pytest.mark.parametrize("arguments", [["show"], ["show", "one"], ["show", "one", "init/0", "--code"], ["--version"]])
def test_results_that_cannot_be_written(arguments: list[str], finished: Finished) -> None:
    done = shell('"$@" > /dev/full', finished.runs.parent, *arguments)
    assert done.returncode == 3
    assert done.stderr.startswith("memento: the output cannot be written: No space left on device")
    assert done.stderr.count("\n") == 1


def test_a_closed_stdout(finished: Finished) -> None:
    done = shell('"$@" >&-', finished.runs.parent, "show", "one")
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize("arguments", [["show", "one"], ["show", "one", "g1/macro/0"], ["show", "nöthing…"]])
def test_output_in_a_narrow_encoding(encoding: str, arguments: list[str], finished: Finished) -> None:
    done = shell('"$@"', finished.runs.parent, *arguments, PYTHONIOENCODING=encoding)
    assert done.returncode == (2 if "nöthing…" in arguments else 0)
    assert "Traceback" not in done.stderr
