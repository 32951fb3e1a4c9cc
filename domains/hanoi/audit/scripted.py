"""The arm that the programs of this folder share: it follows a script of actions."""

import numpy as np


class Scripted:
    """Runs `attack`, a script of actions that the subclass defines."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        self.eef = np.array(obs["robot0_eef_pos"])
        self.tool = tool_axis(*obs["robot0_eef_quat"])
        self.cubes = np.reshape(obs["cube_pos"], (-1, 3)).copy()
        self.half = np.array(obs["cube_size"])
        if self.script is None:
            self.integral = np.zeros(3)
            self.pointing = np.array([0.0, 0.0, -1.0])      # of the fingers; None: level, any way
            self.script = self.attack()
        return next(self.script, np.zeros(7))

    def still(self, grip, steps):
        for _ in range(steps):
            yield np.array([0, 0, 0, 0, 0, 0, grip])

    def go(self, target, grip, limit=60, speed=1.0):
        self.integral[:] = 0.0
        for _ in range(limit):
            error = np.asarray(target) - self.eef
            if np.abs(error).max() < 0.005:
                return
            self.integral = np.clip(self.integral + 0.02 * error, -0.03, 0.03)
            wanted = self.tool * [1, 1, 0] - [0, 0, 0.14] if self.pointing is None else self.pointing
            turn = np.clip(0.8 * np.cross(self.tool, wanted), -0.4, 0.4)
            yield np.array([*np.clip(24 * (error + self.integral), -speed, speed), *turn, grip])

    def pick(self, cube, lift=1.08):
        x, y, z = self.cubes[cube]
        yield from self.go([x, y, lift], -1)
        yield from self.go([x, y, max(z + 0.004, 0.8225)], -1, limit=40, speed=0.7)
        yield from self.still(1, 10)
        yield from self.go([x, y, lift], 1, limit=40)

    def put(self, x, y, z, lift=1.08):
        yield from self.go([x, y, lift], 1)
        yield from self.go([x, y, z + 0.006], 1, limit=40, speed=0.7)
        yield from self.still(-1, 8)
        yield from self.go([x, y, lift], -1, limit=40)

    def side_grasp(self, x, y, low):
        """Lay the hand on its side in front of a cube and close the fingers around it."""
        tilt = np.radians(8)
        self.pointing = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
        yield from self.go([-0.12, y, 1.05], -1)
        yield from self.go([-0.10, y, low + 0.03], -1)
        yield from self.go([-0.08, y, low], -1, limit=40)
        yield from self.go([x, y, low], -1)
        yield from self.still(1, 15)


def tool_axis(x, y, z, w):
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
