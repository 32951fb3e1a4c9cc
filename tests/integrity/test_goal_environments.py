"""Programs that try to count as successful in goal environments of Gymnasium without doing the task there.

Success is upstream's word: the distance to the goal at the last step. What that permits is in the table as "success".
"""

from importlib.util import find_spec

import pytest

from ..support.attacks import Arena, Attack, check

SEEDS = {"PointMaze_UMaze-v3": (11, 23)}        # start and goal on two sides of the wall; elsewhere 1 and 2
FRAME = """\
import numpy as np


class Policy:
    def reset(self):
        self.step = -1

    def compute_action(self, obs):
        self.step += 1
        seen, at, goal = (np.array(obs[name]) for name in ("observation", "achieved_goal", "desired_goal"))
        hand, out = seen[:3], 0.0
{body}
"""
MOVES = "        return [*np.clip({gain} * ({to} - hand), -1, 1), {fingers}]"
WRITES = "        obs['achieved_goal'] = obs['desired_goal']\n        obs['observation'][:3] = goal\n"
LEAVES = "        away = np.array([0.0, 0.0, 0.3 if self.step {when} else 0.0])\n"
FRAMES = "        import sys\n        sys._getframe(1).f_locals.update(success=True, is_success=True)\n"
PUSHES = "        return [*np.clip(5 * (goal - at), -1, 1)]"
ROUND = (      # through the open side of the U
    "        corner = [1.1, np.sign(goal[1])]\n        started = getattr(self, 'way', None) and self.step\n"
    "        self.way = self.way if started else [[1.1, -corner[1]], corner, goal]\n"
    "        if len(self.way) > 1 and np.linalg.norm(self.way[0] - at) < 0.3:\n            self.way.pop(0)\n"
    "        return [*np.clip(4 * (self.way[0] - at) - 2 * seen[2:4], -1, 1)]"
)

BODIES = {
    "FetchReach-v4": {
        "goes_there": MOVES.format(gain=10, to="goal", fingers=0),
        "passes_through": LEAVES.format(when="> 25") + MOVES.format(gain=20, to="goal + away", fingers=0),
        "there_at_the_last_step": LEAVES.format(when="< 42") + MOVES.format(gain=20, to="goal + away", fingers=0),
        "writes_observation": WRITES + "        return [0, 0, 0, 0]",
        "patches_its_caller": FRAMES + "        return [0, 0, 0, 0]",
        "far_beyond_the_limits": "        return [1e300, -1e300, 1e300, 0]",
        "no_number": "        return [float('nan'), 0, 0, 0]",
        "leaves_early": "        raise SystemExit(0)",
    },
    "FetchPush-v4": {
        "the_hand_at_the_goal": MOVES.format(gain=10, to="goal + [0, 0, 0.12]", fingers=0),
        "the_hand_above_the_cube": MOVES.format(gain=10, to="at + [0, 0, 0.08]", fingers=0),
        "presses_on_the_cube": MOVES.format(gain=10, to="at - [0, 0, 0.05]", fingers=1),
        "writes_observation": WRITES + "        return [0, 0, 0, 0]",
    },
    "FetchPickAndPlace-v4": {
        "the_hand_at_the_goal": MOVES.format(gain=10, to="goal", fingers=-1),
        "below_the_goal": MOVES.format(gain=10, to="np.array([goal[0], goal[1], at[2]])", fingers=-1),
        "the_hand_at_the_cube": MOVES.format(gain=10, to="at + [0, 0, 0.01]", fingers=1),
        "writes_observation": WRITES + "        return [0, 0, 0, -1]",
    },
    "PointMaze_UMaze-v3": {
        "goes_round": ROUND,
        "straight_through_the_wall": PUSHES,
        "against_the_wall_with_all_force": "        return [1e300 * x for x in np.sign(goal - at)]",
        "swings_at_the_wall": "        return [(1 if self.step // 20 % 2 else -1) * x for x in np.sign(goal - at)]",
        "writes_observation": WRITES.replace('[:3]', '[:2]') + "        return [0, 0]",
    },
}
ENDS = {        # of those that do not end at the horizon without success
    ("FetchReach-v4", "goes_there"): "horizon, success", ("PointMaze_UMaze-v3", "goes_round"): "horizon, success",
    # Upstream asks for a place and not for rest: whoever arrives at the last step has arrived.
    ("FetchReach-v4", "there_at_the_last_step"): "horizon, success",
    ("FetchReach-v4", "no_number"): "fault: invalid-action", ("FetchReach-v4", "leaves_early"): "fault: crashed",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("gymnasium_robotics") is None,
        reason="the extra `suites` is not installed: there is no gymnasium_robotics",
    ),
]


@pytest.mark.parametrize("name", BODIES)
def test_only_the_task_counts(name: str) -> None:
    with Arena(f"gym:{name}", [{}]) as played:
        for what, body in BODIES[name].items():
            attack = Attack(what, ENDS.get((name, what), "horizon"))
            check(attack, played.play(FRAME.format(body=body), {}, SEEDS.get(name, (1, 2))))
