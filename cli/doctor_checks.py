"""The checks of `memento doctor`: software, machine, isolation, renderers and keys, each with a fix if it fails."""

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final, Literal

from ..core.extras import DISTRIBUTION, EXTRAS, install_command, is_installed, missing_modules
from ..core.version import __version__
from ..domains.kitchen.unity import build as unity
from ..models.spec import KEY_VARIABLES
from ..runtime.rollouts import sandbox
from ..settings import usable_cpus
from . import machine_checks

PYTHONS: Final = ((3, 11), (3, 12))
DISK_BYTES: Final = 1 << 30     # a long run's trajectories take a few hundred MiB
MEMORY_BYTES: Final = 2 << 30   # a worker with its simulator takes about 300 MB
PROMISES: Final[Mapping[str, str]] = {
    "rlimits": "a program's memory, CPU time and open files are bounded",
    "environment": "it cannot read environment variables, such as keys",
    "pdeathsig": "it ends with the process that supervises it",
    "no_new_privs": "it cannot gain privileges",
    "capabilities": "it has no capabilities of root",
    "landlock": "it reads Python's library and numpy, nothing else, and writes nothing",
    "seccomp": "it has no network, starts no process and cannot access another one",
}
FIXES: Final[Mapping[str, str]] = {
    "landlock": "needs Linux 5.13 or newer, and landlock in the boot parameter lsm= if that is set",
    "seccomp": "needs Linux on x86-64, and a container that allows seccomp",
}
LINUX_ONLY: Final = "needs Linux"
CLUSTER: Final = "nodes of the cluster"     # what the topic of a cluster's nodes begins with

State = Literal["ok", "absent", "missing"]



@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check. "absent" is fine, "missing" is not."""

    topic: str
    name: str
    state: State
    words: str
    fix: str = ""


def examine() -> Iterator[Finding]:
    """Every finding, by topic. A key is reported as set or not, never its value."""
    yield from _software()
    yield from _extras()
    yield from _machine()
    yield from _isolation()
    yield from _pictures()
    yield from _models()


def _software() -> Iterator[Finding]:
    topic = "software"
    yield Finding(topic=topic, name="memento", state="ok", words=__version__)
    fits = sys.version_info[:2] in PYTHONS
    yield Finding(
        topic=topic, name="Python", state="ok" if fits else "missing", words=platform.python_version(),
        fix="" if fits else "needs Python 3.11 or 3.12: numpy 1.26 has no wheel for others",
    )
    numpy = machine_checks.version_of("numpy")
    yield Finding(
        topic=topic, name="numpy", state="ok" if numpy else "missing", words=numpy or "not installed",
        fix="" if numpy else f"run ./memento in a checkout, or: pip install {DISTRIBUTION}",
    )
    uv = machine_checks.uv_version()
    yield Finding(topic=topic, name="uv", state="ok" if uv else "absent",
                  words=uv or "not installed; needed for installation only")


def _extras() -> Iterator[Finding]:
    for name, extra in EXTRAS.items():
        missing = missing_modules(name)
        words = f"not installed: {', '.join(missing)}" if missing else _versions(extra.modules)
        yield Finding(
            topic="extras (each is needed for one thing only)", name=name, state="absent" if missing else "ok",
            words=f"{extra.gives}: {words}", fix=install_command(name) if missing else "",
        )


def _versions(modules: Sequence[str]) -> str:
    found = packages_distributions()
    names = (next(iter(found.get(module, ())), module) for module in modules)
    return ", ".join(f"{name} {machine_checks.version_of(name) or ''}".rstrip() for name in names)


def _machine() -> Iterator[Finding]:
    topic = "machine"
    yield Finding(topic=topic, name="system", state="ok", words=f"{platform.system()} {platform.release()}, "
                  f"{platform.machine()}")
    yield Finding(topic=topic, name="processors", state="ok",
                  words=f"{usable_cpus()} usable: the number of parallel rollouts without --workers")
    memory = machine_checks.memory_bytes()
    words = "cannot be read on this system" if memory is None else f"{memory / 2**30:.1f} GiB available"
    short = memory is not None and memory < MEMORY_BYTES
    yield Finding(topic=topic, name="memory", state="missing" if short else "ok", words=words,
                  fix="a worker takes about 0.3 GiB: free some memory, or run with --workers 1" if short else "")
    disk = machine_checks.free_disk_bytes(Path(os.environ.get("MEMENTO_RUNS", "runs")))
    yield Finding(topic=topic, name="disk", state="ok" if disk >= DISK_BYTES else "missing",
                  words=f"{disk / 2**30:.1f} GiB free in the folder of runs",
                  fix="" if disk >= DISK_BYTES else "free some disk space, or keep runs elsewhere with --runs")


def _isolation() -> Iterator[Finding]:
    for name, layer in sandbox.layers().items():
        if layer.live:
            words = f"{PROMISES[name]}: {layer.found}"
            yield Finding(topic="isolation of generated programs", name=name, state="ok", words=words)
        else:
            fix = f"{FIXES.get(name, LINUX_ONLY)}; until then runs are NOT ISOLATED, and --require-sandbox refuses them"
            yield Finding(topic="isolation of generated programs", name=name, state="missing", words=layer.found,
                          fix=fix)


def _pictures() -> Iterator[Finding]:
    topic = "pictures (needed for rendering only)"
    found = machine_checks.renderers() if is_installed("mujoco") else {}
    for name, flaw in found.items():
        words = f"draws (MUJOCO_GL={name})" if flaw is None else f"not usable: {flaw}"
        yield Finding(topic=topic, name=name, state="absent" if flaw else "ok", words=words)
    if not found:
        yield Finding(topic=topic, name="MuJoCo", state="absent", words="not installed: nothing to draw the arm with")
    elif all(found.values()):
        yield Finding(topic=topic, name="any", state="absent", words="no renderer works here",
                      fix="on Debian: libegl1 libegl-mesa0 libgl1-mesa-dri, or libosmesa6")
    builds = unity.installed()
    yield Finding(
        topic=topic, name="AI2-THOR in Unity", state="ok" if builds else "absent",
        words=", ".join(build.parent.name for build in builds) or f"no build in {unity.releases()}; the kitchens"
        " in this package need none",
        fix="" if builds or not is_installed("ai2thor") else unity.HOW_TO_GET_ONE,
    )


def _models() -> Iterator[Finding]:
    for variable in sorted({*KEY_VARIABLES.values(), *_further_keys()}):
        is_set = bool(os.environ.get(variable, "").strip())
        yield Finding(topic="keys of language models (the offline model needs none)", name=variable,
                      state="ok" if is_set else "absent", words="set" if is_set else "not set")


def _further_keys() -> set[str]:
    """Variables that hold keys of OpenAI-compatible services."""
    return {name for name, value in os.environ.items() if name.endswith("_API_KEY") and value.strip()}
