"""Sweeps the whole tower along the table with the side of the hand, as fast as it goes."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x, y - 0.15, 1.1], -1)
        yield from self.go([x, y - 0.15, 0.96], -1)
        yield from self.go([x, y + 0.5, 0.96], -1, limit=40)
