"""The hand that the programs of this folder share: it follows a script of actions."""

import numpy as np


class Scripted:
    """Runs `attack`, a script of actions that the subclass defines."""

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

    def pick(self, cube, lift=1.15):
        x, y, z = self.cubes[cube]
        yield from self.go([*self.eef[:2], lift], -1)
        yield from self.go([x, y, lift], -1)
        yield from self.go([x, y, z + 0.003], -1)
        yield from self.still(1, 4)
        yield from self.go([x, y, lift], 1)

    def put(self, x, y, z, lift=1.15):
        yield from self.go([x, y, lift], 1)
        yield from self.go([x, y, z + 0.003], 1)
        yield from self.still(-1, 3)
        yield from self.go([x, y, lift], -1)
