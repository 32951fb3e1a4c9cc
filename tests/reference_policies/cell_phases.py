"""The reference policy of a robot cell in which phases are carried out, written against the policy interface only.

It plans from where the cubes are seen, and goes through the phases of one move after another: a phase is given until
its status says that it is over, and the next target follows from what is seen then. A grasp is verified by the width
of the fingers, a placing by the camera; a move that failed is planned again.
"""

import numpy as np

WAIT, PICK_HOVER, PICK_DESCEND, GRASP, LIFT, PLACE_HOVER, PLACE_DESCEND, RELEASE, RETREAT = range(9)
TABLE, HOLE = 0.8, 0.055
LOWEST = 0.8225             # of the point between the fingertips: lower, the fingers meet the container
OPEN, CLOSE = -1.0, 1.0

GRASP_DZ = 0.006            # tune: -0.012..0.012: of the hand above the cube's middle
HOVER = 0.04                # tune: 0.02..0.12: above a grasp or a placing
RELEASE_DZ = 0.002          # tune: -0.004..0.02: above where the cube comes to rest
RISE = 0.06                 # tune: 0.03..0.12: of the hand after a placing
FAST = 1.0                  # tune: 0.2..1.0: the share of the speed on transfers
SLOW = 0.35                 # tune: 0.1..1.0: and on the way down
PLACED = 0.025              # tune: 0.01..0.04: from the middle of the hole, seen, to be placed
LOOKS = 6                   # periods of looking before a plan and after a placing
KEEP = 0.8                  # of the last estimate of a cube's place, each period


def yaw_of(quats):
    """The yaws (n,) of quaternions (n, 4), w, x, y, z."""
    w, x, y, z = quats.T
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def quarter(yaw):
    """The same face of a cube, within an eighth of a turn."""
    return float((yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4)


def above(place, rise):
    return np.array([*place[:2], place[2] + rise])


class FrankaPolicy:
    """Moves the tower from A to C."""

    def reset(self):
        self.phase, self.target, self.yaw, self.looked = WAIT, np.zeros(3), 0.0, 0
        self.moves, self.places, self.grip = [], None, OPEN

    def compute_action(self, obs):
        self.see(obs)
        if obs["phase_status"][0] != 0.0:
            self.follow()
        speed = FAST if self.phase in (PICK_HOVER, PLACE_HOVER, LIFT, RETREAT) else SLOW
        return [self.phase, *self.target, self.yaw, speed, self.grip]

    def see(self, obs):
        """What the targets follow from."""
        self.eef = np.array(obs["robot0_eef_pos"])
        self.width = float(np.abs(obs["robot0_gripper_qpos"]).mean())
        self.half = np.array(obs["cube_size"])
        cubes = np.reshape(obs["cube_pos"], (-1, 3))
        if self.places is None:
            self.places = cubes.copy()
        self.places = KEEP * self.places + (1 - KEEP) * cubes
        self.turns = yaw_of(np.reshape(obs["cube_quat"], (-1, 4)))
        boxes, turns = np.reshape(obs["boxes_pos"], (3, 3))[:, :2], yaw_of(np.reshape(obs["boxes_quat"], (3, 4)))
        self.holes = boxes + HOLE * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        self.hole_turns = turns

    def follow(self):
        """The phase after the one that is over."""
        if self.phase == WAIT:
            self.looked += 1
            if self.looked >= LOOKS:
                self.plan()
        elif self.phase == PICK_HOVER:
            self.go(PICK_DESCEND, self.grasp_place())
        elif self.phase == PICK_DESCEND:
            self.go(GRASP, self.target, CLOSE)
        elif self.phase == GRASP:
            self.hang = self.eef[2] - self.rest_height(self.cube)
            self.go(LIFT, above(self.eef, 0.03))
        elif self.phase == LIFT:
            self.carry()
        elif self.phase == PLACE_HOVER:
            self.go(PLACE_DESCEND, self.release_place())
        elif self.phase == PLACE_DESCEND:
            self.go(RELEASE, self.target, OPEN)
        elif self.phase == RELEASE:
            self.go(RETREAT, above(self.eef, RISE))
        elif self.phase == RETREAT:
            self.look()

    def go(self, phase, target, grip=None):
        self.phase, self.target = phase, np.array(target, dtype=float)
        self.grip = self.grip if grip is None else grip

    def look(self):
        """Wait for what the camera sees of it; what was moved is planned again."""
        self.looked = 0
        self.go(WAIT, self.eef)

    def plan(self):
        """The first move of the shortest solution from where the cubes are seen; none left is the end."""
        pegs = np.linalg.norm(self.places[:, None, :2] - self.holes, axis=2).argmin(axis=1)
        target, move = 2, None
        for cube in reversed(range(len(pegs))):
            if pegs[cube] != target:
                move, target = (cube, target), 3 - pegs[cube] - target
        if move is None:
            return
        self.cube, self.peg = move
        self.pegs = pegs
        self.yaw = quarter(self.turns[self.cube])
        self.grip = OPEN
        self.go(PICK_HOVER, above(self.grasp_place(), HOVER))

    def below(self, cube, peg):
        return [k for k in range(cube + 1, len(self.half)) if self.pegs[k] == peg]

    def rest_height(self, cube, peg=None):
        """Of a cube's middle."""
        under = self.below(cube, self.pegs[cube] if peg is None else peg)
        return TABLE + 2 * self.half[under].sum() + self.half[cube]

    def grasp_place(self):
        place = self.places[self.cube]
        return np.array([*place[:2], max(LOWEST, self.rest_height(self.cube) + GRASP_DZ)])

    def release_place(self):
        """Over the hole, or over the cube that is seen there."""
        under = self.below(self.cube, self.peg)
        where = self.holes[self.peg]
        if under and np.linalg.norm(self.places[under[0], :2] - where) < PLACED:
            where = 0.5 * where + 0.5 * self.places[under[0], :2]
        return np.array([*where, max(LOWEST, self.rest_height(self.cube, self.peg) + self.hang + RELEASE_DZ)])

    def carry(self):
        """To its place, if the fingers hold it; else again from the start."""
        if 0.75 * self.half[self.cube] < self.width < 1.12 * self.half[self.cube]:
            self.yaw = quarter(self.hole_turns[self.peg])
            self.go(PLACE_HOVER, above(self.release_place(), HOVER))
        else:
            self.go(RELEASE, self.eef, OPEN)
