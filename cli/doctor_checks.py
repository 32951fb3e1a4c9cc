"""The checks of `memento doctor`: software, machine, isolation, renderers and keys, each with a fix if it fails."""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Final, Literal

from ..core.extras import EXTRAS, install_command, is_installed, missing_modules, replaced_packages, replaced_words
from ..core.version import __version__
from ..domains.kitchen.unity import build as unity
from ..models.providers import KEY_VARIABLES
from ..runtime.rollouts import sandbox
from ..settings import usable_cpus

# Read-only checks of this machine for `memento doctor`: versions, memory, disk, renderers.


RENDER_S: Final = 60.0      # for one renderer to draw one picture, on a loaded machine
UV_S: Final = 10.0

_DRAW: Final = """
import mujoco
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><light pos='0 0 3'/><geom size='.1'/></worldbody></mujoco>")
renderer = mujoco.Renderer(model, 32, 32)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderer.update_scene(data)
assert renderer.render().shape == (32, 32, 3)
"""


def version_of(package: str) -> str | None:
    """The installed version; None if it is not installed."""
    try:
        return package_version(package)
    except PackageNotFoundError:
        return None


def uv_version() -> str | None:
    """The version of uv in the PATH or in the launcher's folder; None if it is not installed."""
    private = Path(__file__).resolve().parent.parent / ".uv" / "bin" / "uv"
    for command in (shutil.which("uv"), str(private)):
        if command is None:
            continue
        try:
            printed = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=UV_S, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return printed.stdout.strip().removeprefix("uv ")
    return None


