"""Takes the two smallest cubes at once, by the lower of them, with the hand on its side."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[1]
        low = z
        yield from self.side_grasp(x - 0.004, y, low)
        self.pointing = None
        yield from self.go([x - 0.01, y, low + 0.05], 1, limit=40, speed=0.35)
        yield from self.go([x - 0.01, y + 0.5, low + 0.1], 1, limit=200, speed=0.35)

        yield from self.still(-1, 20)
