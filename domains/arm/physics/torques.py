"""robosuite's operational-space torques, bit for bit: the same LAPACK and BLAS calls without the overhead. And the
same torques by cheaper arithmetic: Cholesky factors instead of singular values and inverses.

Follows `opspace_matrices` and `nullspace_torques` of robosuite.utils.control_utils as numba compiles them,
and the products of OperationalSpaceController.run_controller as numpy computes them.

All matrices are flat arrays, by rows unless marked "by columns". Foreign functions get addresses, so all
their arguments live in a Workspace, which outlives every call.

Sizes are passed as np.int64(3): numba compiles a function again for every plain constant that it is called with, which
took a quarter of the time of the first use.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from ..arrays import Array
from .symbols import Ints, address, dbdsqr, dgebd2, dgemm, dgemv, dgesdd, dgetrf, dgetri, dorm2r, dorml2

DOF = 7
RCOND = 1e-15               # of numba's pinv
NULLSPACE_KP = 10           # of nullspace_torques


class Workspace(NamedTuple):
    """Memory that every substep overwrites, and the constants that Fortran takes by address."""

    inverse: Array          # M^-1, by columns
    product: Array
    lambda_inverse: Array
    lambdas: Array          # Λ full, of position, of rotation: (3, 36), each by columns
    jacobian_inverse: Array
    nullspace: Array
    svd: Array
    singular: Array
    left: Array
    right: Array
    work: Array
    scratch: Ints
    sizes: Ints             # LAPACK's preferred work sizes: inverse, svd of 6 x 6, svd of 3 x 3
    wrench: Array           # (6,)
    pose_torques: Array     # (7,)
    null_torques: Array     # (7,)
    integers: Ints          # 0, 1, 2, …
    numbers: Array          # 0.0, 1.0
    letters: Ints           # "N", "T", "S", "U", "L", "R" as little-endian integers
    short: Ints             # (1,) whether the short singular value path matches dgesdd bit for bit here


def workspace(nv: int) -> Workspace:
    """A workspace for a model of `nv` degrees of freedom, with the work sizes that numba queries from LAPACK."""

    def floats(n: int) -> Array:
        return np.zeros(n)

    square = DOF * DOF
    space = Workspace(
        inverse=floats(square), product=floats(square), lambda_inverse=floats(36), lambdas=floats(3 * 36),
        jacobian_inverse=floats(square), nullspace=floats(square), svd=floats(36), singular=floats(6),
        left=floats(36), right=floats(36), work=floats(8192), scratch=np.zeros(128, dtype=np.int32),
        sizes=np.full(3, -1, dtype=np.int32), wrench=floats(6), pose_torques=floats(DOF),
        null_torques=floats(DOF), integers=np.arange(max(nv, DOF) + 1, dtype=np.int32),
        numbers=np.array([0.0, 1.0]), letters=np.array([ord(c) for c in "NTSULR"], dtype=np.int32),
        short=np.zeros(1, dtype=np.int32),
    )
    space.inverse[:: DOF + 1] = 1.0
    for slot in range(3):
        query_work_size(space, slot)
        space.sizes[slot] = int(space.work[0])
    space.short[0] = all(_short_way_agrees(space, n, case) for n in (3, 6) for case in range(25))
    return space


def _short_way_agrees(space: Workspace, n: int, case: int) -> bool:
    half = np.random.default_rng(case).standard_normal((n, n)) * 10.0 ** np.arange(-2, n - 2)
    results = []
    for short in (0, 1):
        space.short[0] = short
        space.svd[: n * n] = (half @ half.T).reshape(-1)
        decompose(space, n)
        results.append([part[:count].tobytes() for part, count in (
            (space.singular, n), (space.left, n * n), (space.right, n * n))])
    return results[0] == results[1]


@njit(cache=True)
def query_work_size(w, slot):
    """Leave LAPACK's preferred work size for `slot` in w.work[0]; the slot's size must be -1, a query."""
    size = address(w.sizes) + 4 * slot
    if slot == 0:
        _getri(w, size)
    else:
        _gesdd(w, _int(w, 6 if slot == 1 else 3), size)


@njit(cache=True)
def exact_torques(mass, jacobian, force, turn, bias, rest, w, out):
    """Joint torques (7,) into `out`.

    mass (49) by columns; jacobian (42) of 6 rows; force and turn (3,) before decoupling; bias (7,) of
    gravity and Coriolis forces; rest (7,) the joint acceleration that the null space follows.
    """
    as_is, transposed = address(w.letters), address(w.letters) + 4
    six, seven, three = _int(w, 6), _int(w, DOF), _int(w, 3)
    j, inverse, product = address(jacobian), address(w.inverse), address(w.product)
    for i in range(DOF * DOF):
        w.inverse[i] = mass[i]
    dgetrf(seven, seven, inverse, seven, address(w.scratch), address(w.scratch) + 4 * 64)
    _getri(w, address(w.sizes))
    _lambda(w, j, np.int64(6), np.int64(0))
    _lambda(w, j, np.int64(3), np.int64(1))
    _lambda(w, j + 8 * 3 * DOF, np.int64(3), np.int64(2))

    # The null space matrix I - J̄ J with J̄ = M^-1 J^T Λ.
    lambdas, bar = address(w.lambdas), address(w.jacobian_inverse)
    gemm(w, transposed, transposed, six, seven, seven, j, seven, inverse, seven, product, six)
    gemm(w, transposed, as_is, six, seven, six, lambdas, six, product, six, bar, six)
    gemm(w, as_is, as_is, seven, seven, six, j, seven, bar, six, product, seven)
    for i in range(DOF):
        for k in range(DOF):
            w.nullspace[DOF * i + k] = (1.0 if i == k else 0.0) - w.product[DOF * i + k]

    wrench, pose_torques = address(w.wrench), address(w.pose_torques)
    gemv(w, as_is, three, three, lambdas + 8 * 36, address(force), wrench)
    gemv(w, as_is, three, three, lambdas + 8 * 72, address(turn), wrench + 8 * 3)
    gemv(w, as_is, seven, six, j, wrench, address(out))
    gemv(w, as_is, seven, seven, address(mass), address(rest), pose_torques)
    gemv(w, as_is, seven, seven, address(w.nullspace), pose_torques, address(w.null_torques))
    for i in range(DOF):
        out[i] = out[i] + bias[i]
        out[i] = out[i] + w.null_torques[i]


@njit
def _lambda(w, rows, m, slot):
    """Λ = pinv(R M^-1 R^T), R the m rows of the Jacobian at this address, into slot 0, 1 or 2 of w.lambdas."""
    as_is, transposed = address(w.letters), address(w.letters) + 4
    size, seven, product = _int(w, m), _int(w, DOF), address(w.product)
    gemm(w, transposed, as_is, seven, size, seven, address(w.inverse), seven, rows, seven, product, seven)
    gemm(w, transposed, as_is, size, size, seven, rows, seven, product, seven, address(w.lambda_inverse), size)
    for i in range(m):
        for j in range(m):
            w.svd[m * j + i] = w.lambda_inverse[m * i + j]
    decompose(w, m)
    cut_at = w.singular[0] * RCOND
    rank = 0
    for k in range(m):
        if w.singular[k] > cut_at:
            w.singular[k] = 1.0 / w.singular[k]
            rank = k
    rank += 1
    for i in range(m):
        for j in range(rank):
            w.right[m * i + j] = w.right[m * i + j] * w.singular[j]
    gemm(w, transposed, transposed, size, size, _int(w, rank), address(w.right), size, address(w.left), size,
         address(w.lambdas) + 8 * 36 * slot, size)


@njit(inline="always")
def _int(w, value):
    """The address of a small integer."""
    return address(w.integers) + 4 * value


@njit
def gemm(w, ta, tb, m, n, k, a, lda, b, ldb, out, ldc):
    """out = op(a) op(b), (m, k) times (k, n), in Fortran's view of the memory. All arguments are addresses."""
    zero = address(w.numbers)
    dgemm(ta, tb, m, n, k, zero + 8, a, lda, b, ldb, zero, out, ldc)


