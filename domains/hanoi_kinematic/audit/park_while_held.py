"""Parks the smallest cube and keeps the hand at it, so that it counts as held and never as parked."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.go([-0.1, -0.125, 1.15], 1)
        yield from self.go([-0.1, -0.125, 0.803 + self.half[0]], 1)
        while True:
            yield from self.still(-1, 5)
