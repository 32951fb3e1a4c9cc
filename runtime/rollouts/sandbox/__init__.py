"""What the operating system takes from a generated program before it runs. Standard library only.

`prepare` runs once in the warm process. `harden` runs in the forked program process, after everything it
needs is loaded and before the program's text is compiled. It raises OSError where a layer that this machine
has cannot be put on, so that no program runs with less than `layers()` promises.

    kernel    calls into the kernel that Python has no name for
    landlock  landlock: the files a program may read, and no others; no TCP; no signal to anything outside
    probing   which layers are live on this machine, found out by trying what each of them must stop
    seccomp   the seccomp filter: which system calls a program may make
    trials    tries each layer in a forked process: puts it on, then does what it must stop
"""

import os
import pkgutil
import resource
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.machinery import FileFinder
from pathlib import Path
from typing import Any, Final

from . import kernel, landlock, seccomp
from .kernel import die_with_parent, wipe_environment
from .probing import ISOLATING, Layer, layers

__all__ = [
    "ISOLATING", "Bounds", "Layer", "Prepared", "die_with_parent", "harden", "layers", "prepare",
    "remember_folders", "wipe_environment",
]

FOREIGN: Final = ("site-packages", "dist-packages", "sitecustomize.py")     # in a library's folder, but not of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """Resource limits of one program process."""

    address_bytes: int
    cpu_s: int
    open_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What forks of the warm process put on. None where this machine lacks the layer."""

    ruleset: int | None             # a descriptor, which a fork must keep until `harden`
    filter: seccomp.Filter | None


def prepare(libraries: Iterable[Path]) -> Prepared:
    """Make the layers that forks share; a program may read the libraries and what is below. Raises OSError.

    A folder that holds installed packages as well cannot be listed itself, since Landlock would allow to list
    everything below: see `remember_folders`.
    """
    readable: list[Path] = []
    for folder in filter(Path.exists, libraries):       # a library can be a zip file
        entries = [*folder.iterdir()] if folder.is_dir() else []
        own = [entry for entry in entries if entry.name not in FOREIGN]
        readable += [folder] if len(own) == len(entries) else own
    return Prepared(
        ruleset=None if landlock.why_missing() else landlock.make_ruleset(readable),
        filter=None if seccomp.why_missing() else seccomp.Filter(),
    )


def remember_folders(folders: Iterable[str]) -> None:
    """Have imports know what these folders hold without listing them again, for good."""
    for folder in folders:
        finder: Any = pkgutil.get_importer(folder)
        if isinstance(finder, FileFinder):
            finder.find_spec("no_such_module")              # reads the folder
            finder.__dict__["invalidate_caches"] = _nothing


def _nothing() -> None:
    """What invalidating the memory of a folder does that cannot be read again."""


def harden(prepared: Prepared, bounds: ResourceLimits) -> list[str]:
    """Put on every layer that this machine has; returns their names. Raises OSError where one fails."""
    return list(_harden(prepared, bounds))


def _harden(prepared: Prepared, bounds: ResourceLimits) -> Iterator[str]:
    kernel.die_first()      # as long as this process may write it
    _bound(bounds)
    yield "rlimits"
    if kernel.LINUX:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)     # no core, not even to a handler that limits do not bind
        yield "environment"                         # wiped before the fork; see `wipe_environment`
        die_with_parent()
        yield "pdeathsig"
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        yield "no_new_privs"
    if kernel.can_drop_capabilities():
        kernel.drop_capabilities()
        yield "capabilities"
    if prepared.ruleset is not None:
        landlock.restrict(prepared.ruleset)
        os.close(prepared.ruleset)
        yield "landlock"
    if prepared.filter is not None:     # the last: it takes the calls that the others need
        prepared.filter.restrict()
        yield "seccomp"


def _bound(bounds: ResourceLimits) -> None:
    """Set the resource limits. The hard CPU limit is a second later, so that SIGXCPU comes first."""
    wanted = {
        resource.RLIMIT_AS: (bounds.address_bytes, bounds.address_bytes),
        resource.RLIMIT_CPU: (bounds.cpu_s, bounds.cpu_s + 1),
        resource.RLIMIT_NOFILE: (bounds.open_files, bounds.open_files),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_NPROC: (0, 0),      # does not bind root: the seccomp filter is what stops forks
        resource.RLIMIT_MEMLOCK: (0, 0),
    }
    for name, (soft, hard) in wanted.items():
        _, ceiling = resource.getrlimit(name)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(name, (soft, hard))