@njit
def gemv(w, trans, m, n, a, x, out):
    """out = op(a) x, a (m, n) in Fortran's view of the memory. All arguments are addresses."""
    zero, one = address(w.numbers), address(w.integers) + 4
    dgemv(trans, m, n, zero + 8, a, m, x, one, zero, out, one)


@njit
def multiply(w, n, a, b, out):
    """out = a b, all (n, n) by rows."""
    as_is, size = address(w.letters), address(w.integers) + 4 * n
    gemm(w, as_is, as_is, size, size, size, address(b), size, address(a), size, address(out), size)


@njit
def apply(w, rows, columns, a, x, out):
    """out = a x, a (rows, columns) by rows; a, x and out are addresses."""
    integers = address(w.integers)
    gemv(w, address(w.letters) + 4, integers + 4 * columns, integers + 4 * rows, a, x, out)


@njit
def _getri(w, work_size):
    seven, scratch = _int(w, DOF), address(w.scratch)
    dgetri(seven, address(w.inverse), seven, scratch, address(w.work), work_size, scratch + 4 * 64)


@njit(cache=True)
def decompose(w, n):
    """Singular values and vectors of the (n, n) matrix in w.svd, n 3 or 6, as dgesdd finds them."""
    if w.short[0]:
        _short_way(w, n)
    else:
        _gesdd(w, _int(w, n), address(w.sizes) + (4 if n == 6 else 8))


