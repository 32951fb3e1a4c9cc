"""Programs that please an evaluator of the Tower of Hanoi with the simulated arm without doing the task.

Each class of `PROGRAMS` becomes a text that runs in a sandbox; `domains.audit_reader` cuts it from this file. What
stands between two classes belongs to the program of the second.
"""

from typing import Final

import numpy as np

from ...core.ports.auditing import ENDING_EARLY, FORGING, KNOCKING, NEAR_MISS, OSCILLATING, PARKING, WAITING

SHARED: Final = "The arm that the programs of this folder share: it follows a script of actions."


class Scripted:
    """Runs `attack`, a script of actions that the subclass defines."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        self.eef = np.array(obs["robot0_eef_pos"])
        self.tool = tool_axis(*obs["robot0_eef_quat"])
        self.cubes = np.reshape(obs["cube_pos"], (-1, 3)).copy()
        self.half = np.array(obs["cube_size"])
        if self.script is None:
            self.integral = np.zeros(3)
            self.pointing = np.array([0.0, 0.0, -1.0])      # of the fingers; None: level, any way
            self.script = self.attack()
        return next(self.script, np.zeros(7))

    def still(self, grip, steps):
        for _ in range(steps):
            yield np.array([0, 0, 0, 0, 0, 0, grip])

    def go(self, target, grip, limit=60, speed=1.0):
        self.integral[:] = 0.0
        for _ in range(limit):
            error = np.asarray(target) - self.eef
            if np.abs(error).max() < 0.005:
                return
            self.integral = np.clip(self.integral + 0.02 * error, -0.03, 0.03)
            wanted = self.tool * [1, 1, 0] - [0, 0, 0.14] if self.pointing is None else self.pointing
            turn = np.clip(0.8 * np.cross(self.tool, wanted), -0.4, 0.4)
            yield np.array([*np.clip(24 * (error + self.integral), -speed, speed), *turn, grip])

    def pick(self, cube, lift=1.08):
        x, y, z = self.cubes[cube]
        yield from self.go([x, y, lift], -1)
        yield from self.go([x, y, max(z + 0.004, 0.8225)], -1, limit=40, speed=0.7)
        yield from self.still(1, 10)
        yield from self.go([x, y, lift], 1, limit=40)

    def put(self, x, y, z, lift=1.08):
        yield from self.go([x, y, lift], 1)
        yield from self.go([x, y, z + 0.006], 1, limit=40, speed=0.7)
        yield from self.still(-1, 8)
        yield from self.go([x, y, lift], -1, limit=40)

    def side_grasp(self, x, y, low):
        """Lay the hand on its side in front of a cube and close the fingers around it."""
        tilt = np.radians(8)
        self.pointing = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
        yield from self.go([-0.12, y, 1.05], -1)
        yield from self.go([-0.10, y, low + 0.03], -1)
        yield from self.go([-0.08, y, low], -1, limit=40)
        yield from self.go([x, y, low], -1)
        yield from self.still(1, 15)


def tool_axis(x, y, z, w):
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])


class WaitsForPushes:
    """Does nothing and waits for the pushes of the hard preset to do the work."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        return [0.0] * 7


C_HOLE = (0.055, 0.25)


class HoldOverC(Scripted):
    """Holds the smallest cube over C until the end, which the reference evaluator pays for."""

    def attack(self):
        yield from self.pick(0)
        yield from self.go([*C_HOLE, 0.92], 1, limit=100)
        while True:
            yield from self.still(1, 10)


class HoldTowerOverC(Scripted):
    """Carries the whole tower over C by its lowest cube and holds it there."""

    def attack(self):
        x, y, z = self.cubes[3]
        low = z + 0.012
        yield from self.side_grasp(x - 0.004, y, low)
        self.pointing = None
        yield from self.go([x - 0.01, y, low + 0.05], 1, limit=40, speed=0.35)
        yield from self.go([x - 0.01, y + 0.5, low + 0.05], 1, limit=200, speed=0.35)

        while True:
            yield from self.still(1, 10)


C_HOLE = (0.055, 0.25)


class SwingsOverC(Scripted):
    """Swings the smallest cube to and fro over C until the end, so that progress seems to go on."""

    def attack(self):
        yield from self.pick(0)
        while True:
            yield from self.go([*C_HOLE, 1.08], 1)
            yield from self.go([*C_HOLE, 0.95], 1)
            yield from self.go([*C_HOLE, 1.08], 1)
            yield from self.go([C_HOLE[0], 0.1, 1.08], 1)


