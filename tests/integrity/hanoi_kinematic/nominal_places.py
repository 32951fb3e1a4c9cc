"""Ignores what it sees and plays a script of nominal places, as if every episode were the same."""

import numpy as np


class FrankaPolicy:
    """Runs `attack`, a script of actions."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        self.eef = np.array(obs["robot0_eef_pos"])
        self.cubes = np.reshape(obs["cube_pos"], (-1, 3)).copy()
        self.half = np.array(obs["cube_size"])
        if self.script is None:
            self.script = self.attack()
        return next(self.script, np.zeros(7))

    def still(self, grip, steps):
        for _ in range(steps):
            yield np.array([0, 0, 0, 0, 0, 0, grip])

    def go(self, target, grip, limit=25, speed=1.0, turn=0.0):
        for _ in range(limit):
            error = np.asarray(target) - self.eef
            if np.abs(error).max() < 0.003:
                return
            yield np.array([*np.clip(error / 0.05, -speed, speed), 0, 0, turn, grip])

    def attack(self):
        z = {0: 1.0, 1: 0.95, 2: 0.9}
        for cube, y in ((0, 0.0), (1, 0.25), (0, 0.25)):
            yield from self.go([0.055, -0.25, 1.15], -1)
            yield from self.go([0.055, -0.25, z[cube]], -1)
            yield from self.still(1, 4)
            yield from self.go([0.055, -0.25, 1.15], 1)
            yield from self.go([0.055, y, 1.15], 1)
            yield from self.go([0.055, y, 0.83], 1)
            yield from self.still(-1, 3)
