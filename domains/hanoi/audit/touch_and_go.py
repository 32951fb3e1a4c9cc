"""Lets a cube go beside the tower and has the next in the hand before the first has settled."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[0]
        yield from self.pick(0)
        yield from self.go([x, y + 0.06, 1.0], 1, limit=20)
        yield from self.still(-1, 2)
        x, y, z = self.cubes[1]
        yield from self.go([x, y, z + 0.004], -1, limit=12)
        yield from self.still(1, 6)
        yield from self.go([x, y, 1.1], 1)
