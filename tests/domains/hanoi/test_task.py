"""Geometry and predicates: the whole-array forms, their limits, and their agreement with the referee."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.domains.hanoi import task
from memento.domains.hanoi.referee import Referee

pytestmark = pytest.mark.quick

UPRIGHT = np.tile([1.0, 0.0, 0.0, 0.0], (3, 1))
ORIGINS = np.array([[x, y, task.CONTAINER_Z_M] for x, y in task.CONTAINER_XY_M])
SMALL_M = st.floats(-0.06, 0.06)


def yaw_quats(yaws: list[float]) -> np.ndarray:
    half = 0.5 * np.array(yaws)
    return np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)


def tower_on(container: int, n_cubes: int = 4) -> np.ndarray:
    hole = task.hole_centre(ORIGINS, UPRIGHT)[container]
    return np.array(task.tower(n_cubes, (hole[0], hole[1])))


@pytest.mark.parametrize("n_cubes", task.N_CUBES)
def test_cubes_are_ordered_small_to_large_and_fit_gripper_and_hole(n_cubes: int) -> None:
    half_edges = task.cube_half_edges(n_cubes)
    assert len(half_edges) == len(task.cube_names(n_cubes)) == n_cubes
    assert list(half_edges) == sorted(half_edges)
    assert 2 * half_edges[-1] < 0.08 * 0.85, "the fingers at the weakest actuators"
    assert 2 * half_edges[-1] < task.HOLE_EDGE_M


def test_the_papers_four_cubes() -> None:
    assert task.cube_names(4) == ("small", "medium", "large", "xlarge")
    assert task.cube_half_edges(4) == (0.022, 0.025, 0.028, 0.031)


@pytest.mark.parametrize("n_cubes", task.N_CUBES)
def test_success_is_the_tower_on_c_and_nowhere_else(n_cubes: int) -> None:
    half_edges = task.cube_half_edges(n_cubes)
    on = [bool(task.success(tower_on(j, n_cubes), ORIGINS, UPRIGHT, half_edges)) for j in range(3)]
    assert on == [False, False, True]


def test_success_needs_every_relation() -> None:
    half_edges = task.cube_half_edges(4)
    for cube in range(4):
        moved = tower_on(2)
        moved[cube, 0] += 0.04
        assert not task.success(moved, ORIGINS, UPRIGHT, half_edges)
        lifted = tower_on(2)
        lifted[cube, 2] += 0.011
        assert not task.success(lifted, ORIGINS, UPRIGHT, half_edges)


def test_the_gate_turns_with_its_container() -> None:
    quats = yaw_quats([0.0, 0.0, np.pi / 2])
    local = np.array([0.088, 0.0, 0.0])
    inside = ORIGINS[2] + task.rotate(quats[2], local)
    gate = task.in_gate(inside[None], ORIGINS, quats)
    assert gate[0].tolist() == [False, False, True]
    assert not task.in_gate(inside[None], ORIGINS, UPRIGHT).any()
    assert np.allclose(task.hole_centre(ORIGINS, quats)[2], ORIGINS[2] + [0.0, 0.055, 0.0])


def test_in_gate_at_its_edges() -> None:
    x, y = ORIGINS[1, 0], ORIGINS[1, 1]
    for dx, dy, expected in [(0.0201, 0.0, True), (0.0199, 0.0, False), (0.0899, 0.0349, True), (0.0901, 0.0, False),
                             (0.05, 0.0351, False), (0.05, -0.0349, True)]:
        cube = np.array([[x + dx, y + dy, 0.83]])
        assert task.in_gate(cube, ORIGINS, UPRIGHT)[0, 1] == expected


@given(SMALL_M, SMALL_M, SMALL_M)
def test_the_stack_score_is_at_its_threshold_exactly_where_stacked_is(dx: float, dy: float, dz: float) -> None:
    lower, upper = np.array([0.0, 0.0, 0.83]), np.array([dx, dy, 0.83 + 0.031 + 0.028 + dz])
    score = float(task.stack_score(lower, upper, 0.031, 0.028))
    assert 0.0 <= score <= 1.0
    if abs(score - task.ILLEGAL_AT) > 1e-9:
        assert (score > task.ILLEGAL_AT) == bool(task.stacked(lower, upper, 0.031, 0.028))


@given(SMALL_M, SMALL_M, st.floats(1.0, 3.0))
def test_the_stack_score_falls_with_distance(dx: float, dz: float, factor: float) -> None:
    def score(scale: float) -> float:
        upper = np.array([scale * dx, 0.0, 0.053 + scale * dz])
        return float(task.stack_score(np.zeros(3), upper, 0.028, 0.025))

    assert score(factor) <= score(1.0) + 1e-12


def test_the_illegal_score_knows_which_way_round() -> None:
    half_edges = task.cube_half_edges(3)
    legal = tower_on(0, 3)
    assert task.illegal_score(legal, half_edges) < 0.01
    upside_down = legal.copy()
    upside_down[0], upside_down[1] = [0.0, 0.0, 0.822], [0.0, 0.0, 0.822 + 0.022 + 0.025]
    assert task.illegal_score(upside_down, half_edges) == pytest.approx(1.0)
    assert task.illegal_score(np.stack([legal, upside_down]), half_edges).shape == (2,)


POINT = st.tuples(st.floats(-0.1, 0.15), st.floats(-0.35, 0.35), st.floats(0.8, 1.0))


@given(st.lists(POINT, min_size=4, max_size=4), st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3),
       st.lists(SMALL_M, min_size=12, max_size=12), st.booleans())
def test_the_referee_and_the_arrays_agree(
    points: list[tuple[float, float, float]], yaws: list[float], shifts: list[float], near_tower: bool,
) -> None:
    half_edges = task.cube_half_edges(4)
    quats = yaw_quats(yaws)
    cubes = np.array(points)
    if near_tower:      # so that success and illegal stacks do occur
        hole = task.hole_centre(ORIGINS, quats)[2]
        cubes = np.array(task.tower(4, (hole[0], hole[1]))) + 0.3 * np.array(shifts).reshape(4, 3)
    referee = Referee(half_edges, rules="paper", control_period_s=0.05)
    referee.reset(cubes.tolist(), ORIGINS.tolist(), quats.tolist())
    ends = [referee.look([0.0, 0.0, 1.3], cubes.tolist()) for _ in range(10)]
    ended_by = ends[-1]
    on_table = abs(cubes[-1][2] - task.TABLE_HEIGHT_M - half_edges[-1]) <= task.STACK_VERTICAL_M
    succeeded = on_table and bool(task.success(cubes, ORIGINS, quats, half_edges))
    score = float(task.illegal_score(cubes, half_edges))
    assert referee.success == succeeded
    assert referee.illegal_score == pytest.approx(score, abs=1e-12)
    assert ended_by == ("success" if succeeded else "illegal" if score >= task.ILLEGAL_AT else None)
    assert "success" not in ends[:-1], "at rest for less than 0.5 s"
    gate = task.in_gate(cubes, ORIGINS, quats)
    for index, cube in enumerate(cubes.tolist()):
        found = referee.container_of(cube)
        assert (found is not None) == gate[index].any()
        assert found is None or gate[index, found]


class Scene:
    """A tower on A that a script moves about, for the referee's bookkeeping."""

    def __init__(self, rules: str) -> None:
        self.cubes = tower_on(0).tolist()
        self.referee = Referee(task.cube_half_edges(4), rules=rules, control_period_s=0.1)
        self.referee.reset(self.cubes, ORIGINS.tolist(), UPRIGHT.tolist())

    def put(self, cube: int, place: list[float], steps: int, hand: list[float] | None = None) -> list[str | None]:
        """Move in the hand, then stay for `steps`; the hand is far away unless given."""
        self.referee.look(self.cubes[cube], self.cubes)
        self.cubes[cube] = place
        self.referee.look(place, self.cubes)
        return [self.referee.look(hand or [0.0, 0.0, 1.3], self.cubes) for _ in range(steps)]


    def place_all(self, places: np.ndarray, steps: int) -> list[str | None]:
        """All cubes at once, with the hand far away."""
        self.cubes = places.tolist()
        return [self.referee.look([0.0, 0.0, 1.3], self.cubes) for _ in range(steps)]

    def play(self, moves: list[tuple[int, int]]) -> str | None:
        """Each (cube, container) of a plan, settled one after the other; returns what ended it."""
        for cube, container in moves:
            x, y = HOLES[container]
            standing = [k for k in range(4) if k != cube and abs(self.cubes[k][1] - y) < 0.05]
            height = task.TABLE_HEIGHT_M + sum(2 * HALF_EDGES[k] for k in standing) + HALF_EDGES[cube]
            for end in self.put(cube, [x, y, height], 6):
                if end is not None:
                    return end
        return None


