"""Swings the smallest cube towards C and lets it go in the air."""

import numpy as np

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        for _ in range(10):
            yield np.array([0, 1, 0, 0, 0, 0, 1])
        for _ in range(10):
            yield np.array([0, 1, 0, 0, 0, 0, -1])
        yield from self.still(-1, 60)
