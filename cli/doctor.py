"""`memento doctor`: what this machine can do, in plain words, and what would mend what it cannot.

Exit code 0 where all is there that a run needs, 1 where something essential is missing. What is not
essential (a key, a renderer, a Unity build) is told and changes nothing.
"""

import json as json_text
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import typer

from .. import __version__
from ..domains.kitchen.unity import build as unity
from ..runtime.models.spec import KEY_VARIABLES
from ..runtime.rollouts import sandbox
from ..settings import usable_cpus
from . import machine

ESSENTIAL: Final = ("numpy", "mujoco", "robosuite", "numba", "ai2thor")
PYTHONS: Final = ((3, 11), (3, 12))
DISK_BYTES: Final = 1 << 30     # a long run's trajectories take some hundred MiB
MEMORY_BYTES: Final = 2 << 30   # a worker with its simulator takes about 300 MB
PROMISES: Final[Mapping[str, str]] = {
    "rlimits": "a program's memory, CPU time and open files are bounded",
    "environment": "no environment variable, such as a key, is left for it to read",
    "pdeathsig": "it dies with the process that watches it",
    "no_new_privs": "it cannot gain rights",
    "capabilities": "it has none of root's powers",
    "landlock": "it reads Python's library and numpy, nothing else, and writes nothing",
    "seccomp": "it has no network, starts no process and reaches no other",
}
MENDS: Final[Mapping[str, str]] = {
    "landlock": "needs Linux 5.13 or newer, with landlock in the boot parameter lsm= where there is one",
    "seccomp": "needs Linux on x86-64, and a container that allows seccomp",
}
LINUX_ONLY: Final = "needs Linux"

State = Literal["ok", "absent", "missing"]
MARKS: Final[Mapping[State, str]] = {"ok": "ok", "absent": "-", "missing": "MISSING"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at. "absent" is fine, "missing" is not."""

    topic: str
    name: str
    state: State
    words: str
    mend: str = ""


def examine(*, json: bool = False) -> int:
    """`memento doctor`. Says whether a key is there, never what it is. Returns the exit code."""
    findings = tuple(_findings())
    missing = [finding for finding in findings if finding.state == "missing"]
    for line in _told(findings):
        typer.echo(line, err=json)
    if json:
        told: dict[str, object] = {"fine": not missing, "findings": [asdict(finding) for finding in findings]}
        typer.echo(json_text.dumps(told))
    return 1 if missing else 0


def _told(findings: tuple[Finding, ...]) -> Iterator[str]:
    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            yield topic
        yield f"  {MARKS[finding.state]:<8} {finding.name:<18} {finding.words}"
        if finding.mend:
            yield f"  {'':<8} {'':<18} -> {finding.mend}"
    missing = [finding.name for finding in findings if finding.state == "missing"]
    yield f"something essential is missing: {', '.join(missing)}" if missing else "all that a run needs is here"


def _findings() -> Iterator[Finding]:
    yield from _software()
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
        mend="" if fits else "needs Python 3.11 or 3.12: numpy 1.26 has no wheel for others",
    )
    for package in ESSENTIAL:
        version = machine.version_of(package)
        yield Finding(
            topic=topic, name=package, state="ok" if version else "missing", words=version or "not installed",
            mend="" if version else "./memento installs what the lock file names, or: uv sync",
        )
    uv = machine.uv_version()
    yield Finding(topic=topic, name="uv", state="ok" if uv else "absent", words=uv or "none; needed to install only")


def _machine() -> Iterator[Finding]:
    topic = "machine"
    yield Finding(topic=topic, name="system", state="ok", words=f"{platform.system()} {platform.release()}, "
                  f"{platform.machine()}")
    yield Finding(topic=topic, name="processors", state="ok",
                  words=f"{usable_cpus()} usable: rollouts at once unless --workers says otherwise")
    memory = machine.memory_bytes()
    words = "cannot be told here" if memory is None else f"{memory / 2**30:.1f} GiB available"
    short = memory is not None and memory < MEMORY_BYTES
    yield Finding(topic=topic, name="memory", state="missing" if short else "ok", words=words,
                  mend="a worker takes about 0.3 GiB: free some, or run with --workers 1" if short else "")
    disk = machine.free_disk_bytes(Path(os.environ.get("MEMENTO_RUNS", "runs")))
    yield Finding(topic=topic, name="disk", state="ok" if disk >= DISK_BYTES else "missing",
                  words=f"{disk / 2**30:.1f} GiB free where runs are kept",
                  mend="" if disk >= DISK_BYTES else "free some, or keep runs elsewhere with --runs")


def _isolation() -> Iterator[Finding]:
    for name, layer in sandbox.layers().items():
        if layer.live:
            words = f"{PROMISES[name]}: {layer.found}"
            yield Finding(topic="isolation of generated programs", name=name, state="ok", words=words)
        else:
            mend = f"{MENDS.get(name, LINUX_ONLY)}; until then runs say NOT ISOLATED, --require-sandbox refuses them"
            yield Finding(topic="isolation of generated programs", name=name, state="missing", words=layer.found,
                          mend=mend)


def _pictures() -> Iterator[Finding]:
    topic = "pictures (nothing but rendering needs them)"
    found = machine.renderers()
    for name, flaw in found.items():
        words = f"draws (MUJOCO_GL={name})" if flaw is None else f"not usable: {flaw}"
        yield Finding(topic=topic, name=name, state="absent" if flaw else "ok", words=words)
    if all(found.values()):
        yield Finding(topic=topic, name="any", state="absent", words="no renderer works here",
                      mend="on Debian: libegl1 libegl-mesa0 libgl1-mesa-dri, or libosmesa6")
    builds = unity.installed()
    yield Finding(
        topic=topic, name="AI2-THOR in Unity", state="ok" if builds else "absent",
        words=", ".join(build.parent.name for build in builds) or f"no build in {unity.releases()}; the kitchens"
        " that ship need none",
        mend="" if builds else unity.HOW_TO_GET_ONE,
    )


def _models() -> Iterator[Finding]:
    for variable in sorted({*KEY_VARIABLES.values(), *_further_keys()}):
        is_set = bool(os.environ.get(variable, "").strip())
        yield Finding(topic="keys of language models (the offline model needs none)", name=variable,
                      state="ok" if is_set else "absent", words="set" if is_set else "not set")


def _further_keys() -> set[str]:
    """Names of keys of OpenAI-compatible services."""
    return {name for name, value in os.environ.items() if name.endswith("_API_KEY") and value.strip()}