def shifted(container: int, *, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """The tower on a container, moved as a whole."""
    return tower_on(container) + np.array([0.0, y, z])


HALF_EDGES = task.cube_half_edges(4)
HOLES = [(0.055, -0.25), (0.055, 0.0), (0.055, 0.25)]


def plan(n: int, source: int, spare: int, target: int) -> list[tuple[int, int]]:
    if n == 0:
        return []
    return [*plan(n - 1, source, target, spare), (n - 1, target), *plan(n - 1, spare, source, target)]


MOVES = plan(4, 0, 1, 2)


def test_placements_and_parkings_are_counted_once_let_go() -> None:
    scene = Scene("paper")
    scene.put(0, [0.055, 0.0, 0.822], 4)
    assert scene.referee.placements == 0, "not yet settled"
    scene.put(0, [0.055, 0.0, 0.822], 6)
    assert (scene.referee.placements, scene.referee.off_peg_parkings) == (1, 0)
    scene.put(0, [0.2, 0.1, 0.822], 20, hand=[0.2, 0.1, 0.84])
    assert scene.referee.placements == 1, "still in the hand"
    ends = scene.put(0, [0.2, 0.1, 0.822], 40)
    assert (scene.referee.placements, scene.referee.off_peg_parkings) == (2, 1)
    assert set(ends) == {None}, "the paper's rules allow parking"
    scene.put(0, [0.205, 0.1, 0.822], 40)
    assert scene.referee.placements == 2, "it hardly moved"


def test_strict_rules_end_an_episode_for_parking_longer_than_the_tolerance() -> None:
    scene = Scene("strict")
    ends = scene.put(0, [0.2, 0.1, 0.822], 30)
    assert ends.index("illegal") == 19, "2 s at 0.1 s a step"
    assert scene.referee.broken_rule == "parking"
    scene = Scene("strict")
    assert set(scene.put(0, [0.055, 0.0, 0.822], 60)) == {None}


def test_success_needs_rest_release_and_the_table() -> None:
    for rules in ("paper", "strict"):
        scene = Scene(rules)
        scene.play(MOVES[:-1])
        x, y, z = tower_on(task.TARGET).tolist()[0]
        assert set(scene.put(0, [x, y, z], 40, hand=[x, y, z + 0.02])) == {None}, "still in the hand"
        ends = [scene.referee.look([0.0, 0.0, 1.3], scene.cubes) for _ in range(5)]
        assert ends == [None] * 4 + ["success"]
    scene = Scene("paper")
    assert set(scene.place_all(shifted(task.TARGET, z=0.03), 40)) == {None}, "in the air"
    assert "success" in scene.place_all(tower_on(task.TARGET), 40), "the paper's rules do not ask how it came there"


def test_success_needs_container_c_in_its_place() -> None:
    scene = Scene("paper")
    moved = ORIGINS + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.06, 0.0]])
    scene.referee.containers_at(moved.tolist(), UPRIGHT.tolist())
    assert set(scene.place_all(shifted(task.TARGET, y=0.03), 40)) == {None}
    scene.referee.containers_at(ORIGINS.tolist(), UPRIGHT.tolist())
    assert "success" in scene.place_all(shifted(task.TARGET, y=0.03), 40)


