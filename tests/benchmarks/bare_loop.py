"""The bare Gymnasium loop of `environments`, run by any Python that has the environment; it needs nothing of MEMENTO.

    python bare_loop.py REQUEST

REQUEST is a JSON object with the text of a `policy`, the `module` to import, the `id`, `kwargs`, `episodes`, `horizon`
and `mode`, how an episode begins. Prints return and length of each episode, and the steps per second of all but the
first. The seeds begin with 1: some packages take 0 for none.
"""

import importlib
import json
import os
import random
import sys
import time
import warnings
from typing import Any

import gymnasium
import numpy as np

POLICY = '''
class Policy:
    """Numbers that wander through the bounds of the action."""

    def reset(self):
        self.t = 0

    def compute_action(self, obs):
        self.t += 1
        parts = [(0.6180339887498949 * (self.t // 3 + 1) + 0.37 * place) % 1.0 for place in range(len(LOW))]
        return [int(low + part * (high - low + 0.999)) if whole else low + part * (high - low)
                for part, low, high, whole in zip(parts, LOW, HIGH, WHOLE)]
'''


def native(space: Any, numbers: list[float]) -> Any:
    """An action of this space from flat numbers, which are used up."""
    if isinstance(space, gymnasium.spaces.Tuple):
        return tuple(native(each, numbers) for each in space.spaces)
    if isinstance(space, gymnasium.spaces.Discrete):
        return np.int64(numbers.pop(0))
    taken = [numbers.pop(0) for _ in range(int(np.prod(space.shape)))]
    return np.array(taken, dtype=space.dtype).reshape(space.shape)


def played(asked: dict[str, Any]) -> tuple[list[list[float]], float]:
    """Return and length of each episode, and the speed."""
    defined: dict[str, Any] = {}
    exec(asked["policy"], defined)
    if asked["module"]:
        importlib.import_module(asked["module"])

    def make(**own: Any) -> Any:
        return gymnasium.make(asked["id"], disable_env_checker=True, **asked["kwargs"], **own)

    random.seed(0)
    np.random.seed(0)
    env = make() if asked["mode"] == "kept" else None
    found, spent, count = [], 0.0, 0
    for seed in range(1, asked["episodes"] + 1):
        begun = time.perf_counter()
        random.seed(seed)
        np.random.seed(seed)
        if asked["mode"] != "kept":     # it begins otherwise after other episodes, so each has a new one
            env = make(**({"seed": seed} if asked["mode"] == "fresh-seeded" else {}))
        env.reset(seed=seed)
        policy = defined["Policy"]()
        policy.reset()
        total, steps, over = 0.0, 0, False
        while not over and steps < asked["horizon"]:
            action = native(env.action_space, policy.compute_action(None))
            _, reward, terminated, truncated, _ = env.step(action)
            total, steps, over = total + float(np.asarray(reward).reshape(-1)[0]), steps + 1, terminated or truncated
        found.append([total, steps])
        if seed > 1:
            count, spent = count + steps, spent + time.perf_counter() - begun
    return found, count / spent


if __name__ == "__main__":
    answer = os.dup(1)
    os.dup2(2, 1)       # what packages print is no answer
    sys.stdout = sys.stderr
    warnings.simplefilter("ignore")
    os.write(answer, json.dumps(played(json.loads(sys.argv[1]))).encode())
    os._exit(0)
