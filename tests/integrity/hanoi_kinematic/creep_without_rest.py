"""Pushes the upper cubes at 1 cm/s and never rests, so that none of them is found settled anywhere else."""

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
        x, y, z = self.cubes[2]
        yield from self.go([x, y - 0.12, 1.1], -1)
        yield from self.go([x, y - 0.12, z], -1)
        yield from self.go([x, y - 0.09, z], -1, speed=0.2)
        while self.eef[1] < y + 0.5:
            yield np.array([0, 0.04, 0, 0, 0, 0, -1])
