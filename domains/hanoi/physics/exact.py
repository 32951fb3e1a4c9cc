"""robosuite's operational-space torques, bit for bit: its LAPACK and BLAS calls without what surrounds them.

Follows `opspace_matrices` and `nullspace_torques` of robosuite.utils.control_utils as numba compiles them,
and the products of OperationalSpaceController.run_controller as numpy computes them. Matrices lie in flat
arrays; "by columns" says which way.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..task import Array
from .symbols import Ints, dgemm, dgemv, dgesdd, dgetrf, dgetri

DOF = 7
RCOND = 1e-15               # of numba's pinv
NULLSPACE_KP = 10           # of nullspace_torques

_LETTERS = np.frombuffer(b"NTS", dtype=np.uint8).copy()
AS_IS, TRANSPOSED, _THIN = (_LETTERS[i:] for i in range(3))
_ONE, _ZERO = np.array([1.0]), np.array([0.0])
INT = np.arange(128, dtype=np.int32)     # Fortran takes integers by address


class Workspace(NamedTuple):
    """Memory that the torque computation writes over at every substep, and LAPACK's preferred work sizes."""

    inverse: Array          # M^-1, by columns
    product: Array
    lambda_inverse: Array
    lambda_full: Array      # 6 x 6, by columns
    lambda_position: Array  # 3 x 3, by columns
    lambda_rotation: Array  # 3 x 3, by columns
    jacobian_inverse: Array
    nullspace: Array
    svd: Array
    singular: Array
    left: Array
    right: Array
    work: Array
    iwork: Ints
    pivots: Ints
    info: Ints
    sizes: Ints             # work sizes: inverse, svd of 6 x 6, svd of 3 x 3
    wrench: Array           # (6,)
    vector: Array           # (7,)
    turned: Array           # (7,)


def workspace() -> Workspace:
    """A workspace with the work sizes that numba would ask LAPACK for."""
    square = DOF * DOF
    ints = [np.zeros(n, dtype=np.int32) for n in (64, DOF, 1, 3)]
    floats = [np.zeros(square) for _ in range(12)]
    space = Workspace(
        *floats, np.zeros(8192), ints[0], ints[1], ints[2], ints[3], np.zeros(6), np.zeros(DOF), np.zeros(DOF),
    )
    ask_work_sizes(space)
    return space


@njit(cache=True)
def ask_work_sizes(w):  # type: ignore[no-untyped-def]
    """Fill in `sizes` by LAPACK's work size queries."""
    query = np.array([-1], dtype=np.int32)
    _getri(DOF, w.inverse, w, query)
    w.sizes[0] = int(w.work[0])
    for slot, n in ((1, 6), (2, 3)):
        _gesdd(n, w.svd, w, query)
        w.sizes[slot] = int(w.work[0])


@njit(cache=True)
def exact_torques(mass, jacobian, force, turn, bias, rest, w, out):  # type: ignore[no-untyped-def]
    """Joint torques (7,) into `out`.

    mass (49) by columns; jacobian (42), 6 x 7 by rows; force and turn (3,) before decoupling; bias (7,) of
    gravity and Coriolis; rest (7,) the joint acceleration that the null space is to follow.
    """
    n = INT[DOF:]
    w.inverse[:] = mass
    dgetrf(n.ctypes, n.ctypes, w.inverse.ctypes, n.ctypes, w.pivots.ctypes, w.info.ctypes)
    _getri(DOF, w.inverse, w, w.sizes[0:])
    _lambda(jacobian, 6, w, w.sizes[1:], w.lambda_full)
    _lambda(jacobian[0:], 3, w, w.sizes[2:], w.lambda_position)
    _lambda(jacobian[21:], 3, w, w.sizes[2:], w.lambda_rotation)

    # The null space matrix I - J̄ J with J̄ = M^-1 J^T Λ, by rows.
    _gemm(TRANSPOSED, jacobian, DOF, TRANSPOSED, w.inverse, DOF, 6, DOF, DOF, w.product, 6)
    _gemm(TRANSPOSED, w.lambda_full, 6, AS_IS, w.product, 6, 6, DOF, 6, w.jacobian_inverse, 6)
    _gemm(AS_IS, jacobian, DOF, AS_IS, w.jacobian_inverse, 6, DOF, DOF, 6, w.product, DOF)
    for i in range(DOF):
        for j in range(DOF):
            w.nullspace[DOF * i + j] = (1.0 if i == j else 0.0) - w.product[DOF * i + j]

    gemv(3, 3, w.lambda_position, 3, force, w.wrench)
    gemv(3, 3, w.lambda_rotation, 3, turn, w.wrench[3:])
    gemv(DOF, 6, jacobian, DOF, w.wrench, out)
    gemv(DOF, DOF, mass, DOF, rest, w.vector)
    gemv(DOF, DOF, w.nullspace, DOF, w.vector, w.turned)
    for i in range(DOF):
        out[i] = out[i] + bias[i]
        out[i] = out[i] + w.turned[i]


