"""Lets each cube go and has the next in the hand before the first has settled."""

from .scripted import Scripted

B_HOLE = (0.055, -0.17)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0, lift=1.06)
        yield from self.go([*B_HOLE, 0.9], 1, limit=8)
        yield from self.still(-1, 1)
        x, y, z = self.cubes[1]
        yield from self.go([x, y, 1.05], -1, limit=4)
        yield from self.go([x, y, z], -1, limit=3)
        yield from self.still(1, 3)
        yield from self.go([x, y, 1.15], 1)
