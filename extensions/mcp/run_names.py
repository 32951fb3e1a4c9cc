"""Which runs the tools may name: those in the folder of runs, by name."""

from pathlib import Path, PurePath

from ...core.errors import UsageError, no_such
from ...memory.runs import find_run, list_runs


def run_named(runs_dir: Path, name: str) -> Path:
    """The folder of the run with this name, or beginning of a name. Raises UsageError, also for a path."""
    require_plain(name)
    folder = find_run(runs_dir, name)
    if folder.parent != runs_dir:       # `find_run` also takes a run in the working directory
        raise no_such(f"run (in {runs_dir})", name, [each.name for each in list_runs(runs_dir)])
    return folder


def require_plain(name: str) -> None:
    """Raise UsageError unless this names something in a folder, rather than a way to another one."""
    if PurePath(name).name != name or name == "..":
        raise UsageError(f"{name[:100]!r} is a path: give the name of a run, as list_runs shows it")
