"""What of the caller's surroundings reaches the tests: nothing but the variables that are named here.

Tests see no key, no setting, no proxy, no locale and no files of whoever runs them, and leave nothing in the checkout.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from memento.core.variables import common_kernels

_KEPT: Final = frozenset({
    "PATH", "LD_LIBRARY_PATH", "TMPDIR",
    "KITCHEN_RECORDINGS", "MEMENTO_GOLDEN", "MEMENTO_TEST_KILLS",       # of these tests
    "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID",
})
_GIVEN: Final = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "MEMENTO_SALT": "none",         # the same command gives the same run
    "GIT_CONFIG_COUNT": "1",        # git answers also where another user owns the checkout
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}


def clear_surroundings() -> None:
    """Empty this process's environment of all else. To be called before numpy is imported.

    The workers of pytest-xdist inherit what the process that starts them has made of it, the home included.
    """
    home = os.environ["HOME"] if "PYTEST_XDIST_WORKER" in os.environ else None
    for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        with suppress(ValueError):
            sys.path.remove(folder)
    sys.warnoptions.clear()         # of PYTHONWARNINGS; pytest's own are in pyproject.toml
    kept = {name: value for name, value in os.environ.items() if name in _KEPT}
    os.environ.clear()
    os.environ.update(kept)
    os.environ.update(_GIVEN)
    # As in a worker: tests compare the physics with stock robosuite's in this process.
    os.environ.update(common_kernels())
    os.environ["XDG_CACHE_HOME"] = str(_cache())
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(_cache() / "hypothesis")     # no examples: see tests/conftest.py
    os.environ["HOME"] = home or tempfile.mkdtemp(prefix="memento-home-")
    time.tzset()
    os.umask(0o022)


def remove_home() -> None:
    """Remove the home of the tests: by the process that made it."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)


def _cache() -> Path:
    """The folder of compiled code, which all tests share, and the next session: compiling it takes minutes of CPU."""
    return Path(tempfile.gettempdir()) / f"memento-tests-{os.getuid()}"


@contextmanager
def empty_working_folder(folder: Path) -> Iterator[None]:
    """Work in an empty folder, and return."""
    before = Path.cwd()
    os.chdir(folder)
    yield
    os.chdir(before)
