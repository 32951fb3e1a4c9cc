"""Parks two cubes on the bare table and stacks the tower on C in seven moves."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        for cube, y in ((0, -0.125), (1, 0.0), (2, 0.125)):
            yield from self.pick(cube)
            yield from self.put(-0.1, y, 0.8 + self.half[cube])
        z = 0.8
        for cube in (3, 2, 1, 0):
            yield from self.pick(cube)
            yield from self.put(*C_HOLE, z + self.half[cube])
            z += 2 * self.half[cube]