def test_a_whole_solution_is_legal_under_strict_rules() -> None:
    scene = Scene("strict")
    assert scene.play(MOVES) == "success"
    assert scene.referee.placements == len(MOVES)


def test_strict_rules_know_one_move_of_one_cube() -> None:
    scene = Scene("strict")
    lifted = shifted(task.SOURCE, z=0.021)
    assert scene.place_all(lifted, 1) == ["illegal"]
    assert scene.referee.broken_rule == "two-cubes"
    scene = Scene("strict")
    scene.put(0, [0.055, 0.0, 0.822], 10)
    scene.put(1, [0.055, 0.25, 0.825], 10)
    ends = scene.put(3, [0.11, 0.25, 0.831], 10)        # next to the smaller one in C's gate, from below the large one
    assert "illegal" in ends and scene.referee.broken_rule == "order"
    scene = Scene("paper")
    assert "illegal" not in scene.place_all(lifted, 40)


def test_a_tower_that_creeps_is_no_move() -> None:
    scene = Scene("strict")
    ends: list[str | None] = []
    for step in range(1, 40):
        ends += scene.place_all(shifted(task.SOURCE, y=0.015 * step), 8)
        if "illegal" in ends:
            break
    assert "illegal" in ends and scene.referee.broken_rule == "order"


def test_a_parked_cube_that_is_nudged_keeps_the_others_from_moving() -> None:
    scene = Scene("strict")
    for shift in range(2):
        assert set(scene.put(0, [0.2, 0.1 + 0.03 * shift, 0.822], 12)) == {None}
    assert "illegal" in scene.put(1, [0.055, 0.0, 0.825], 12)
    assert scene.referee.broken_rule == "order"


def test_a_container_that_is_tipped_over_or_dragged_away_ends_the_episode() -> None:
    for positions, quats in (
        (ORIGINS, np.array([[1, 0, 0, 0], [np.cos(0.3), np.sin(0.3), 0, 0], [1, 0, 0, 0]])),
        (ORIGINS + np.array([[0.0, 0.0, 0.0], [0.06, 0.0, 0.0], [0.0, 0.0, 0.0]]), UPRIGHT),
    ):
        scene = Scene("strict")
        scene.referee.containers_at(positions.tolist(), quats.tolist())
        assert scene.referee.look([0.0, 0.0, 1.3], scene.cubes) == "illegal"
        assert scene.referee.broken_rule == "container"
