"""Carries the smallest cube to C, then breaks a rule, so that the mean is taken over few and good steps."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0, lift=1.03)
        yield from self.put(*C_HOLE, 0.8 + self.half[0], lift=1.0)
        yield from self.pick(1, lift=1.03)
        yield from self.go([*C_HOLE, 1.03], 1)
        yield from self.put(*C_HOLE, 0.8 + 2 * self.half[0] + self.half[1])
