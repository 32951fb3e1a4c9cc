"""Carries the whole tower over C by its lowest cube and holds it there."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[3]
        low = z + 0.012
        yield from self.side_grasp(x - 0.004, y, low)
        self.pointing = None
        yield from self.go([x - 0.01, y, low + 0.05], 1, limit=40, speed=0.35)
        yield from self.go([x - 0.01, y + 0.5, low + 0.05], 1, limit=200, speed=0.35)

        while True:
            yield from self.still(1, 10)
