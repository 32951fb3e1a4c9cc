"""Ignores what it sees and plays a script of nominal places, as if every episode were the same."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        z = {0: 1.0, 1: 0.95, 2: 0.9}
        for cube, y in ((0, 0.0), (1, 0.25), (0, 0.25)):
            yield from self.go([0.055, -0.25, 1.15], -1)
            yield from self.go([0.055, -0.25, z[cube]], -1)
            yield from self.still(1, 4)
            yield from self.go([0.055, -0.25, 1.15], 1)
            yield from self.go([0.055, y, 1.15], 1)
            yield from self.go([0.055, y, 0.83], 1)
            yield from self.still(-1, 3)
