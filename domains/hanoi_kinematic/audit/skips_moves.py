"""Puts the three smaller cubes side by side into B, then stacks all of them on C."""

from .scripted import Scripted

B_HOLE, C_HOLE = (0.055, 0.0), (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        for cube, dx, dy in ((0, -0.03, -0.03), (1, 0.03, 0.03), (2, -0.03, 0.03)):
            yield from self.pick(cube)
            yield from self.put(B_HOLE[0] + dx, B_HOLE[1] + dy, 0.81 + self.half[cube])
        z = 0.8
        for cube in (3, 2, 1, 0):
            yield from self.pick(cube)
            yield from self.put(*C_HOLE, z + self.half[cube])
            z += 2 * self.half[cube]
