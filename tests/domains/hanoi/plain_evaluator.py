"""A second implementation of the reference evaluator's fitness, in plain Python: slow, easy to check with the paper."""

from math import dist, exp, hypot

TABLE = 0.8


def fitness(arrays):
    """(f_e, rows of phase scores) of one episode."""
    rows = [phases(arrays, t) for t in range(len(arrays["eef_pos"]))]
    composites = [composite(arrays, t, rows[t]) for t in range(len(rows))]
    counted = composites[1:] or composites
    value = 0.45 * sum(counted) / len(counted) + 0.45 * max(counted) + 0.10 * rows[-1]["R"]
    if any(arrays["success"]):
        return 1.0, rows
    return min(1.0, max(0.0, value)), rows


def phases(arrays, t):
    cubes, half = arrays["cube_pos"][t].tolist(), arrays["cube_size"].tolist()
    n = len(half)
    eef = arrays["eef_pos"][t].tolist()
    target = hole(arrays, t, 2)
    lift = [clip((cubes[c][2] - (TABLE + half[c])) / 0.08) for c in range(n)]
    planar = [hypot(cubes[c][0] - target[0], cubes[c][1] - target[1]) for c in range(n)]
    h = [[hole_score(arrays, t, c, j) for j in range(3)] for c in range(n)]
    fill = sum(h[c][2] for c in range(n)) / n
    empty = 0.5 * (1 - sum(h[c][0] for c in range(n)) / n + 1 - sum(h[c][1] for c in range(n)) / n)
    goal = []
    for c in range(n):
        below = sum(2 * half[k] for k in range(c + 1, n))
        goal.append(exp(-dist(cubes[c], [target[0], target[1], TABLE + below + half[c]]) / 0.12))
    sigma = [stack(cubes, half, c + 1, c) * min(h[c + 1][2], h[c][2]) for c in range(n - 1)]
    return {
        "A": max(exp(-dist(eef, cubes[c]) / 0.12) for c in range(n)),
        "G": max(lift),
        "T": max(lift[c] * exp(-planar[c] / 0.18) for c in range(n)),
        "L": clip(0.75 * fill + 0.25 * empty),
        "R": clip(0.5 * sum(goal) / n + 0.5 * sum(sigma) / (n - 1)),
    }


def composite(arrays, t, row):
    cubes, half = arrays["cube_pos"][t].tolist(), arrays["cube_size"].tolist()
    raw = 0.14 * row["A"] + 0.18 * row["G"] + 0.20 * row["T"] + 0.20 * row["L"] + 0.28 * row["R"]
    illegal = max(stack(cubes, half, s, b) for s in range(len(half)) for b in range(s + 1, len(half)))
    eef_speed = cube_speed = 0.0
    if t > 0:
        dt = float(arrays["control_period_s"])
        eef_speed = dist(arrays["eef_pos"][t].tolist(), arrays["eef_pos"][t - 1].tolist()) / dt
        before = arrays["cube_pos"][t - 1].tolist()
        cube_speed = max(dist(now, then) for now, then in zip(cubes, before, strict=True)) / dt
    smooth = 0.5 * (exp(-(eef_speed / 0.5) ** 2) + exp(-(cube_speed / 1.0) ** 2))
    return clip(0.95 * raw * (1 - 0.15 * illegal) + 0.05 * smooth)


def stack(cubes, half, lower, upper):
    horizontal = hypot(cubes[upper][0] - cubes[lower][0], cubes[upper][1] - cubes[lower][1])
    vertical = abs(cubes[upper][2] - cubes[lower][2] - half[lower] - half[upper])
    return 0.70 ** (max(horizontal / (1.15 * min(half[lower], half[upper])), vertical / 0.01) ** 2)


def yaw_of(arrays, t, j):
    """Cosine and sine; containers in these tests turn about the vertical only."""
    w, x, y, z = arrays["container_quat"][t, j].tolist()
    assert x == y == 0.0
    return w * w - z * z, 2 * w * z


def hole(arrays, t, j):
    c, s = yaw_of(arrays, t, j)
    x, y, _ = arrays["container_pos"][t, j].tolist()
    return x + 0.055 * c, y + 0.055 * s


def hole_score(arrays, t, cube, j):
    half = arrays["cube_size"].tolist()
    x, y, z = arrays["cube_pos"][t, cube].tolist()
    bx, by, _ = arrays["container_pos"][t, j].tolist()
    c, s = yaw_of(arrays, t, j)
    local_x, local_y = c * (x - bx) + s * (y - by), -s * (x - bx) + c * (y - by)
    out_x, out_y = max(0.0, 0.02 - local_x, local_x - 0.09), max(0.0, abs(local_y) - 0.035)
    above = max(0.0, z - (TABLE + 2 * sum(half) - half[cube]))
    return exp(-(out_x ** 2 + out_y ** 2) / 0.03 ** 2) * exp(-(above / 0.04) ** 2)


def clip(value):
    return min(1.0, max(0.0, value))


