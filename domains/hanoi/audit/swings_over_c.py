"""Swings the smallest cube to and fro over C until the end, so that progress seems to go on."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        while True:
            yield from self.go([*C_HOLE, 1.08], 1)
            yield from self.go([*C_HOLE, 0.95], 1)
            yield from self.go([*C_HOLE, 1.08], 1)
            yield from self.go([C_HOLE[0], 0.1, 1.08], 1)
