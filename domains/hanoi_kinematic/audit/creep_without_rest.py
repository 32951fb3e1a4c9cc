"""Pushes the upper cubes at 1 cm/s and never rests, so that none of them is found settled anywhere else."""

import numpy as np

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[2]
        yield from self.go([x, y - 0.12, 1.1], -1)
        yield from self.go([x, y - 0.12, z], -1)
        yield from self.go([x, y - 0.09, z], -1, speed=0.2)
        while self.eef[1] < y + 0.5:
            yield np.array([0, 0.04, 0, 0, 0, 0, -1])
