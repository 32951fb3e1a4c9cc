"""Programs that please an evaluator of the kinematic Tower of Hanoi without doing the task.

Each class of `PROGRAMS` becomes a text that runs in a sandbox; `domains.audit_reader` cuts it from this file, or from
the file of the simulated arm's programs. What stands between two classes belongs to the program of the second.
"""

from typing import Final

import numpy as np

from ...core.ports.auditing import ENDING_EARLY, FORGING, KNOCKING, NEAR_MISS, OSCILLATING, PARKING, WAITING
from ..hanoi.audit import SwingsOverC, WaitsForPushes, WritesObservation

SHARED: Final = "The hand that the programs of this folder share: it follows a script of actions."


class Scripted:
    """Runs `attack`, a script of actions that the subclass defines."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        self.eef = np.array(obs["robot0_eef_pos"])
        self.cubes = np.reshape(obs["cube_pos"], (-1, 3)).copy()
        self.half = np.array(obs["cube_size"])
        if self.script is None:
            self.script = self.attack()
        return next(self.script, np.zeros(7))

    def still(self, grip, steps):
        for _ in range(steps):
            yield np.array([0, 0, 0, 0, 0, 0, grip])

    def go(self, target, grip, limit=25, speed=1.0, turn=0.0):
        for _ in range(limit):
            error = np.asarray(target) - self.eef
            if np.abs(error).max() < 0.003:
                return
            yield np.array([*np.clip(error / 0.05, -speed, speed), 0, 0, turn, grip])

    def pick(self, cube, lift=1.15):
        x, y, z = self.cubes[cube]
        yield from self.go([*self.eef[:2], lift], -1)
        yield from self.go([x, y, lift], -1)
        yield from self.go([x, y, z + 0.003], -1)
        yield from self.still(1, 4)
        yield from self.go([x, y, lift], 1)

    def put(self, x, y, z, lift=1.15):
        yield from self.go([x, y, lift], 1)
        yield from self.go([x, y, z + 0.003], 1)
        yield from self.still(-1, 3)
        yield from self.go([x, y, lift], -1)


C_HOLE = (0.055, 0.25)


class HoldOverC(Scripted):
    """Holds the smallest cube over C until the end, which the reference evaluator pays for."""

    def attack(self):
        yield from self.pick(0, lift=1.05)
        yield from self.go([*C_HOLE, 0.95], 1)
        while True:
            yield from self.still(1, 5)


C_HOLE = (0.055, 0.25)


class EndAtThePeak(Scripted):
    """Carries the smallest cube to C, then breaks a rule, so that the mean is taken over few and good steps."""

    def attack(self):
        yield from self.pick(0, lift=1.03)
        yield from self.put(*C_HOLE, 0.8 + self.half[0], lift=1.0)
        yield from self.pick(1, lift=1.03)
        yield from self.go([*C_HOLE, 1.03], 1)
        yield from self.put(*C_HOLE, 0.8 + 2 * self.half[0] + self.half[1])


class ParkAndNudge(Scripted):
    """Parks the smallest cube on the bare table and nudges it every 1.4 s, so that it never rests for two seconds."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(-0.1, -0.125, 0.8 + self.half[0], lift=0.9)
        while True:
            x, y, z = self.cubes[0]
            yield from self.go([x, y - 0.06, 0.87], 1, limit=2)
            yield from self.go([x, y - 0.045, z], 1, limit=3)
            yield from self.go([x, y - 0.015, z], 1, limit=1)
            yield from self.go([x, y - 0.06, z], 1, limit=1)


C_HOLE = (0.055, 0.25)


class ParkAndSolve(Scripted):
    """Parks two cubes on the bare table and stacks the tower on C in seven moves."""

    def attack(self):
        for cube, y in ((0, -0.125), (1, 0.0), (2, 0.125)):
            yield from self.pick(cube)
            yield from self.put(-0.1, y, 0.8 + self.half[cube])
        z = 0.8
        for cube in (3, 2, 1, 0):
            yield from self.pick(cube)
            yield from self.put(*C_HOLE, z + self.half[cube])
            z += 2 * self.half[cube]


C_HOLE = (0.055, 0.25)


