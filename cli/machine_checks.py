"""Read-only checks of this machine for `memento doctor`: versions, memory, disk, renderers."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Final

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
    return {name: _drawn(process) for name, process in tried.items()}


def _drawing(name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _DRAW], env={**os.environ, "MUJOCO_GL": name}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )


def _drawn(process: "subprocess.Popen[str]") -> str | None:
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
