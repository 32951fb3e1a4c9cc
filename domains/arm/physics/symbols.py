"""Foreign functions for compiled code, declared by name: libmujoco's, and the BLAS and LAPACK that numba uses.

A pointer baked into compiled code would defeat numba's cache; a name that every process
binds again does not.
"""

from typing import Any, TypeAlias

import llvmlite.binding as llvm
import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from .library import mujoco_library

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