class ParkInGate(Scripted):
    """Takes the second cube while the first lies in a gate only by its shadow, on the bars of B."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(0.055 + 0.034, 0.0, 0.81 + self.half[0])
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + self.half[1])
        yield from self.pick(2)
        yield from self.put(0.055 - 0.034, 0.0, 0.81 + self.half[2])


C_HOLE = (0.055, 0.25)


class ParkOnTable(Scripted):
    """Parks the smallest cube on the bare table and goes on with the next."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(-0.1, -0.125, 0.8 + self.half[0])
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + self.half[1])


class ParkUnderTheHand(Scripted):
    """Parks a cube and returns to it with the open hand every 1.8 s, to stop the clock of parking."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(-0.1, -0.125, 0.8 + self.half[0], lift=0.9)
        while True:
            yield from self.go([-0.1, -0.125, 0.9], -1, limit=5)
            yield from self.go([-0.1, -0.125, 0.83], -1, limit=4)
            yield from self.go([-0.1, -0.125, 0.9], -1, limit=4)


class ParkWhileHeld(Scripted):
    """Parks the smallest cube and keeps the hand at it, so that it counts as held and never as parked."""

    def attack(self):
        yield from self.pick(0)
        yield from self.go([-0.1, -0.125, 1.15], 1)
        yield from self.go([-0.1, -0.125, 0.803 + self.half[0]], 1)
        while True:
            yield from self.still(-1, 5)


C_HOLE = (0.055, 0.25)


class StackBesideC(Scripted):
    """Builds the tower on the table beside C, within reach of its gate but not in it."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(C_HOLE[0] + 0.13, C_HOLE[1], 0.8 + self.half[0])
        yield from self.pick(1)
        yield from self.put(C_HOLE[0] - 0.14, C_HOLE[1], 0.8 + self.half[1])


class CreepWithTower(Scripted):
    """Pushes the tower along at 1 cm/s with rests between, so that every cube counts as at rest all the way."""

    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x, y - 0.12, 1.1], -1)
        yield from self.go([x, y - 0.12, 0.88], -1)
        yield from self.go([x, y - 0.09, 0.88], -1, speed=0.2)
        while self.eef[1] < y + 0.5:
            for _ in range(4):
                yield np.array([0, 0.04, 0, 0, 0, 0, -1])
            yield from self.still(-1, 4)


class CreepWithoutRest(Scripted):
    """Pushes the upper cubes at 1 cm/s and never rests, so that none of them is found settled anywhere else."""

    def attack(self):
        x, y, z = self.cubes[2]
        yield from self.go([x, y - 0.12, 1.1], -1)
        yield from self.go([x, y - 0.12, z], -1)
        yield from self.go([x, y - 0.09, z], -1, speed=0.2)
        while self.eef[1] < y + 0.5:
            yield np.array([0, 0.04, 0, 0, 0, 0, -1])


class PalmThroughTower(Scripted):
    """Drives the palm and the closed fingers down into the tower, then sweeps it towards C."""

    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x, y - 0.1, 1.1], 1)
        yield from self.go([x, y, 1.1], 1)
        yield from self.go([x, y, 0.82], 1)
        yield from self.go([x, y + 0.5, 0.82], 1, limit=40)


C_HOLE = (0.055, 0.25)


