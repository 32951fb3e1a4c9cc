"""Sweeps the whole tower towards C with the side of the hand."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x - 0.1, y - 0.16, 1.05], 1)
        yield from self.go([x, y - 0.16, 0.88], 1)
        yield from self.go([x, y + 0.5, 0.88], 1, limit=150)
