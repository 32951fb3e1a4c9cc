"""Pushes container A by its near edge along the table, with the tower in it."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        _, y, _ = self.cubes[3]
        yield from self.go([-0.1, y, 1.05], 1)
        yield from self.go([-0.045, y, 0.85], 1)
        yield from self.go([-0.045, y, 0.815], 1, limit=80, speed=0.5)
        yield from self.go([0.3, y, 0.813], 1, limit=300, speed=0.5)
