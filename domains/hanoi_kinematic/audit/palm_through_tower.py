"""Drives the palm and the closed fingers down into the tower, then sweeps it towards C."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x, y - 0.1, 1.1], 1)
        yield from self.go([x, y, 1.1], 1)
        yield from self.go([x, y, 0.82], 1)
        yield from self.go([x, y + 0.5, 0.82], 1, limit=40)