@njit
def _gesdd(w, size, work_size):
    scratch = address(w.scratch)
    dgesdd(address(w.letters) + 8, size, size, address(w.svd), size, address(w.singular), address(w.left), size,
           address(w.right), size, address(w.work), work_size, scratch, scratch + 4 * 64)


@njit
def _short_way(w, n):
    """The steps of dgesdd for a small square matrix, without its queries and checks."""
    size, less, none, letters = _int(w, n), _int(w, n - 1), _int(w, 0), address(w.letters)
    svd, s, u, vt = address(w.svd), address(w.singular), address(w.left), address(w.right)
    work, info = address(w.work), address(w.scratch) + 4 * 64
    off_diagonal, tau_q, tau_p, rest = work, work + 8 * 8, work + 8 * 16, work + 8 * 24
    dgebd2(size, size, svd, size, s, off_diagonal, tau_q, tau_p, rest, info)
    for i in range(n * n):
        w.left[i] = w.right[i] = 1.0 if i % (n + 1) == 0 else 0.0
    dbdsqr(letters + 12, size, size, size, none, s, off_diagonal, vt, size, u, size, u, size, rest, info)
    dorm2r(letters + 16, letters, size, size, size, svd, size, tau_q, u, size, rest, info)
    dorml2(letters + 20, letters, size, less, less, svd + 8 * n, size, tau_p, vt + 8 * n, size, rest, info)


# A factor whose squared pivot is below this share of the largest is nearly singular: use the exact way. At this
# share the relative rounding error of the solution is about 1e-10.
PIVOT_FLOOR = 1e-6


@njit(cache=True)
def near_exact_torques(mass, jacobian, force, turn, bias, rest, out):
    """Joint torques (7,) into `out`, as `exact_torques`; False where a matrix is nearly singular.

    With M = L L^T and A = L^-1 J^T, the inverse of Λ is A^T A, and the null space torque is
    M q̈ - J^T Λ J q̈, so neither M^-1 nor Λ itself is needed.
    """
    factor, a = np.empty((DOF, DOF)), np.empty((DOF, 6))
    for i in range(DOF):
        for j in range(DOF):
            factor[i, j] = mass[DOF * i + j]
    if not _cholesky(factor, np.int64(DOF)):
        return False
    for j in range(6):
        for i in range(DOF):
            total = jacobian[DOF * j + i]
            for k in range(i):
                total -= factor[i, k] * a[k, j]
            a[i, j] = total / factor[i, i]
    full, upper, lower = np.empty((6, 6)), np.empty((3, 3)), np.empty((3, 3))
    for i in range(6):
        for j in range(i + 1):
            total = 0.0
            for k in range(DOF):
                total += a[k, i] * a[k, j]
            full[i, j] = total
            if i < 3:
                upper[i, j] = total
            elif j >= 3:
                lower[i - 3, j - 3] = total
    if not (_cholesky(full, np.int64(6)) and _cholesky(upper, np.int64(3)) and _cholesky(lower, np.int64(3))):
        return False
    wrench, task = np.empty(6), np.empty(6)
    for i in range(3):
        wrench[i], wrench[3 + i] = force[i], turn[i]
    _solve(upper, wrench[0:3], np.int64(3))
    _solve(lower, wrench[3:6], np.int64(3))
    for i in range(6):
        total = 0.0
        for k in range(DOF):
            total += jacobian[DOF * i + k] * rest[k]
        task[i] = total
    _solve(full, task, np.int64(6))
    for i in range(DOF):
        total = bias[i]
        for k in range(DOF):
            total += mass[DOF * i + k] * rest[k]
        for k in range(6):
            total += jacobian[DOF * k + i] * (wrench[k] - task[k])
        out[i] = total
    return True


@njit
def _cholesky(a, n):
    """Factor the lower triangle in place; False where a pivot is too small."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, a[i, i])
    for j in range(n):
        pivot = a[j, j]
        for k in range(j):
            pivot -= a[j, k] * a[j, k]
        if not pivot > PIVOT_FLOOR * largest:
            return False
        pivot = np.sqrt(pivot)
        a[j, j] = pivot
        for i in range(j + 1, n):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            a[i, j] = total / pivot
    return True


@njit
def _solve(factor, x, n):
    """x = (L L^T)^-1 x in place."""
    for i in range(n):
        for k in range(i):
            x[i] -= factor[i, k] * x[k]
        x[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= factor[k, i] * x[k]
        x[i] /= factor[i, i]
