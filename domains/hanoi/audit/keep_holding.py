"""Puts the smallest cube down in C and never lets go of it."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.go([*C_HOLE, 0.95], 1, limit=100)
        yield from self.go([*C_HOLE, 0.806 + self.half[0]], 1)
        while True:
            yield from self.still(1, 10)
