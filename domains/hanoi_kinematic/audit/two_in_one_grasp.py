"""Closes the fingers at the boundary of the two upper cubes, to take both."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[1]
        yield from self.go([x, y, 1.15], -1)
        yield from self.go([x, y, z + self.half[1] - 0.003], -1)
        yield from self.still(1, 4)
        yield from self.go([x, y, 1.15], 1)
        yield from self.go([*C_HOLE, 1.15], 1)
        yield from self.go([*C_HOLE, 0.85], 1)
        yield from self.still(-1, 4)
