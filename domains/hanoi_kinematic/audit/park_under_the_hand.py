"""Parks a cube and returns to it with the open hand every 1.8 s, to stop the clock of parking."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(-0.1, -0.125, 0.8 + self.half[0], lift=0.9)
        while True:
            yield from self.go([-0.1, -0.125, 0.9], -1, limit=5)
            yield from self.go([-0.1, -0.125, 0.83], -1, limit=4)
            yield from self.go([-0.1, -0.125, 0.9], -1, limit=4)
