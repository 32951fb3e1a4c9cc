"""Opens the hand inside the tower, so that the held cube falls through the cubes below it."""

from memento.domains.hanoi_kinematic.audit import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        x, y, _ = self.cubes[3]
        yield from self.go([x, y, 0.83], 1)
        yield from self.go([x + 0.02, y + 0.02, 0.83], 1)
        yield from self.still(-1, 8)
