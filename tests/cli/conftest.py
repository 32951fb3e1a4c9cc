"""The real program, in a process, and a finished run for all tests of commands that read one."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ..support.program import DEADLINE_S, PROGRAM, SMOKE, memento, memento_live

__all__ = ["finished", "memento", "memento_live"]


@dataclass(frozen=True)
class Finished:
    """A folder with one finished run, "one", and what the program printed."""

    runs: Path
    done: "CompletedProcess[str]"


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    folder = tmp_path_factory.mktemp("finished")
    done = subprocess.run(
        [*PROGRAM, *SMOKE, "--name", "one", "--json"], cwd=folder, capture_output=True,
        text=True, timeout=DEADLINE_S, check=False,
    )
    return Finished(folder / "runs", done)
