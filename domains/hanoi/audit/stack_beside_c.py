"""Puts the first cube on the table beside C, within reach of its gate but not in it."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(C_HOLE[0] - 0.13, C_HOLE[1], 0.8 + self.half[0])
        yield from self.still(-1, 60)
