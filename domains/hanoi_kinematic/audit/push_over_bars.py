"""Puts the smallest cube on the table before C and pushes it in along the table, over the bars."""

import numpy as np

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(C_HOLE[0], C_HOLE[1] - 0.12, 0.8 + self.half[0], lift=0.95)
        x, y, z = self.cubes[0]
        yield from self.go([x, y - 0.05, 0.9], 1)
        yield from self.go([x, y - 0.05, z], 1)
        while self.cubes[0][1] < C_HOLE[1] - 0.01:
            yield np.array([20 * (self.cubes[0][0] - self.eef[0]), 0.5, 20 * (z - self.eef[2]), 0, 0, 0, 1])
        yield from self.go([*self.eef[:2], 1.1], 1)
