"""Foreign functions for compiled code, declared by name: libmujoco's, and the BLAS and LAPACK that numba uses.

A pointer baked into compiled code would defeat numba's cache; a name that every process
binds again does not.
"""

import ctypes
import sys
from pathlib import Path
from typing import Any, TypeAlias

import llvmlite.binding as llvm
import mujoco
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

# Access to libmujoco for what its Python package does not offer: symbols for compiled code, and its caches.


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


_PREFIX = "memento_"
_BLAS = ("dgemm", "dgemv")
_LAPACK = ("dgetrf", "dgetri", "dgesdd", "dgebd2", "dbdsqr", "dorm2r", "dorml2")


def _bind() -> None:
    """Register the names with this process's compiler."""
    llvm.load_library_permanently(str(mujoco_library()))
    for module, names in (("scipy.linalg.cython_blas", _BLAS), ("scipy.linalg.cython_lapack", _LAPACK)):
        for name in names:
            llvm.add_symbol(_PREFIX + name, get_cython_function_address(module, name))


_bind()

Ints: TypeAlias = npt.NDArray[np.int32]

_ptr = types.intp       # addresses are passed as integers
_none = types.void


def _address(_: Any, array: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(view.data, cgutils.intp_t)

    return types.intp(array), code


# address(array): the address of an array's data. The caller keeps the array alive until the foreign call has
# returned. `array.ctypes` does that automatically, but takes fifty times as long to compile.
address: Any = intrinsic(_address)


def _foreign(name: str, result: Any, *arguments: Any) -> Any:
    return types.ExternalFunction(name, result(*arguments))


mj_step1 = _foreign("mj_step1", _none, _ptr, _ptr)
mj_step2 = _foreign("mj_step2", _none, _ptr, _ptr)
mj_step = _foreign("mj_step", _none, _ptr, _ptr)
mj_kinematics = _foreign("mj_kinematics", _none, _ptr, _ptr)
mj_jacSite = _foreign("mj_jacSite", _none, _ptr, _ptr, _ptr, _ptr, types.int32)

dgemm = _foreign(_PREFIX + "dgemm", _none, *[_ptr] * 13)
dgemv = _foreign(_PREFIX + "dgemv", _none, *[_ptr] * 11)
dgetrf = _foreign(_PREFIX + "dgetrf", _none, *[_ptr] * 6)
dgetri = _foreign(_PREFIX + "dgetri", _none, *[_ptr] * 7)
dgesdd = _foreign(_PREFIX + "dgesdd", _none, *[_ptr] * 14)
dgebd2 = _foreign(_PREFIX + "dgebd2", _none, *[_ptr] * 10)
dbdsqr = _foreign(_PREFIX + "dbdsqr", _none, *[_ptr] * 15)
dorm2r = _foreign(_PREFIX + "dorm2r", _none, *[_ptr] * 12)
dorml2 = _foreign(_PREFIX + "dorml2", _none, *[_ptr] * 12)
