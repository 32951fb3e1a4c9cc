"""Turns the hand by a quarter and comes in low from the far side, to take the second cube from below the smallest."""

from memento.domains.hanoi_kinematic.audit import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[1]
        yield from self.go([x, y + 0.15, 1.1], -1)
        yield from self.go([x, y + 0.15, 1.1001], -1, limit=7, turn=0.9)
        yield from self.go([x, y + 0.15, z], -1)
        yield from self.go([x, y, z], -1)
        yield from self.still(1, 4)
        yield from self.go([x, y, 1.15], 1)
        yield from self.go([x, y + 0.5, 1.15], 1)
        yield from self.still(-1, 4)
