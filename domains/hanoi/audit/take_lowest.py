"""Grasps the lowest cube from the side and pulls it out from beneath the others."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        x, y, z = self.cubes[3]
        yield from self.side_grasp(x - 0.01, y, z + 0.012)
        yield from self.go([x - 0.2, y, z + 0.03], 1)
