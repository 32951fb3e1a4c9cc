"""Which environment variables simulators get: the same for the look at an environment, workers, pictures, a cluster.

Keys and passwords are never among them. What is passed beyond the default is named by `--env NAME`, the setting `env`
or MEMENTO_ENV, and is recorded by name alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from .errors import UsageError

VARIABLE: Final = "MEMENTO_ENV"     # names, separated by commas
_NAMES: Final = frozenset({
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "TZ", "TMPDIR",
    "LD_LIBRARY_PATH", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "VIRTUAL_ENV",
    "PYTHONPATH", "SSL_CERT_FILE", "WAYLAND_DISPLAY",
    "EGL_PLATFORM", "EGL_LOG_LEVEL", "PYOPENGL_PLATFORM", "QT_QPA_PLATFORM", "SDL_VIDEODRIVER", "SDL_AUDIODRIVER",
    "MPLBACKEND", "PYVISTA_OFF_SCREEN", "CYCLONEDDS_URI", "HF_HOME", "HF_HUB_OFFLINE", "HF_DATASETS_CACHE",
    "__GLX_VENDOR_LIBRARY_NAME", "__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS",
    "__EGL_EXTERNAL_PLATFORM_CONFIG_DIRS", "__GL_SHADER_DISK_CACHE", "__GL_SHADER_DISK_CACHE_PATH",
    "__NV_PRIME_RENDER_OFFLOAD", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
    "AI2THOR_VISIBILITY_DISTANCE", "WEBOTS_HOME", "COPPELIASIM_ROOT", "COPPELIASIM_ROOT_DIR", "VREP_ROOT",
    "MS_ASSET_DIR", "MS2_ASSET_DIR", "LIBERO_CONFIG_PATH", "ISAAC_PATH", "EXP_PATH", "PX4_HOME_LAT", "PX4_HOME_LON",
})
_PREFIXES: Final = (     # of simulators and what they draw and compute with
    "MUJOCO_", "MJLIB_", "MJKEY_PATH", "LIBGL_", "GALLIUM_", "MESA_", "VK_", "CUDA_", "NUMBA_", "XLA_", "JAX_",
    "TF_CPP_", "TORCH_", "WARP_", "SUMO_", "CARLA_", "ROS_", "GZ_", "IGN_", "GAZEBO_", "AMENT_", "COLCON_", "RMW_",
    "FASTRTPS_", "AIRSIM_", "SAPIEN_", "HABITAT_", "MAGNUM_", "OMNI_", "ISAACSIM_", "UNITY_", "ROBOSUITE_", "D4RL_",
    "MINARI_", "GYM_", "GYMNASIUM_", "PYBULLET_", "DRAKE_", "WEBOTS_", "FLIGHTMARE_", "METADRIVE_", "NUPLAN_",
    "PYGLET_",
)
_SECRET_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_NOT_SECRET: Final = frozenset({"MJKEY_PATH", "MUJOCO_PY_MJKEY_PATH"})     # where an old licence's file is
_WITH_PASSWORD: Final = re.compile(r"[A-Za-z][\w+.-]*://[^/\s@]*:[^/\s@]+@")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NO_DISPLAY: Final = re.compile(
    r"NoSuchDisplay|OpenGL platform library|[Cc]annot connect to (\"|'|X|the X|display)|X11: The DISPLAY|"
    r"no display name|[Ff]ailed to (open|initialize) (X )?(display|EGL|GLFW|GLX|OSMesa|OpenGL)|gladLoadGL|GLFWError|"
    r"libE?GL\.so|OSMesa.*not|No available video device|EGL.*not (be )?initiali[sz]ed|eglQueryString"
)
SHORTEST_SECRET: Final = 8     # characters; a shorter value may be any word
_also: set[str] = set()


def pass_also(names: Iterable[str], *, origin: str = "env") -> None:
    """Pass these variables, too, from now on in this process and to its workers.

    Raises UsageError for what is never passed.
    """
    for name in names:
        if not _NAME.fullmatch(name):
            raise UsageError(f"{origin}: {name!r:.80} is no name of a variable; give names, without values")
        if _is_secret(name):
            raise UsageError(
                f"{origin}: {name} is never passed to a simulator, since names with {', '.join(_SECRET_WORDS[:-1])} or "
                f"{_SECRET_WORDS[-1]} hold secrets: give it another name"
            )
        _also.add(name)


@contextmanager
def nothing_more_passed() -> Iterator[None]:
    """Whatever the block adds to what is passed goes at its end: for a process that checks the settings of others."""
    before = frozenset(_also)
    try:
        yield
    finally:
        _also.intersection_update(before)


def passed_also(given: Mapping[str, str]) -> frozenset[str]:
    """The names that are passed beyond the default."""
    return frozenset(_also) | {name.strip() for name in given.get(VARIABLE, "").split(",") if name.strip()}


def passed_variables(given: Mapping[str, str]) -> dict[str, str]:
    """What simulators get of these variables: no key, no password."""
    also = passed_also(given)
    return {
        name: value for name, value in given.items()
        if (name in _NAMES or name in also or (name.startswith(_PREFIXES) and not name.endswith("_URL")))
        and not _is_secret(name) and not _WITH_PASSWORD.search(value)
    }


def _is_secret(name: str) -> bool:
    return name not in _NOT_SECRET and any(word in name.upper() for word in _SECRET_WORDS)


def secrets_in(given: Mapping[str, str]) -> tuple[str, ...]:
    """The values of these variables that must be in no message and no record, the longest first."""
    found = {value for name, value in given.items() if _is_secret(name) and len(value) >= SHORTEST_SECRET}
    return tuple(sorted(found, key=len, reverse=True))


def hint(said: str, given: Mapping[str, str]) -> str:
    """Words for a simulator's error on a missing display, or a variable that is not passed; "" for neither."""
    if _NO_DISPLAY.search(said) and "xvfb" not in said:
        return (" (nothing can be drawn here: without a display try MUJOCO_GL=egl PYOPENGL_PLATFORM=egl before the"
                " command, or osmesa for both, or xvfb-run -a memento …; memento doctor tries the renderers)")
    kept = passed_variables(given)
    named = [name for name in dict.fromkeys(re.findall(r"\b[A-Z][A-Z0-9_]{3,}\b", said))
             if name in given and name not in kept and not _is_secret(name)]
    if not named:
        return ""
    return f" ({named[0]} is set here, but not passed to simulators: add --env {named[0]})"


# The same arithmetic on every processor, as far as an environment variable can choose it.

_NEEDED: Final = frozenset({"avx2", "fma"})     # by OpenBLAS's kernels for Haswell, which newer processors run too


@cache
def common_kernels() -> Mapping[str, str]:
    """Variables that make every OpenBLAS of a process use the same kernels; none on processors without them.

    numpy and scipy each bring an OpenBLAS, and the newer one has kernels for newer processors, whose last bits differ.
    robosuite calls numpy's, the compiled physics scipy's. To be set before either is loaded.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    return {"OPENBLAS_CORETYPE": "Haswell"} if {*flags} >= _NEEDED else {}
