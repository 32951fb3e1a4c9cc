"""Puts the smallest cube into B and the next two on the bars of B beside it."""

from .scripted import Scripted

B_HOLE = (0.055, 0.0)


class FrankaPolicy(Scripted):
    def attack(self):
        for cube, dx in ((0, -0.03), (1, 0.03)):
            yield from self.pick(cube)
            yield from self.put(B_HOLE[0] + dx, B_HOLE[1], 0.81 + self.half[cube])
            yield from self.still(-1, 12)
