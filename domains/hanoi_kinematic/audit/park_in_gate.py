"""Takes the second cube while the first lies in a gate only by its shadow, on the bars of B."""

from .scripted import Scripted

C_HOLE = (0.055, 0.25)


class FrankaPolicy(Scripted):
    def attack(self):
        yield from self.pick(0)
        yield from self.put(0.055 + 0.034, 0.0, 0.81 + self.half[0])
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + self.half[1])
        yield from self.pick(2)
        yield from self.put(0.055 - 0.034, 0.0, 0.81 + self.half[2])
