"""Parks the smallest cube on the bare table and nudges it every 1.4 s, so that it never rests for two seconds."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(-0.1, -0.125, 0.8 + self.half[0], lift=0.9)
        while True:
            x, y, z = self.cubes[0]
            yield from self.go([x, y - 0.06, 0.87], 1, limit=2)
            yield from self.go([x, y - 0.045, z], 1, limit=3)
            yield from self.go([x, y - 0.015, z], 1, limit=1)
            yield from self.go([x, y - 0.06, z], 1, limit=1)
