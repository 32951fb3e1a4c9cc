"""Pushes the tower along at 1 cm/s with rests between, so that every cube counts as at rest all the way."""

import numpy as np

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x, y - 0.12, 1.1], -1)
        yield from self.go([x, y - 0.12, 0.88], -1)
        yield from self.go([x, y - 0.09, 0.88], -1, speed=0.2)
        while self.eef[1] < y + 0.5:
            for _ in range(4):
                yield np.array([0, 0.04, 0, 0, 0, 0, -1])
            yield from self.still(-1, 4)
