"""Access to libmujoco for what its Python package does not offer: symbols for compiled code, and its caches."""

import ctypes
import sys
from pathlib import Path

import mujoco


def mujoco_library() -> Path:
    """The path of the libmujoco that the Python package has loaded."""
    folder = Path(mujoco.__file__).parent
    pattern = {"darwin": "libmujoco*.dylib", "win32": "mujoco.dll"}.get(sys.platform, "libmujoco.so*")
    return next(iter(sorted(folder.glob(pattern))))


def forget_compilation() -> None:
    """Free MuJoCo's caches of compiled models: the last XML, and decoded meshes and textures.

    For a robosuite scene they are larger than the scene itself. Existing models stay valid; the next one
    takes as long to compile as the first.
    """
    library = ctypes.CDLL(str(mujoco_library()))
    library.mj_freeLastXML()
    if hasattr(library, "mj_getCache"):     # missing in some supported versions
        library.mj_getCache.restype = ctypes.c_void_p
        library.mj_clearCache.argtypes = [ctypes.c_void_p]
        library.mj_clearCache(library.mj_getCache())
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:    # glibc: return free memory to the system
        trim(0)