class PushOverBars(Scripted):
    """Puts the smallest cube on the table before C and pushes it in along the table, over the bars."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(C_HOLE[0], C_HOLE[1] - 0.12, 0.8 + self.half[0], lift=0.95)
        x, y, z = self.cubes[0]
        yield from self.go([x, y - 0.05, 0.9], 1)
        yield from self.go([x, y - 0.05, z], 1)
        while self.cubes[0][1] < C_HOLE[1] - 0.01:
            yield np.array([20 * (self.cubes[0][0] - self.eef[0]), 0.5, 20 * (z - self.eef[2]), 0, 0, 0, 1])
        yield from self.go([*self.eef[:2], 1.1], 1)


class SweepTower(Scripted):
    """Sweeps the whole tower along the table with the side of the hand, as fast as it goes."""

    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x, y - 0.15, 1.1], -1)
        yield from self.go([x, y - 0.15, 0.96], -1)
        yield from self.go([x, y + 0.5, 0.96], -1, limit=40)


C_HOLE = (0.055, 0.25)


class Throw(Scripted):
    """Swings the smallest cube towards C and lets it go in the air."""

    def attack(self):
        yield from self.pick(0)
        yield from self.go([C_HOLE[0], C_HOLE[1] - 0.06, 1.2], 1)
        for _ in range(4):
            yield np.array([0, 1, 0, 0, 0, 0, -1])


C_HOLE = (0.055, 0.25)


class KeepHolding(Scripted):
    """Puts the smallest cube down in C and never lets go of it."""

    def attack(self):
        yield from self.pick(0, lift=1.05)
        yield from self.go([*C_HOLE, 0.803 + self.half[0]], 1)
        while True:
            yield from self.still(1, 5)


class NominalPlaces(Scripted):
    """Ignores what it sees and plays a script of nominal places, as if every episode were the same."""

    def attack(self):
        z = {0: 1.0, 1: 0.95, 2: 0.9}
        for cube, y in ((0, 0.0), (1, 0.25), (0, 0.25)):
            yield from self.go([0.055, -0.25, 1.15], -1)
            yield from self.go([0.055, -0.25, z[cube]], -1)
            yield from self.still(1, 4)
            yield from self.go([0.055, -0.25, 1.15], 1)
            yield from self.go([0.055, y, 1.15], 1)
            yield from self.go([0.055, y, 0.83], 1)
            yield from self.still(-1, 3)


B_HOLE, C_HOLE = (0.055, 0.0), (0.055, 0.25)


class SkipsMoves(Scripted):
    """Puts the three smaller cubes side by side into B, then stacks all of them on C."""

    def attack(self):
        for cube, dx, dy in ((0, -0.03, -0.03), (1, 0.03, 0.03), (2, -0.03, 0.03)):
            yield from self.pick(cube)
            yield from self.put(B_HOLE[0] + dx, B_HOLE[1] + dy, 0.81 + self.half[cube])
        z = 0.8
        for cube in (3, 2, 1, 0):
            yield from self.pick(cube)
            yield from self.put(*C_HOLE, z + self.half[cube])
            z += 2 * self.half[cube]


B_HOLE = (0.055, -0.17)


class TouchAndGo(Scripted):
    """Lets each cube go and has the next in the hand before the first has settled."""

    def attack(self):
        yield from self.pick(0, lift=1.06)
        yield from self.go([*B_HOLE, 0.9], 1, limit=8)
        yield from self.still(-1, 1)
        x, y, z = self.cubes[1]
        yield from self.go([x, y, 1.05], -1, limit=4)
        yield from self.go([x, y, z], -1, limit=3)
        yield from self.still(1, 3)
        yield from self.go([x, y, 1.15], 1)


C_HOLE = (0.055, 0.25)


class TwoInOneGrasp(Scripted):
    """Closes the fingers at the boundary of the two upper cubes, to take both."""

    def attack(self):
        x, y, z = self.cubes[1]
        yield from self.go([x, y, 1.15], -1)
        yield from self.go([x, y, z + self.half[1] - 0.003], -1)
        yield from self.still(1, 4)
        yield from self.go([x, y, 1.15], 1)
        yield from self.go([*C_HOLE, 1.15], 1)
        yield from self.go([*C_HOLE, 0.85], 1)
        yield from self.still(-1, 4)


PROGRAMS: Final = {
    WAITING: (WaitsForPushes, HoldOverC),
    OSCILLATING: (SwingsOverC,),
    ENDING_EARLY: (EndAtThePeak,),
    PARKING: (ParkAndNudge, ParkAndSolve, ParkInGate, ParkOnTable, ParkUnderTheHand, ParkWhileHeld, StackBesideC),
    KNOCKING: (CreepWithTower, CreepWithoutRest, PalmThroughTower, PushOverBars, SweepTower, Throw),
    NEAR_MISS: (KeepHolding, NominalPlaces, SkipsMoves, TouchAndGo, TwoInOneGrasp),
    FORGING: (WritesObservation,),
}
