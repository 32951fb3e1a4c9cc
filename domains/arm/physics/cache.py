"""Keeps compiled code between processes and lets one process at a time compile.

By default numba writes next to the source, which fails for a read-only installation, and N workers that
start together all compile the same code.
"""

import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba.core import config as _numba_config

from ...compiled_code import recompile_damaged

recompile_damaged()

LOCK_LIMIT_S = 180.0
_WAIT_S = 0.05
_PACKAGES = ("numba", "llvmlite", "numpy", "scipy", "mujoco", "robosuite")


def cache_folder() -> Path:
    """This user's cache folder for this code and these versions; it exists and is writable.

    $XDG_CACHE_HOME/memento (else ~/.cache/memento) or, if neither is usable, a private folder in the
    directory for temporary files.
    """
    digest = hashlib.sha256(repr((sys.version, [version(name) for name in _PACKAGES])).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return user_folder(f"compiled-{digest.hexdigest()[:16]}") or Path(tempfile.mkdtemp(prefix="memento-compiled-"))


def user_folder(name: str) -> Path | None:
    """This user's cache folder of this name, made if needed and writable; None where no place is usable."""
    for parent in _candidates():
        folder = parent / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and all(_is_own(each.stat()) for each in (parent, folder)):
            return folder
    return None


def _is_own(about: os.stat_result) -> bool:
    """Whether nobody else owns the folder or may write to it: code is loaded from there."""
    return about.st_uid == os.getuid() and not about.st_mode & stat.S_IWOTH


def _candidates() -> list[Path]:
    found = [Path(tempfile.gettempdir()) / f"memento-{os.getuid()}"]
    given = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    if Path(given).is_absolute():       # not absolute for a user without a home
        found.insert(0, Path(given) / "memento")
    return found


@contextmanager
def compiled_code_in(folder: Path) -> Iterator[None]:
    """Functions decorated within this context (by importing their modules) store their compiled code in `folder`."""
    numba_config: Any = _numba_config
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba_config.CACHE_DIR = before


@contextmanager
def first_compilation(folder: Path) -> Iterator[None]:
    """Enter at once if `folder` already holds the compiled code, else one process at a time.

    The wait is limited: after it the process compiles its own copy, which costs time only.
    """
    done = folder / "complete"
    if done.exists():
        yield
        return
    with _lock_on(folder / "lock"):
        yield
        done.touch()


@contextmanager
def _lock_on(path: Path) -> Iterator[None]:
    import fcntl

    with path.open("w") as handle:
        deadline = time.monotonic() + LOCK_LIMIT_S
        while time.monotonic() < deadline:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_WAIT_S)
        yield   # closing the file releases the lock
