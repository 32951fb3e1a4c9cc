"""The reference policy moves the tower from observations only, like a candidate: sandboxed, in both goal modes."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from memento.core.faults import FaultKind
from memento.core.ports import RollTask
from memento.core.values import JSON, Episode, Program
from memento.domains import import_string
from memento.domains.hanoi import DOMAIN
from memento.runtime.rollouts import sandbox
from memento.runtime.rollouts.pool import ProcessPool

from ...reference_policies import hanoi as reference
from ...reference_policies import policy_file, policy_program

pytestmark = pytest.mark.quick

FILE, POLICY = policy_file("hanoi"), policy_program("hanoi")
SEED = 7_000_001


async def rolled(folder: Path, program: Program, seed: int = SEED, **options: JSON) -> Episode:
    """One episode under the strict rules and the fast physics."""
    given: Mapping[str, JSON] = {"physics": "fast", "rules": "strict", "horizon": 6000, **options}
    splits = {"test": DOMAIN.options(given, preset="paper")}
    async with ProcessPool(domain=import_string("hanoi"), splits=splits, workers=1, trajectories=folder) as pool:
        return await pool.roll(RollTask(order="reference", program=program, split="test", index=0, seed=seed))


def solved(episode: Episode) -> None:
    assert episode.fault is None
    assert episode.success, (episode.ended_by, episode.steps, episode.info)
    assert episode.info["off_peg_parkings"] == 0
    assert episode.info["placements"] == 15


@pytest.mark.slow
@pytest.mark.parametrize("goal_update", ["achieved", "desired"])
async def test_it_moves_the_tower(tmp_path: Path, goal_update: str) -> None:
    episode = await rolled(tmp_path, POLICY, goal_update=goal_update)
    solved(episode)
    assert episode.steps < 3_500


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"randomisation": "light"},
    {"variant": "asymmetric"},
    {"variant": "cylinder", "goal_update": "desired"},
    {"physics": "exact"},
], ids=json.dumps)
async def test_it_moves_other_towers(tmp_path: Path, options: dict[str, JSON]) -> None:
    solved(await rolled(tmp_path, POLICY, seed=SEED + 1, **options))


@pytest.mark.slow
@pytest.mark.skipif(not sandbox.layers()["landlock"].live, reason="without Landlock programs can read files")
async def test_no_candidate_can_read_it(tmp_path: Path) -> None:
    spy = (
        "class FrankaPolicy:\n    def reset(self):\n        {}\n"
        "    def compute_action(self, obs):\n        return [0] * 7\n"
    )
    harmless = await rolled(tmp_path, Program(spy.format("pass")), horizon=3)
    assert harmless.fault is None and harmless.steps == 3
    episode = await rolled(tmp_path, Program(spy.format(f"open({str(FILE)!r}).read()")), horizon=3)
    assert episode.fault is not None and episode.fault.kind is FaultKind.NOT_STARTED
    assert "Permission denied" in episode.fault.message


def test_the_plan_goes_on_from_any_legal_state() -> None:
    for code in range(3 ** 4):
        where = [code // 3 ** cube % 3 for cube in range(4)]
        for _ in range(16):
            pegs = [[cube for cube in (3, 2, 1, 0) if where[cube] == peg] for peg in range(3)]
            move = reference.next_move(pegs, 4)
            if move is None:
                break
            cube, target = move
            assert pegs[where[cube]][-1] == cube, "the top of its stack"
            assert not pegs[target] or pegs[target][-1] > cube, "onto a larger one"
            where[cube] = target
        assert where == [2, 2, 2, 2], "within fifteen moves"


def test_a_touch_reveals_the_bias() -> None:
    rng = np.random.default_rng(0)
    belief = reference.Belief(4)
    bias, world = np.array([0.012, -0.009]), np.array([-0.006, 0.011])
    boxes = np.array(reference.NOMINAL) + world
    cube = boxes[0] + [reference.HOLE, 0.0]
    truth = np.vstack([boxes, np.tile(cube, (4, 1))])
    for _ in range(200):
        belief.seen(truth + bias + 0.02 * rng.standard_normal((7, 2)) - belief.expected(), 0.02 ** 2)
    blind = np.abs(belief.mean[:, 0] - bias).max()
    belief.touched(0, np.array([1.0, 0.0]), cube[0], 0.0007)
    belief.touched(0, np.array([0.0, 1.0]), cube[1], 0.0007)
    assert blind > 0.005, "observations contain the sum of the bias and the shift of the world"
    assert np.abs(belief.mean[:, 0] - bias).max() < 0.003
    assert np.abs(belief.mean[:, 1:4] - boxes.T).max() < 0.003


def test_rotations_are_each_others_inverse() -> None:
    rng = np.random.default_rng(1)
    for vector in rng.uniform(-1.5, 1.5, size=(50, 3)):
        assert np.allclose(reference.rotation_vector(reference.rotation_matrix(vector)), vector)
