"""Holds a cube at the end of the fingers and turns it into the tower, through its cubes."""

import numpy as np
from memento.domains.hanoi_kinematic.audit import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[0]
        yield from self.go([x - 0.016, y, 1.15], -1)
        yield from self.go([x - 0.016, y, z + 0.01], -1)
        yield from self.still(1, 4)
        yield from self.go([x - 0.016, y, 1.15], 1)
        yield from self.go([x, y - 0.09, 1.15], 1)
        yield from self.go([x, y - 0.09, self.cubes[2][2]], 1)
        yield from self.go([x, y - 0.05, self.cubes[2][2]], 1, limit=10, turn=0.9)
        for _ in range(12):
            yield np.array([0, 0, 0, 0, 0, 1.0, 1])
        yield from self.still(-1, 8)
