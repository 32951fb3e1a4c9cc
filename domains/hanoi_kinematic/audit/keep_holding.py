"""Puts the smallest cube down in C and never lets go of it."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0, lift=1.05)
        yield from self.go([*C_HOLE, 0.803 + self.half[0]], 1)
        while True:
            yield from self.still(1, 5)
