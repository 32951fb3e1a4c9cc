"""Lifts the empty C by one of its bars and turns it over."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y = 0.055, 0.25 - 0.0575
        yield from self.go([x, y, 0.95], -1)
        yield from self.go([x, y, 0.817], -1, speed=0.5)
        yield from self.still(1, 12)
        yield from self.go([x, y + 0.03, 0.95], 1, limit=80, speed=0.4)
        yield from self.go([x, y + 0.2, 0.9], 1, limit=80, speed=0.4)
