"""Goes beside the tower, sideways into its lowest cube, closes and lifts, to take the tower apart from below."""

from memento.domains.hanoi_kinematic.audit import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        for cube in (3, 2, 1, 0):
            x, y, z = self.cubes[cube]
            yield from self.go([-0.12, y, 1.1], -1)
            yield from self.go([-0.12, y, z], -1)
            yield from self.go([x, y, z], -1)
            yield from self.still(1, 4)
            yield from self.go([x, y, 1.15], 1)
            yield from self.go([x, y + 0.5, 1.15], 1)
            yield from self.go([x, y + 0.5, 0.84], 1)
            yield from self.still(-1, 4)
