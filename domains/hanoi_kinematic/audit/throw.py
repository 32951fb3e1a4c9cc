"""Swings the smallest cube towards C and lets it go in the air."""

import numpy as np

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.go([C_HOLE[0], C_HOLE[1] - 0.06, 1.2], 1)
        for _ in range(4):
            yield np.array([0, 1, 0, 0, 0, 0, -1])
