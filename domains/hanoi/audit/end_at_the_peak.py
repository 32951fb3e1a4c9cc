"""Carries the smallest cube to C and the next onto it: an illegal end, so that the mean is of few and good steps."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(*C_HOLE, 0.8 + self.half[0])
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + 2 * self.half[0] + self.half[1])
