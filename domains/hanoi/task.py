"""The predicates of the Tower-of-Hanoi task: geometry, container gates, stacking, success, illegal (appendix A).

All functions are vectorised over leading axes (usually time). Positions are metres in the world frame,
container quaternions are w, x, y, z. Cubes are ordered small to large, containers A, B, C. Environments
use the step-by-step counterpart, `referee.Referee`; tests check that the two agree.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

TABLE_HEIGHT_M = 0.8
CONTAINERS = ("A", "B", "C")
SOURCE, SPARE, TARGET = 0, 1, 2
CONTAINER_XY_M = ((0.0, -0.25), (0.0, 0.0), (0.0, 0.25))    # origins, before the world offset

# A container is a plate of four bars around a square hole. The gate is for a cube's centre and is
# smaller than the physical hole: in a hole of 7 cm the largest cube would tilt on the rim.
HOLE_LOCAL_M = (0.055, 0.0, 0.0)
GATE_X_M = (0.02, 0.09)
GATE_HALF_Y_M = 0.035
HOLE_EDGE_M = 0.08
BAR_WIDTH_M = 0.035
CONTAINER_THICKNESS_M = 0.01
CONTAINER_Z_M = TABLE_HEIGHT_M + CONTAINER_THICKNESS_M / 2    # origin of a container that lies on the table

STACK_HORIZONTAL_FACTOR = 1.15       # of the smaller half-edge
STACK_VERTICAL_M = 0.01
ILLEGAL_AT = 0.70                    # the larger-on-smaller score that ends an episode

# Half-edges, small to large. Four are the paper's. More cubes are added below the smallest, since the
# largest is the limit of gripper (80 mm) and hole (80 mm); with fewer, the largest are left out.
_LADDER: tuple[tuple[str, float], ...] = (
    ("xxsmall", 0.016), ("xsmall", 0.019),
    ("small", 0.022), ("medium", 0.025), ("large", 0.028), ("xlarge", 0.031),
)
_SPANS = {
    1: slice(2, 3), 2: slice(2, 4), 3: slice(2, 5), 4: slice(2, 6), 5: slice(1, 6), 6: slice(0, 6),
}
N_CUBES = tuple(_SPANS)


def cube_names(n_cubes: int) -> tuple[str, ...]:
    """The names of the cubes, small to large; ("small", "medium", "large", "xlarge") for the paper's four."""
    return tuple(name for name, _ in _LADDER[_SPANS[n_cubes]])


def cube_half_edges(n_cubes: int) -> tuple[float, ...]:
    """Half-edge lengths in metres, small to large."""
    return tuple(half_edge for _, half_edge in _LADDER[_SPANS[n_cubes]])


def tower(n_cubes: int, hole_xy: tuple[float, float]) -> list[list[float]]:
    """Cube centres [[x, y, z], …], small to large, of the legal tower on the table at `hole_xy`."""
    centres = []
    height = TABLE_HEIGHT_M
    for half_edge in reversed(cube_half_edges(n_cubes)):
        centres.append([hole_xy[0], hole_xy[1], height + half_edge])
        height += 2 * half_edge
    return centres[::-1]


def rotate(quat: Array, vector: Array) -> Array:
    """`vector` (..., 3) turned by the unit quaternion `quat` (..., 4; w, x, y, z)."""
    w, axis = quat[..., :1], quat[..., 1:]
    twice = 2.0 * np.cross(axis, vector)
    turned: Array = vector + w * twice + np.cross(axis, twice)
    return turned


def hole_centre(pos: Array, quat: Array) -> Array:
    """h(b, R_b) = b + R_b h_local, the placement centre of containers at `pos` (..., 3), `quat` (..., 4)."""
    return pos + rotate(quat, np.broadcast_to(np.asarray(HOLE_LOCAL_M), pos.shape))


def in_container_frame(cube_pos: Array, container_pos: Array, container_quat: Array) -> Array:
    """Each cube in the frame of each container.

    Shapes: (..., n, 3), (..., 3, 3), (..., 3, 4) -> (..., n, 3 containers, 3).
    """
    inverse = container_quat * np.array([1.0, -1.0, -1.0, -1.0])
    offset = cube_pos[..., :, None, :] - container_pos[..., None, :, :]
    return rotate(np.broadcast_to(inverse[..., None, :, :], (*offset.shape[:-1], 4)), offset)


def in_gate(cube_pos: Array, container_pos: Array, container_quat: Array) -> Flags:
    """in_j(c): whether the centre of cube c lies over the gate of container j; bool (..., n, 3 containers).

    The gate is planar, as in the paper: local x in [0.02, 0.09], |local y| <= 0.035, at any height.
    """
    local = in_container_frame(cube_pos, container_pos, container_quat)
    x, y = local[..., 0], local[..., 1]
    inside: Flags = (x >= GATE_X_M[0]) & (x <= GATE_X_M[1]) & (np.abs(y) <= GATE_HALF_Y_M)
    return inside


def _misfit(lower: Array, upper: Array, half_lower: float, half_upper: float) -> Array:
    """How far `upper` is from standing on `lower`, in tolerances: at most 1 means stacked."""
    horizontal = np.hypot(upper[..., 0] - lower[..., 0], upper[..., 1] - lower[..., 1])
    vertical = np.abs(upper[..., 2] - lower[..., 2] - (half_lower + half_upper))
    tolerance = STACK_HORIZONTAL_FACTOR * min(half_lower, half_upper)
    misfit: Array = np.maximum(horizontal / tolerance, vertical / STACK_VERTICAL_M)
    return misfit


def stacked(lower: Array, upper: Array, half_lower: float, half_upper: float) -> Flags:
    """stack(c1, c2): whether the cube at `upper` (..., 3) stands on the cube at `lower` (..., 3); bool (...)."""
    return _misfit(lower, upper, half_lower, half_upper) <= 1.0


def stack_score(lower: Array, upper: Array, half_lower: float, half_upper: float) -> Array:
    """σ in [0, 1], continuous: 1 for a perfect stack, ILLEGAL_AT exactly at the tolerance of `stacked`.

    The form is ILLEGAL_AT ** m², m the larger of the horizontal and the vertical error in tolerances.
    """
    score: Array = ILLEGAL_AT ** (_misfit(lower, upper, half_lower, half_upper) ** 2)
    return score


def illegal_score(cube_pos: Array, half_edges: tuple[float, ...]) -> Array:
    """U: the largest `stack_score` of a larger cube on a smaller one, 0 for one cube; cube_pos (..., n, 3) -> (...)."""
    scores = [
        stack_score(cube_pos[..., small, :], cube_pos[..., large, :], half_edges[small], half_edges[large])
        for small in range(len(half_edges)) for large in range(small + 1, len(half_edges))
    ]
    return np.asarray(np.max(scores, axis=0)) if scores else np.zeros(cube_pos.shape[:-2])


def success(
    cube_pos: Array, container_pos: Array, container_quat: Array, half_edges: tuple[float, ...],
) -> Flags:
    """σ(τ) at each time: all cubes in C, none in A or B, each stacked on the next larger one; bool (...).

    Shapes: (..., n, 3), (..., 3, 3), (..., 3, 4), n half-edges.
    """
    gate = in_gate(cube_pos, container_pos, container_quat)
    holds: Flags = gate[..., TARGET].all(axis=-1) & ~gate[..., [SOURCE, SPARE]].any(axis=(-2, -1))
    for upper in range(len(half_edges) - 1):
        lower = upper + 1
        holds &= stacked(cube_pos[..., lower, :], cube_pos[..., upper, :], half_edges[lower], half_edges[upper])
    return holds
