"""libmujoco itself, for what its Python package does not offer: by name in compiled code, and its memory."""

import ctypes
import sys
from pathlib import Path

import mujoco


def mujoco_library() -> Path:
    """The libmujoco that the Python package has loaded."""
    folder = Path(mujoco.__file__).parent
    pattern = {"darwin": "libmujoco*.dylib", "win32": "mujoco.dll"}.get(sys.platform, "libmujoco.so*")
    return next(iter(sorted(folder.glob(pattern))))


def forget_compilation() -> None:
    """Give back what MuJoCo keeps of the models that it compiled: the last XML, and decoded meshes and textures.

    Of a robosuite scene that is more than the scene itself. A model that exists is not touched; the next one
    takes as long to compile as the first.
    """
    library = ctypes.CDLL(str(mujoco_library()))
    library.mj_freeLastXML()
    if hasattr(library, "mj_getCache"):     # not in every version that is supported
        library.mj_getCache.restype = ctypes.c_void_p
        library.mj_clearCache.argtypes = [ctypes.c_void_p]
        library.mj_clearCache(library.mj_getCache())
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:    # of glibc: what is free goes back to the system
        trim(0)