@njit(inline="always")
def _lambda(rows, m, w, work_size, out):  # type: ignore[no-untyped-def]
    """Λ = pinv(R M^-1 R^T) of the first m rows of a Jacobian."""
    _gemm(TRANSPOSED, w.inverse, DOF, AS_IS, rows, DOF, DOF, m, DOF, w.product, DOF)
    _gemm(TRANSPOSED, rows, DOF, AS_IS, w.product, DOF, m, m, DOF, w.lambda_inverse, m)
    for i in range(m):
        for j in range(m):
            w.svd[m * j + i] = w.lambda_inverse[m * i + j]
    _gesdd(m, w.svd, w, work_size)
    s, vt = w.singular, w.right
    cut_at = s[0] * RCOND
    rank = 0
    for k in range(m):
        if s[k] > cut_at:
            s[k] = 1.0 / s[k]
            rank = k
    rank += 1
    for i in range(m):
        for j in range(rank):
            vt[m * i + j] = vt[m * i + j] * s[j]
    _gemm(TRANSPOSED, vt, m, TRANSPOSED, w.left, m, m, m, rank, out, m)


@njit(inline="always")
def _gemm(ta, a, lda, tb, b, ldb, m, n, k, out, ldc):  # type: ignore[no-untyped-def]
    """out = op(a) op(b), (m, k) times (k, n), in Fortran's view of the memory."""
    dgemm(ta.ctypes, tb.ctypes, INT[m:].ctypes, INT[n:].ctypes, INT[k:].ctypes, _ONE.ctypes, a.ctypes,
          INT[lda:].ctypes, b.ctypes, INT[ldb:].ctypes, _ZERO.ctypes, out.ctypes, INT[ldc:].ctypes)


@njit(inline="always")
def gemv(m, n, a, lda, x, out):  # type: ignore[no-untyped-def]
    """out = a x, a (m, n) in Fortran's view of the memory."""
    dgemv(AS_IS.ctypes, INT[m:].ctypes, INT[n:].ctypes, _ONE.ctypes, a.ctypes, INT[lda:].ctypes, x.ctypes,
          INT[1:].ctypes, _ZERO.ctypes, out.ctypes, INT[1:].ctypes)


@njit(inline="always")
def gemv_rows(rows, columns, a, x, out):  # type: ignore[no-untyped-def]
    """out = a x, a (rows, columns) stored by rows."""
    dgemv(TRANSPOSED.ctypes, INT[columns:].ctypes, INT[rows:].ctypes, _ONE.ctypes, a.ctypes,
          INT[columns:].ctypes, x.ctypes, INT[1:].ctypes, _ZERO.ctypes, out.ctypes, INT[1:].ctypes)


@njit(inline="always")
def gemm_rows(n, a, b, out):  # type: ignore[no-untyped-def]
    """out = a b, all (n, n) stored by rows."""
    _gemm(AS_IS, b, n, AS_IS, a, n, n, n, n, out, n)


@njit(inline="always")
def _getri(n, a, w, work_size):  # type: ignore[no-untyped-def]
    dgetri(INT[n:].ctypes, a.ctypes, INT[n:].ctypes, w.pivots.ctypes, w.work.ctypes, work_size.ctypes,
           w.info.ctypes)


@njit(inline="always")
def _gesdd(n, a, w, work_size):  # type: ignore[no-untyped-def]
    size = INT[n:]
    dgesdd(_THIN.ctypes, size.ctypes, size.ctypes, a.ctypes, size.ctypes, w.singular.ctypes, w.left.ctypes,
           size.ctypes, w.right.ctypes, size.ctypes, w.work.ctypes, work_size.ctypes, w.iwork.ctypes,
           w.info.ctypes)
