"""Holds the smallest cube below an overhanging one and lifts it straight up through that one."""

from memento.domains.hanoi_kinematic.audit import Scripted

B_HOLE = (0.055, 0.0)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(*B_HOLE, 0.8 + self.half[0])
        x, y, z = self.cubes[1]
        yield from self.go([x + 0.05, y, 1.1], 1)               # push the second cube half over the edge
        yield from self.go([x + 0.06, y, z], 1)
        yield from self.go([x + 0.03, y, z], 1, speed=0.3)
        yield from self.pick(0)
        yield from self.go([*self.cubes[1][:2], 0.85], 1)
        yield from self.go([*self.cubes[1][:2], 1.2], 1)
        yield from self.still(-1, 4)
