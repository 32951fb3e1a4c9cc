"""The runs folder: naming a new run, and finding a run by name, path or prefix of its name."""

import hashlib
import os
import re
import sqlite3
import time
from pathlib import Path

from ..core.errors import UsageError, nearest, no_such, os_problem
from ..core.ports import Clock

DATABASE = "run.sqlite"
UNFINISHED = f"{DATABASE}.new"     # until its tables exist
TRAJECTORIES = "trajectories"
WHAT_IFS = "what-if"    # the logs of what-ifs, in the folder of their run
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LEFT_EARLY = re.compile(
    rf"lock|\.?holder\.json(\.\d+)?(\.partial)?|{re.escape(DATABASE)}(\.new)?(-wal|-shm|-journal)?"
)
_SHOWN = 8
_LONGEST = 255      # bytes of a name of a file


def new_run(
    runs_dir: str | os.PathLike[str], name: str | None, clock: Clock, *, label: str = "run", seed: int = 0
) -> Path:
    """Make the empty folder of a new run and return it.

    Without a `name` its name consists of `label` (the domain), the time and a tag derived from seed and
    time, such as hanoi-20261121-0004-a3f2. Raises UsageError if a given name is taken or not allowed.
    """
    root = Path(runs_dir)
    if name is not None and not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a run: use letters, digits, dots, dashes and underscores, at most 100")
    try:
        root.mkdir(parents=True, exist_ok=True)
        if name is not None:
            return _make_named(root / name)
        return _make_unique(root, label, clock.now(), seed)
    except FileExistsError as error:
        if not root.is_dir():
            raise UsageError(f"{root} is a file, not a folder for runs") from error
        raise UsageError(
            f"there is already a run {name!r} in {root}: choose another name, or go on with memento resume {name}"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot make a run in {root}: {os_problem(error)}") from error


def find_run(runs_dir: str | os.PathLike[str], name: str) -> Path:
    """The folder of the run with this name, path or prefix of a name.

    Raises UsageError with the matching names, or the most similar ones, and for the log of a what-if.
    """
    root = Path(runs_dir)
    _require_short(name)
    for folder in (root / name, Path(name)):
        if name and is_run(folder):
            _require_no_what_if(folder.absolute())
            return folder
    names = [folder.name for folder in list_runs(root)]
    fitting = [known for known in names if name and known.startswith(name)]
    if len(fitting) == 1:
        return root / fitting[0]
    if fitting:
        raise UsageError(f"{name!r} matches several runs: {_names(fitting)}; type more of the name")
    if name and (os.sep in name or not names) and Path(name).is_dir():
        raise not_a_run(Path(name))
    if not names:
        raise UsageError(f"no run {name!r}: there are no runs in {root}")
    near = nearest(name, names, most=1)
    raise no_such(f"run (in {root})", name, names if near else names[-_SHOWN:])


def _require_no_what_if(folder: Path) -> None:
    """Raises UsageError for the log of a what-if, which only `memento what-if` reads."""
    run = folder.parent.parent
    if folder.parent.name == WHAT_IFS and is_run(run):
        raise UsageError(f"{folder.name} is a what-if on the run {run.name!r}, no run: use memento what-if {run.name}")


def _require_short(name: str) -> None:
    """Raises UsageError for a name that no file system takes."""
    if len(name) > 4000 or any(len(os.fsencode(part)) > _LONGEST for part in Path(name).parts):
        raise UsageError(f"no run {name[:20] + '…'!r}: a name of {len(name)} characters is too long")


def list_runs(runs_dir: str | os.PathLike[str]) -> tuple[Path, ...]:
    """The folders of all runs, sorted by name; none if `runs_dir` does not exist."""
    root = Path(runs_dir)
    if not root.is_dir():
        return ()
    return tuple(sorted(folder for folder in root.iterdir() if is_run(folder)))


def is_run(folder: Path) -> bool:
    """Whether this folder has a run's database."""
    try:
        return (folder / DATABASE).is_file()
    except OSError:     # a name that is too long, a folder that may not be read
        return False


def require_run(folder: Path) -> None:
    """Raises UsageError if `folder` is missing or not a run, with the runs in its parent folder."""
    if is_run(folder):
        return
    if folder.exists():
        raise not_a_run(folder)
    others = [run.name for run in list_runs(folder.parent)]
    raise UsageError(f"no run at {folder}; " + (f"runs here: {_names(others)}" if others else "no runs here"))


def not_a_run(folder: Path) -> UsageError:
    """The error for a folder (or file) that exists but holds no run."""
    inside = [run.name for run in list_runs(folder)]
    more = f"; runs in it: {_names(inside)}" if inside else f": it has no {DATABASE}"
    return UsageError(f"{folder} is not a run{more}")


def never_begun(folder: Path) -> bool:
    """Whether the folder holds only leftovers of a run that was killed before its first fact."""
    if not folder.is_dir() or not all(_LEFT_EARLY.fullmatch(path.name) for path in folder.iterdir()):
        return False
    if not is_run(folder):
        return True
    connection = sqlite3.connect(f"{(folder / DATABASE).absolute().as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM facts").fetchone()[0]) == 0
    except sqlite3.Error as error:
        return "no such table" in str(error)
    finally:
        connection.close()


def _make_named(folder: Path) -> Path:
    try:
        folder.mkdir()
    except FileExistsError:
        if not never_begun(folder):     # otherwise reuse it; the lock settles a race
            raise
    return folder


def _make_unique(root: Path, label: str, now: float, seed: int) -> Path:
    label = label.replace(":", "-").replace("/", "-")      # not every file system has these
    stem = f"{label}-{time.strftime('%Y%m%d-%H%M', time.gmtime(now))}"
    attempt = 0
    while True:
        tag = hashlib.sha256(f"{seed}:{now}:{attempt}".encode()).hexdigest()[: 4 + attempt // 16]
        try:
            (root / f"{stem}-{tag}").mkdir()
        except FileExistsError:
            attempt += 1
        else:
            return root / f"{stem}-{tag}"


def _names(names: list[str]) -> str:
    shown = ", ".join(names[-_SHOWN:])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} older"
