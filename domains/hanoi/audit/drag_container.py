"""Grasps a bar of the empty C and drags it to where the tower is."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y = 0.055, 0.25 - 0.0575
        yield from self.go([x, y, 0.95], -1)
        yield from self.go([x, y, 0.817], -1, speed=0.5)
        yield from self.still(1, 12)
        yield from self.go([x, y - 0.3, 0.83], 1, limit=120, speed=0.5)
