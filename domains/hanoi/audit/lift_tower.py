"""Lays the hand on its side, takes the tower by its lowest cube, carries all of it to C and puts it down."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[3]
        low = z + 0.012
        yield from self.side_grasp(x - 0.004, y, low)
        self.pointing = None
        yield from self.go([x - 0.01, y, low + 0.05], 1, limit=40, speed=0.35)
        yield from self.go([x - 0.01, y + 0.5, low + 0.05], 1, limit=200, speed=0.35)

        yield from self.go([x - 0.01, y + 0.5, low + 0.002], 1, limit=60, speed=0.2)
        yield from self.still(-1, 15)
        yield from self.go([-0.15, y + 0.5, low + 0.01], -1, limit=80, speed=0.5)
