"""Pushes the tower at 1.5 cm/s with rests between, so that every cube counts as at rest all the way."""

import numpy as np

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x - 0.1, y - 0.16, 1.05], 1)
        yield from self.go([x, y - 0.16, 0.88], 1)
        goal = np.array([x, y - 0.08, 0.88])
        while True:
            goal[1] += 0.0075
            yield from self.go(goal, 1, limit=10, speed=0.15)
            yield from self.go(goal - [0, 0.03, 0], 1, limit=4)
            yield from self.still(1, 12)
