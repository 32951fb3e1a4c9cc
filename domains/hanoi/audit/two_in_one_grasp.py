"""Closes the fingers from above around the boundary of the two upper cubes, to take both."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[1]
        yield from self.go([x, y, 1.08], -1)
        yield from self.go([x, y, z + self.half[1] - 0.002], -1, limit=40)
        yield from self.still(1, 12)
        yield from self.go([x, y, 1.12], 1)
        yield from self.go([*C_HOLE, 1.12], 1)
        yield from self.still(-1, 20)