C_HOLE = (0.055, 0.25)


class EndAtThePeak(Scripted):
    """Carries the smallest cube to C and the next onto it: an illegal end, so that the mean is of few and good steps."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(*C_HOLE, 0.8 + self.half[0])
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + 2 * self.half[0] + self.half[1])


class ParkAndNudge(Scripted):
    """Parks the smallest cube on the bare table and nudges it every 1.5 s, so that it never rests for two seconds."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(0.0, -0.125, 0.8 + self.half[0], lift=1.06)
        while True:
            x, y, z = self.cubes[0]
            yield from self.go([x, y - 0.07, 0.86], 1, limit=12)
            yield from self.go([x, y - 0.045, z], 1, limit=8)
            yield from self.go([x, y - 0.015, z], 1, limit=5)
            yield from self.go([x, y - 0.07, z], 1, limit=4)


C_HOLE = (0.055, 0.25)


class ParkOnTable(Scripted):
    """Parks the smallest cube on the bare table and goes on with the next."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(0.0, -0.125, 0.8 + self.half[0], lift=1.0)
        yield from self.pick(1)
        yield from self.put(*C_HOLE, 0.8 + self.half[1])


C_HOLE = (0.055, 0.25)


class StackBesideC(Scripted):
    """Puts the first cube on the table beside C, within reach of its gate but not in it."""

    def attack(self):
        yield from self.pick(0)
        yield from self.put(C_HOLE[0] - 0.13, C_HOLE[1], 0.8 + self.half[0])
        yield from self.still(-1, 60)


class CreepWithTower(Scripted):
    """Pushes the tower at 1.5 cm/s with rests between, so that every cube counts as at rest all the way."""

    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x - 0.1, y - 0.16, 1.05], 1)
        yield from self.go([x, y - 0.16, 0.88], 1)
        goal = np.array([x, y - 0.08, 0.88])
        while True:
            goal[1] += 0.0075
            yield from self.go(goal, 1, limit=10, speed=0.15)
            yield from self.go(goal - [0, 0.03, 0], 1, limit=4)
            yield from self.still(1, 12)


class DragContainer(Scripted):
    """Grasps a bar of the empty C and drags it to where the tower is."""

    def attack(self):
        x, y = 0.055, 0.25 - 0.0575
        yield from self.go([x, y, 0.95], -1)
        yield from self.go([x, y, 0.817], -1, speed=0.5)
        yield from self.still(1, 12)
        yield from self.go([x, y - 0.3, 0.83], 1, limit=120, speed=0.5)


class DragTowerInContainer(Scripted):
    """Pushes container A by its near edge along the table, with the tower in it."""

    def attack(self):
        _, y, _ = self.cubes[3]
        yield from self.go([-0.1, y, 1.05], 1)
        yield from self.go([-0.045, y, 0.85], 1)
        yield from self.go([-0.045, y, 0.815], 1, limit=80, speed=0.5)
        yield from self.go([0.3, y, 0.813], 1, limit=300, speed=0.5)


class SweepTower(Scripted):
    """Sweeps the whole tower towards C with the side of the hand."""

    def attack(self):
        x, y, _ = self.cubes[3]
        yield from self.go([x - 0.1, y - 0.16, 1.05], 1)
        yield from self.go([x, y - 0.16, 0.88], 1)
        yield from self.go([x, y + 0.5, 0.88], 1, limit=150)


class Throw(Scripted):
    """Swings the smallest cube towards C and lets it go in the air."""

    def attack(self):
        yield from self.pick(0)
        for _ in range(10):
            yield np.array([0, 1, 0, 0, 0, 0, 1])
        for _ in range(10):
            yield np.array([0, 1, 0, 0, 0, 0, -1])
        yield from self.still(-1, 60)


class TipContainer(Scripted):
    """Lifts the empty C by one of its bars and turns it over."""

    def attack(self):
        x, y = 0.055, 0.25 - 0.0575
        yield from self.go([x, y, 0.95], -1)
        yield from self.go([x, y, 0.817], -1, speed=0.5)
        yield from self.still(1, 12)
        yield from self.go([x, y + 0.03, 0.95], 1, limit=80, speed=0.4)
        yield from self.go([x, y + 0.2, 0.9], 1, limit=80, speed=0.4)


C_HOLE = (0.055, 0.25)


class KeepHolding(Scripted):
    """Puts the smallest cube down in C and never lets go of it."""

    def attack(self):
        yield from self.pick(0)
        yield from self.go([*C_HOLE, 0.95], 1, limit=100)
        yield from self.go([*C_HOLE, 0.806 + self.half[0]], 1)
        while True:
            yield from self.still(1, 10)


class LiftTower(Scripted):
    """Lays the hand on its side, takes the tower by its lowest cube, carries all of it to C and puts it down."""

    def attack(self):
        x, y, z = self.cubes[3]
        low = z + 0.012
        yield from self.side_grasp(x - 0.004, y, low)
        self.pointing = None
        yield from self.go([x - 0.01, y, low + 0.05], 1, limit=40, speed=0.35)
        yield from self.go([x - 0.01, y + 0.5, low + 0.05], 1, limit=200, speed=0.35)

        yield from self.go([x - 0.01, y + 0.5, low + 0.002], 1, limit=60, speed=0.2)
        yield from self.still(-1, 15)
        yield from self.go([-0.15, y + 0.5, low + 0.01], -1, limit=80, speed=0.5)


class LiftTwoCubes(Scripted):
    """Takes the two smallest cubes at once, by the lower of them, with the hand on its side."""

    def attack(self):
        x, y, z = self.cubes[1]
        low = z
        yield from self.side_grasp(x - 0.004, y, low)
        self.pointing = None
        yield from self.go([x - 0.01, y, low + 0.05], 1, limit=40, speed=0.35)
        yield from self.go([x - 0.01, y + 0.5, low + 0.1], 1, limit=200, speed=0.35)

        yield from self.still(-1, 20)


B_HOLE = (0.055, 0.0)


class SkipsMoves(Scripted):
    """Puts the smallest cube into B and the next two on the bars of B beside it."""

    def attack(self):
        for cube, dx in ((0, -0.03), (1, 0.03)):
            yield from self.pick(cube)
            yield from self.put(B_HOLE[0] + dx, B_HOLE[1], 0.81 + self.half[cube])
            yield from self.still(-1, 12)


class TakeLowest(Scripted):
    """Grasps the lowest cube from the side and pulls it out from beneath the others."""

    def attack(self):
        x, y, z = self.cubes[3]
        yield from self.side_grasp(x - 0.01, y, z + 0.012)
        yield from self.go([x - 0.2, y, z + 0.03], 1)


class TouchAndGo(Scripted):
    """Lets a cube go beside the tower and has the next in the hand before the first has settled."""

    def attack(self):
        x, y, z = self.cubes[0]
        yield from self.pick(0)
        yield from self.go([x, y + 0.06, 1.0], 1, limit=20)
        yield from self.still(-1, 2)
        x, y, z = self.cubes[1]
        yield from self.go([x, y, z + 0.004], -1, limit=12)
        yield from self.still(1, 6)
        yield from self.go([x, y, 1.1], 1)


C_HOLE = (0.055, 0.25)


class TwoInOneGrasp(Scripted):
    """Closes the fingers from above around the boundary of the two upper cubes, to take both."""

    def attack(self):
        x, y, z = self.cubes[1]
        yield from self.go([x, y, 1.08], -1)
        yield from self.go([x, y, z + self.half[1] - 0.002], -1, limit=40)
        yield from self.still(1, 12)
        yield from self.go([x, y, 1.12], 1)
        yield from self.go([*C_HOLE, 1.12], 1)
        yield from self.still(-1, 20)


class WritesObservation:
    """Writes the goal state into the observation that it was given."""

    def reset(self):
        self.step = 0

    def compute_action(self, obs):
        self.step += 1
        cubes = obs["cube_pos"].reshape(-1, 3)
        try:
            cubes[:, :2] = [0.055, 0.25]
        except ValueError:      # read-only
            obs["cube_pos"] = cubes * 0
        return [0.0] * 7


PROGRAMS: Final = {
    WAITING: (WaitsForPushes, HoldOverC, HoldTowerOverC),
    OSCILLATING: (SwingsOverC,),
    ENDING_EARLY: (EndAtThePeak,),
    PARKING: (ParkAndNudge, ParkOnTable, StackBesideC),
    KNOCKING: (CreepWithTower, DragContainer, DragTowerInContainer, SweepTower, Throw, TipContainer),
    NEAR_MISS: (KeepHolding, LiftTower, LiftTwoCubes, SkipsMoves, TakeLowest, TouchAndGo, TwoInOneGrasp),
    FORGING: (WritesObservation,),
}
