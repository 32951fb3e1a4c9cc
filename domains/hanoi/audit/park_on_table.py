"""Parks the smallest cube on the bare table and goes on with the next."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(0.0, -0.125, 0.8 + self.half[0], lift=1.0)
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + self.half[1])