def memory_bytes() -> int | None:
    """Memory available to programs, within the limit of this container; None if it cannot be read."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError):
            return None
    available = next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), None)
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):   # no such file, or "max"
        return available
    return limit if available is None else min(limit, available)


def free_disk_bytes(folder: Path) -> int:
    """Free bytes on the disk of the folder, which need not exist yet."""
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def renderers() -> dict[str, str | None]:
    """MuJoCo's renderers on this platform: None for one that drew a picture, else the reason why it failed.

    Each is tried in a separate process, since a broken renderer may crash its process.
    """
    names = ["egl", "osmesa"] if sys.platform == "linux" else ["cgl" if sys.platform == "darwin" else "wgl"]
    if os.environ.get("DISPLAY"):
        names.append("glfw")
    tried = {name: _drawing(name) for name in names}
    return {name: _drawing_problem(process) for name, process in tried.items()}


def _drawing(name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _DRAW], env={**os.environ, "MUJOCO_GL": name}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )


def _drawing_problem(process: "subprocess.Popen[str]") -> str | None:
    try:
        _, printed = process.communicate(timeout=RENDER_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"it did not draw within {RENDER_S:g} s"
    if process.returncode == 0:
        return None
    lines = [line for line in printed.splitlines() if line.strip() and not line.startswith(" ")]
    return lines[-1].strip()[:200] if lines else f"it ended with code {process.returncode}"


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
class Diagnosis:
    """The result of one check. "absent" is fine, "missing" is not."""

    topic: str
    name: str
    state: State
    words: str
    fix: str = ""


def examine() -> Iterator[Diagnosis]:
    """Every finding, by topic. A key is reported as set or not, never its value."""
    yield from _software()
    yield from _extras()
    yield from _machine()
    yield from _isolation()
    yield from _pictures()
    yield from _models()


def _software() -> Iterator[Diagnosis]:
    topic = "software"
    yield Diagnosis(topic=topic, name="memento", state="ok", words=__version__)
    fits = sys.version_info[:2] in PYTHONS
    yield Diagnosis(
        topic=topic, name="Python", state="ok" if fits else "missing", words=platform.python_version(),
        fix="" if fits else "needs Python 3.11 or 3.12: numpy 1.26 has no wheel for others",
    )
    numpy = version_of("numpy")
    yield Diagnosis(
        topic=topic, name="numpy", state="ok" if numpy else "missing", words=numpy or "not installed",
        fix="" if numpy else "run ./memento in a checkout, or install the wheel again",
    )
    for package, (locked, here) in replaced_packages().items():
        yield Diagnosis(topic=topic, name=package, state="missing", words=f"{here}, locked {locked}",
                      fix=replaced_words(package, locked, here))
    uv = uv_version()
    yield Diagnosis(topic=topic, name="uv", state="ok" if uv else "absent",
                  words=uv or "not installed; needed for installation only")


def _extras() -> Iterator[Diagnosis]:
    for name, extra in EXTRAS.items():
        missing = missing_modules(name)
        words = f"not installed: {', '.join(missing)}" if missing else _versions(extra.modules)
        yield Diagnosis(
            topic="extras (each is needed for one thing only)", name=name, state="absent" if missing else "ok",
            words=f"{extra.gives}: {words}", fix=install_command(name) if missing else "",
        )


def _versions(modules: Sequence[str]) -> str:
    found = packages_distributions()
    names = (next(iter(found.get(module, ())), module) for module in modules)
    return ", ".join(f"{name} {version_of(name) or ''}".rstrip() for name in names)


def _machine() -> Iterator[Diagnosis]:
    topic = "machine"
    yield Diagnosis(topic=topic, name="system", state="ok", words=f"{platform.system()} {platform.release()}, "
                  f"{platform.machine()}")
    yield Diagnosis(topic=topic, name="processors", state="ok",
                  words=f"{usable_cpus()} usable: the number of parallel rollouts without --workers")
    memory = memory_bytes()
    words = "cannot be read on this system" if memory is None else f"{memory / 2**30:.1f} GiB available"
    short = memory is not None and memory < MEMORY_BYTES
    yield Diagnosis(topic=topic, name="memory", state="missing" if short else "ok", words=words,
                  fix="a worker takes about 0.3 GiB: free some memory, or run with --workers 1" if short else "")
    disk = free_disk_bytes(Path(os.environ.get("MEMENTO_RUNS", "runs")))
    yield Diagnosis(topic=topic, name="disk", state="ok" if disk >= DISK_BYTES else "missing",
                  words=f"{disk / 2**30:.1f} GiB free in the folder of runs",
                  fix="" if disk >= DISK_BYTES else "free some disk space, or keep runs elsewhere with --runs")


def _isolation() -> Iterator[Diagnosis]:
    for name, layer in sandbox.layers().items():
        if layer.live:
            words = f"{PROMISES[name]}: {layer.found}"
            yield Diagnosis(topic="isolation of generated programs", name=name, state="ok", words=words)
        else:
            fix = f"{FIXES.get(name, LINUX_ONLY)}; until then runs are NOT ISOLATED, and --require-sandbox refuses them"
            yield Diagnosis(topic="isolation of generated programs", name=name, state="missing", words=layer.found,
                          fix=fix)


def _pictures() -> Iterator[Diagnosis]:
    topic = "pictures (needed for rendering only)"
    found = renderers() if is_installed("mujoco") else {}
    for name, flaw in found.items():
        words = f"draws (MUJOCO_GL={name})" if flaw is None else f"not usable: {flaw}"
        yield Diagnosis(topic=topic, name=name, state="absent" if flaw else "ok", words=words)
    if not found:
        yield Diagnosis(topic=topic, name="MuJoCo", state="absent", words="not installed: nothing to draw the arm with")
    elif all(found.values()):
        yield Diagnosis(topic=topic, name="any", state="absent", words="no renderer works here",
                      fix="on Debian: libegl1 libegl-mesa0 libgl1-mesa-dri, or libosmesa6")
    builds = unity.installed()
    yield Diagnosis(
        topic=topic, name="AI2-THOR in Unity", state="ok" if builds else "absent",
        words=", ".join(build.parent.name for build in builds) or f"no build in {unity.releases()}; the kitchens"
        " in this package need none",
        fix="" if builds or not is_installed("ai2thor") else unity.HOW_TO_GET_ONE,
    )


def _models() -> Iterator[Diagnosis]:
    for variable in sorted({*KEY_VARIABLES, *_further_keys()}):
        is_set = bool(os.environ.get(variable, "").strip())
        yield Diagnosis(topic="keys of language models (the offline model needs none)", name=variable,
                      state="ok" if is_set else "absent", words="set" if is_set else "not set")


def _further_keys() -> set[str]:
    """Variables that hold keys of OpenAI-compatible services."""
    return {name for name, value in os.environ.items() if name.endswith("_API_KEY") and value.strip()}
