"""Parks the smallest cube on the bare table and nudges it every 1.5 s, so that it never rests for two seconds."""

from .scripted import Scripted


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(0.0, -0.125, 0.8 + self.half[0], lift=1.06)
        while True:
            x, y, z = self.cubes[0]
            yield from self.go([x, y - 0.07, 0.86], 1, limit=12)
            yield from self.go([x, y - 0.045, z], 1, limit=8)
            yield from self.go([x, y - 0.015, z], 1, limit=5)
            yield from self.go([x, y - 0.07, z], 1, limit=4)
