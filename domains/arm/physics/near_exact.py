"""The same torques by cheaper arithmetic: Cholesky factors instead of singular values and inverses."""

import numpy as np
from numba import njit

DOF = 7
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
    if not _cholesky(factor, DOF):
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
    if not (_cholesky(full, 6) and _cholesky(upper, 3) and _cholesky(lower, 3)):
        return False
    wrench, task = np.empty(6), np.empty(6)
    for i in range(3):
        wrench[i], wrench[3 + i] = force[i], turn[i]
    _solve(upper, wrench[0:3], 3)
    _solve(lower, wrench[3:6], 3)
    for i in range(6):
        total = 0.0
        for k in range(DOF):
            total += jacobian[DOF * i + k] * rest[k]
        task[i] = total
    _solve(full, task, 6)
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
