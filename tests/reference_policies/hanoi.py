"""The reference policy of the Tower of Hanoi with the Panda arm, written against the policy interface only.

It estimates the shared bias, the containers and the cubes with one Kalman filter over all objects, since every
observation informs about all of them. It measures the bias by touch, plans from the estimated cube positions, and
drives the arm by one control law in both goal modes, which a probe of six steps distinguishes.
"""

import numpy as np

TABLE = 0.8                     # height of the table top
PLATE = 0.01                    # thickness of a container
NOMINAL = ((0.0, -0.25), (0.0, 0.0), (0.0, 0.25))
HOLE = 0.055                    # from a container's origin to its hole, along its x axis
HOLE_HALF = 0.040
MOVE_UNIT, TURN_UNIT = 0.05, 0.5
FINGERTIP = 0.012               # below the end effector
OPEN, CLOSE = -1.0, 1.0

ROUGH_LOOK = 100                # steps of looking where the noise is correlated
ROUGH_CORRELATION = 0.97
ROUGH_OWN_STD = 0.006           # of an object's own bias there

BIAS_STD = 0.0095               # priors: the widest ranges of the task, a little more
WORLD_STD = 0.0095
JITTER_STD = 0.002              # of each cube in the first tower
GRASP_DZ = 0.006                # the hand grasps a cube above its centre
BATCH = 5                       # observations per update
SURE = 0.0035                   # a cube with a smaller std is grasped only once
SLIDES = (0.0, 0.006, -0.006, 0.011, -0.011, 0.016, -0.016, 0.0)     # of further attempts, along the fingers' axis
LOWEST = 0.8225                 # of the end effector: lower, the fingers meet the container


class Belief:
    """The belief of positions in the plane: per axis a Gaussian over (bias, 3 containers, n cubes).

    With `own_std` every object has its own bias in addition to the shared one: 3 + n more components.
    """

    def __init__(self, n_cubes, own_std=None):
        size = 4 + n_cubes
        self.objects = size
        self.mean = np.zeros((2, size))
        self.mean[:, 1:4] = np.array(NOMINAL).T
        self.mean[:, 4:] = np.array(NOMINAL[0])[:, None] + np.array([[HOLE], [0.0]])
        cov = np.zeros((size, size))
        cov[0, 0] = BIAS_STD ** 2
        cov[1:, 1:] = WORLD_STD ** 2
        cov[range(1, 4), range(1, 4)] += 0.0005 ** 2
        cov[range(4, size), range(4, size)] += JITTER_STD ** 2
        self.see = np.hstack([np.ones((size - 1, 1)), np.eye(size - 1)])
        if own_std is not None:
            self.mean = np.hstack([self.mean, np.zeros((2, size - 1))])
            cov = np.block([
                [cov, np.zeros((size, size - 1))], [np.zeros((size - 1, size)), own_std ** 2 * np.eye(size - 1)],
            ])
            self.see = np.hstack([self.see, np.eye(size - 1)])
        self.cov = np.stack([cov, cov])

    def expected(self):
        """The expected observations of containers and cubes, (3 + n, 2)."""
        places = self.mean[:, 1:self.objects] + self.mean[:, :1]
        if self.mean.shape[1] > self.objects:
            places = places + self.mean[:, self.objects:]
        return places.T

    def seen(self, error, variance):
        """Update with observed minus expected positions (3 + n, 2) of this variance, one value or one per object."""
        cross = self.cov @ self.see.T
        inner = self.see @ cross + variance * np.eye(len(error))     # a row of variances scales the columns
        gain = np.linalg.solve(inner, np.swapaxes(cross, 1, 2)).swapaxes(1, 2)
        self.mean += np.einsum("akm,ma->ak", gain, error)
        self.cov -= gain @ np.swapaxes(cross, 1, 2)
        self.cov = 0.5 * (self.cov + np.swapaxes(self.cov, 1, 2))

    def touched(self, cube, direction, where, std):
        """Update with a cube's coordinate along a unit direction (2,), measured by touch."""
        k = 4 + cube
        spread = sum(direction[a] ** 2 * self.cov[a, k, k] for a in (0, 1)) + std ** 2
        error = where - direction @ self.mean[:, k]
        for a in (0, 1):
            column = self.cov[a, :, k].copy()
            self.mean[a] += direction[a] * column / spread * error
            self.cov[a] -= direction[a] ** 2 * np.outer(column, column) / spread

    def shaken(self, k, std):
        """Object k may have moved by about `std` (2,)."""
        for a in (0, 1):
            self.cov[a, k, k] += std[a] ** 2

    def forget(self, cube, where, std):
        """Reset a cube's belief to around `where`."""
        k = 4 + cube
        for a in (0, 1):
            self.cov[a, k, :] = 0.0
            self.cov[a, :, k] = 0.0
            self.cov[a, k, k] = std ** 2
        self.mean[:, k] = where

    def cube(self, cube):
        return self.mean[:, 4 + cube]

    def std(self, cube, container=None):
        """Standard deviations (2,) of a cube's place, or of its place relative to a container."""
        k = 4 + cube
        var = self.cov[:, k, k].copy()
        if container is not None:
            j = 1 + container
            var += self.cov[:, j, j] - 2 * self.cov[:, k, j]
        return np.sqrt(np.maximum(var, 0.0))


class Arm:
    """Converts a target pose into an action, with the same motion in both goal modes."""

    PULL, COAST = 2.6, 1.25       # pull per metre of error; number of last steps that it still coasts
    HELP = 0.12                   # integral gain

    def __init__(self, eef, rotation):
        self.accumulates = None   # set by the probe
        self.goal, self.goal_rotation = eef.copy(), rotation.copy()
        self.offset = np.zeros(3)
        self.last, self.last_rotation = eef.copy(), rotation.copy()
        self.way, self.turned = np.zeros(3), np.zeros(3)
        self.eef, self.rotation = eef, rotation

    def read(self, eef, rotation):
        self.way, self.turned = eef - self.eef, rotation_vector(rotation @ self.rotation.T)
        self.eef, self.rotation = eef, rotation

    def action(self, target, yaw, grip, *, limit=0.05, learn=True):
        """Seven numbers towards a target of the end effector; `limit` bounds the pull, `learn` the integral."""
        error = target - self.eef
        if learn:
            near = np.abs(error) < 0.012
            self.offset = np.where(near, np.clip(self.offset + self.HELP * error, -0.02, 0.02), self.offset)
        pull = self.PULL * (error - self.COAST * self.way)
        longest = max(np.abs(pull).max() / limit, 1.0)
        pull = np.clip(pull / longest + self.offset, -0.05, 0.05)
        want = turn_z(yaw) @ np.diag([1.0, -1.0, -1.0])
        turn = np.clip(2.0 * (rotation_vector(want @ self.rotation.T) - 1.0 * self.turned), -0.5, 0.5)
        return self._command(pull, turn, grip)

    def raw(self, action):
        """An action as it is, for the probe."""
        action = np.array(action, dtype=float)
        self.goal = self.goal + MOVE_UNIT * action[:3]
        return action

    def _command(self, pull, turn, grip):
        if self.accumulates:
            move = np.clip(self.eef + pull - self.goal, -MOVE_UNIT, MOVE_UNIT)
            self.goal = self.goal + move
            goal_rotation = rotation_matrix(turn) @ self.rotation
            turn = np.clip(rotation_vector(goal_rotation @ self.goal_rotation.T), -TURN_UNIT, TURN_UNIT)
            self.goal_rotation = rotation_matrix(turn) @ self.goal_rotation
        else:
            move = pull
        return np.concatenate([move / MOVE_UNIT, turn / TURN_UNIT, [grip]])


class Stacks:
    """The stack of cubes on every peg, from the bottom up, and their heights."""

    def __init__(self, half):
        self.half = half
        self.pegs = [list(range(len(half)))[::-1], [], []]     # large at the bottom

    def peg_of(self, cube):
        return next((p for p in range(3) if cube in self.pegs[p]), None)

    def top(self, peg, below=None):
        """Height of the top of a stack, or of the support of one of its cubes."""
        stack = self.pegs[peg]
        if below is not None and below in stack:
            stack = stack[: stack.index(below)]
        return TABLE + 2 * sum(self.half[c] for c in stack)

    def rest_height(self, cube):
        return self.top(self.peg_of(cube), below=cube) + self.half[cube]


class Hand:
    """The arm's sensors, and the motions that need nothing else. Each motion yields its actions."""

    def __init__(self, eef, rotation):
        self.arm = Arm(eef, rotation)

    def read(self, obs, eef, rotation):
        left, right = (float(q) for q in obs["robot0_gripper_qpos"])
        self.width, self.middle = 0.5 * (left - right), 0.5 * (left + right)
        self.finger_speed = float(np.abs(obs["robot0_gripper_qvel"]).max())
        self.arm.read(eef, rotation)
        self.eef = eef
        self.fingers = rotation[:2, 1] / max(np.hypot(*rotation[:2, 1]), 1e-6)
        self.yaw = float(np.arctan2(rotation[1, 0], rotation[0, 0]))

    def probe(self):
        """One push upwards: the motion continues for centimetres if increments accumulate."""
        start = self.eef[2]
        yield self.arm.raw([0, 0, 1, 0, 0, 0, OPEN])
        for _ in range(5):
            yield self.arm.raw([0, 0, 0, 0, 0, 0, OPEN])
        self.arm.accumulates = self.eef[2] - start > 0.025

    def sink(self, spot, bottom, yaw, grip, slack):
        """Descend to `bottom`, as fast as the error in the plane allows; False if something blocks the way."""
        stuck = settled = 0
        offset = self.arm.offset.copy()
        for _ in range(120):
            goal = spot()
            error = np.linalg.norm(goal - self.eef[:2])
            angle = abs(wrapped(yaw - self.yaw))
            above = self.eef[2] - bottom
            height = bottom + max(0.0, 4.0 * (error - 0.003)) + (0.02 if angle > 0.1 else 0.0)
            height = min(height, max(self.eef[2], bottom + 0.02))
            if above < slack and error < 0.004:
                settled += 1
                if settled >= 2:
                    return True
            moving = abs(self.arm.way[2]) > 0.0006
            stuck = 0 if moving or error > 0.006 or angle > 0.1 else stuck + 1
            if stuck == 0:
                offset = self.arm.offset.copy()
            if stuck >= 8 and above > slack:
                self.arm.offset = offset        # undo the integral wind-up against the obstacle
                return False
            limit = 0.05 if above > 0.03 else 0.025
            yield self.arm.action(np.append(goal, height), yaw, grip, limit=limit)
        return self.eef[2] - bottom < slack

    def release(self, half):
        """Open the fingers where the hand is, until both are clear of a cube of this half edge."""
        place = self.eef.copy()
        for _ in range(16):
            yield self.arm.action(place, self.yaw_goal, OPEN, learn=False)
            if self.width - abs(self.middle) > half + 0.002:
                return

    def rise(self, way, grip):
        goal = self.eef + np.array([0.0, 0.0, way])
        for _ in range(20):
            if self.eef[2] > goal[2] - 0.006:
                return
            yield self.arm.action(goal + np.array([0, 0, 0.01]), self.yaw_goal, grip, learn=False)

    def still(self, steps, grip):
        place = self.eef.copy()
        self.yaw_goal = 0.0
        for _ in range(steps):
            yield self.arm.action(place, self.yaw_goal, grip)


class View:
    """The belief about containers and cubes, from observations, touch and carried cubes."""

    def __init__(self, obs, hand, stacks, eef, rotation):
        self.hand, self.stacks, self.n = hand, stacks, len(stacks.half)
        self.belief = Belief(self.n)
        self.held = None
        self.hang = GRASP_DZ            # the hand above the held cube's centre
        self.steps = 0
        self.errors, self.error_count = np.zeros((3 + self.n, 3)), 0
        self.differences, self.difference_count = 0.0, 0
        self.last_readings = None
        self.noise = 0.025
        self.settle_heights()
        self.surprise = np.zeros((3 + self.n, 3))           # observed minus expected, smoothed
        self.bias_z, self.bias_z_count = 0.0, 0
        self.last_eef = eef.copy()
        self.last_yaw = float(np.arctan2(rotation[1, 0], rotation[0, 0]))
        self.box_turn = np.zeros((3, 2))
        self.cube_turn = np.zeros((self.n, 2))
        self.rough = False              # noise as in the domain's `hard`: correlated, delayed, per object
        self.first_turns = np.concatenate([obs["boxes_quat"], obs["cube_quat"]])
        self.face = [None] * self.n     # yaws of cubes' faces, by touch

    def look(self, obs):
        """Collect one observation; the belief is updated every few steps."""
        self.steps += 1
        self.carry()
        boxes, cubes = np.reshape(obs["boxes_pos"], (3, 3)), np.reshape(obs["cube_pos"], (self.n, 3))
        readings = np.concatenate([boxes, cubes])
        if self.steps < 400:
            self.measure_noise(readings)
        if self.steps == 2:
            self.judge_noise(obs)
        self.errors[:, :2] += readings[:, :2] - self.belief.expected()
        self.errors[:3, 2] += readings[:3, 2] - (TABLE + PLATE / 2)
        self.errors[3:, 2] += readings[3:, 2] - self.height
        self.error_count += 1
        if self.rough and self.steps <= ROUGH_LOOK:
            self.see_turns(obs)
            if self.steps == ROUGH_LOOK:
                self.turn_tower()
        elif self.error_count >= (8 if self.steps < 10 else BATCH):
            self.see_turns(obs)
            self.update()

    def update(self):
        """Update the belief with all observations since the last update."""
        count = self.error_count
        if not count:
            return
        error = self.errors / count
        if self.rough:
            keep = ROUGH_CORRELATION
            variance = np.full(3 + self.n, self.noise ** 2 * (1 + keep) / (1 - keep) / count)
            if self.held is not None:
                variance[3 + self.held] = 1.0           # its delayed observations carry no information
            self.belief.seen(error[:, :2], variance)
        else:
            self.belief.seen(error[:, :2], self.noise ** 2 / count)
        self.bias_z_count += count
        self.bias_z += (float(error[:3, 2].mean()) - self.bias_z) * count / self.bias_z_count
        error[:, 2] -= self.bias_z
        keep = 0.96 ** count
        self.surprise = keep * self.surprise + (1 - keep) * error
        self.errors[:], self.error_count = 0.0, 0

    def carry(self):
        """Move the held cube's belief with the hand."""
        if self.held is not None:
            k = 4 + self.held
            offset = self.belief.mean[:, k] - self.last_eef[:2]
            angle = self.hand.yaw - self.last_yaw
            c, s = np.cos(angle), np.sin(angle)
            self.belief.mean[:, k] = self.hand.eef[:2] + np.array([[c, -s], [s, c]]) @ offset
            self.height[self.held] = self.hand.eef[2] - self.hang
        self.last_eef, self.last_yaw = self.hand.eef.copy(), self.hand.yaw

    def see_turns(self, obs):
        """Average the yaws of containers and, modulo a quarter turn, of cubes."""
        yaws = quat_yaw(np.reshape(obs["boxes_quat"], (3, 4)))
        self.box_turn += np.stack([np.cos(yaws), np.sin(yaws)], axis=1)
        yaws = 4 * quat_yaw(np.reshape(obs["cube_quat"], (self.n, 4)))
        self.cube_turn = 0.9 * self.cube_turn + np.stack([np.cos(yaws), np.sin(yaws)], axis=1)

    def measure_noise(self, readings):
        """The std of the noise, from differences between steps of objects at rest."""
        if self.last_readings is not None:
            difference = (readings - self.last_readings)[:3]
            self.differences += float((difference ** 2).sum())
            self.difference_count += 9
            self.noise = max(np.sqrt(self.differences / self.difference_count / 2), 1e-4)
            if self.rough:
                self.noise /= np.sqrt(1 - ROUGH_CORRELATION)
        self.last_readings = readings

    def judge_noise(self, obs):
        """Detect `hard`: only there are orientations noisy, and it has all other kinds of noise as well."""
        turns = np.concatenate([obs["boxes_quat"], obs["cube_quat"]])
        if np.abs(turns - self.first_turns).max() > 0.002:
            self.rough = True
            self.belief = Belief(self.n, ROUGH_OWN_STD)

    def turn_tower(self):
        """Place the tower's belief in A's hole, according to A's yaw."""
        shift = HOLE * (self.box_turn[0] / np.linalg.norm(self.box_turn[0]) - [1.0, 0.0])
        self.belief.mean[:, 4:4 + self.n] += shift[:, None]
        self.errors[3:, :2] -= self.error_count * shift
        self.update()

    def lost_track(self):
        """Whether a cube is observed away from its believed position."""
        limit = max(0.018, 0.9 * self.noise)
        if self.rough:
            limit = 0.03 + 2.5 * self.noise
        off = np.linalg.norm(self.surprise[3:], axis=1) > limit
        if self.held is not None:
            off[self.held] = False
        return bool(off.any())

    # Positions

    def settle_heights(self):
        self.height = np.array([self.stacks.rest_height(c) for c in range(self.n)])

    def hole(self, peg):
        turn = self.box_turn[peg] / np.linalg.norm(self.box_turn[peg])
        return self.belief.mean[:, 1 + peg] + HOLE * turn

    def hole_yaw(self, peg):
        return float(np.arctan2(self.box_turn[peg][1], self.box_turn[peg][0]))

    def cube_yaw(self, cube):
        """Of its faces, in (-pi/4, pi/4]."""
        if self.rough:
            return quarter(self.hole_yaw(0) if self.face[cube] is None else self.face[cube])
        return float(np.arctan2(self.cube_turn[cube][1], self.cube_turn[cube][0])) / 4

    # The cube in the hand

    def feel(self, cube):
        """Update with a grasped cube, which is between the fingers."""
        self.update()
        k = 4 + cube
        moved = 0.001 + 0.004 * np.abs(self.hand.fingers)
        self.belief.shaken(k, moved)
        self.belief.touched(cube, self.hand.fingers, self.hand.fingers @ self.hand.eef[:2] + self.hand.middle, 0.0007)
        self.hang = self.hand.eef[2] - self.stacks.rest_height(cube)
        self.held = cube

    def let_go(self, cube, shaken):
        self.update()
        self.face[cube] = self.hand.yaw
        self.held = None
        self.height[cube] = self.stacks.rest_height(cube)
        self.belief.shaken(4 + cube, shaken)

    def holding(self):
        """Whether the fingers are as far apart as the held cube is wide."""
        if self.held is None:
            return False
        half = self.stacks.half[self.held]
        return 0.75 * half < self.hand.width < 1.12 * half


class FrankaPolicy:
    """Moves the tower from A to C."""

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        eef = np.array(obs["robot0_eef_pos"], dtype=float)
        rotation = matrix(np.array(obs["robot0_eef_quat"], dtype=float))
        if self.script is None:
            self.hand = Hand(eef, rotation)
            self.stacks = Stacks(np.array(obs["cube_size"], dtype=float))
            self.view = View(obs, self.hand, self.stacks, eef, rotation)
            self.log = []
            self.script = self.solve()
        self.hand.read(obs, eef, rotation)
        self.view.look(obs)
        return np.clip(next(self.script), -1.0, 1.0)

    def solve(self):
        yield from self.hand.probe()
        if self.view.rough:
            yield from self.hand.still(ROUGH_LOOK - self.view.steps, OPEN)
        need = (self.view.noise / 0.0015) ** 2 / (3 + self.view.n)
        yield from self.hand.still(int(np.clip(need, 0, 60)), OPEN)
        while True:
            move = next_move(self.stacks.pegs, self.view.n)
            if move is None:
                yield from self.hand.still(20, OPEN)     # the episode ends here, unless a belief is wrong
                done = False
            else:
                cube, target = move
                done = (yield from self.pick(cube)) and (yield from self.place(cube, target))
            if not done or self.view.lost_track():
                yield from self.find_again()

    def find_again(self):
        """Observe all cubes from above and estimate their positions without prior knowledge."""
        self.log.append((self.view.steps, "look", np.round(1000 * self.view.surprise[3:]).tolist()))
        self.view.update()
        if self.view.held is not None:
            self.view.let_go(self.view.held, (0.0, 0.0))
        yield from self.hand.rise(0.25 + TABLE - self.hand.eef[2], OPEN)
        self.view.update()
        for cube in range(self.view.n):
            self.view.belief.forget(cube, self.view.belief.cube(cube), 0.15)
        self.view.surprise[:] = 0.0
        yield from self.hand.still(int(np.clip((self.view.noise / 0.004) ** 2, 8, 60)), OPEN)
        self.view.update()
        holes = np.array([self.view.hole(peg) for peg in range(3)])
        gaps = [np.linalg.norm(holes - self.view.belief.cube(cube), axis=1) for cube in range(self.view.n)]
        self.stacks.pegs = [[], [], []]
        for cube in range(self.view.n - 1, -1, -1):
            self.stacks.pegs[int(np.argmin(gaps[cube]))].append(cube)
        self.view.settle_heights()
        self.view.surprise[:] = 0.0

    def pick(self, cube):
        """Grasp a cube; returns whether it is in the hand."""
        failures = grasps = 0
        while failures < len(SLIDES):
            yaw = self.grasp_yaw(cube)
            across = np.array([-np.sin(yaw), np.cos(yaw)])
            yield from self.wait_until_sure(cube, yaw)
            if not (yield from self.descend(cube, yaw, SLIDES[failures] * across)):
                self.log.append((self.view.steps, "landed", cube, failures))
                failures += 1
                yield from self.hand.rise(0.03, OPEN)
            elif not (yield from self.close(cube)):
                self.log.append((self.view.steps, "missed", cube, failures, self.hand.width))
                failures += 1
                yield from self.hand.release(self.stacks.half[cube])
                yield from self.hand.rise(FINGERTIP + self.stacks.half[cube] + 0.01, OPEN)
            else:
                self.view.feel(cube)
                grasps += 1
                if self.view.belief.std(cube).max() < SURE or grasps > 3:
                    return True
                self.view.let_go(cube, (0.0007, 0.0007))     # again with the hand turned
                yield from self.hand.release(self.stacks.half[cube])
                yield from self.hand.rise(FINGERTIP + self.stacks.half[cube] + 0.01, OPEN)
        return False

    def grasp_yaw(self, cube):
        """The yaw along a cube's faces; of the two options the more informative one."""
        yaw = self.view.cube_yaw(cube)
        spread = self.view.belief.std(cube)
        aside = spread[0] > 0.003 and spread[0] > spread[1]
        yaw += np.pi / 2 if aside else 0.0
        # The other option is out of the wrist's reach.
        return yaw - np.pi if self.view.rough and yaw > 0.55 * np.pi else yaw

    def wait_until_sure(self, cube, yaw):
        across = np.array([abs(np.sin(yaw)), abs(np.cos(yaw))])
        for _ in range(40):
            room = 0.034 - self.stacks.half[cube] + 0.002
            if across @ self.view.belief.std(cube) < room / 2:
                return
            yield self.hand.arm.action(self.hand.eef, self.hand.yaw, OPEN)

    def descend(self, cube, yaw, slide):
        """Descend around a cube; returns whether the way was free."""
        bottom = max(self.stacks.rest_height(cube) + GRASP_DZ, LOWEST)
        source = self.stacks.peg_of(cube)
        yield from self.travel(lambda: self.view.belief.cube(cube) + slide, bottom, yaw, OPEN, source)
        return (yield from self.hand.sink(lambda: self.view.belief.cube(cube) + slide, bottom, yaw, OPEN, 0.004))

    def close(self, cube):
        """Close the fingers; returns whether they hold something of the cube's size."""
        place = self.hand.eef.copy()
        still = 0
        for step in range(25):
            yield self.hand.arm.action(place, self.hand.yaw_goal, CLOSE)
            still = still + 1 if self.hand.finger_speed < 0.002 and step > 4 else 0
            if still >= 2:
                break
        self.view.held = cube
        held = self.view.holding()
        self.view.held = None
        return held

    def place(self, cube, target):
        source = self.stacks.peg_of(cube)
        self.stacks.pegs[source].remove(cube)
        bottom = self.stacks.top(target) + self.stacks.half[cube] + self.view.hang
        yaw = self.place_yaw(target)

        def spot():
            below = self.stacks.pegs[target]
            goal = self.view.belief.cube(below[-1]) if below else self.view.hole(target)
            return goal - (self.view.belief.cube(cube) - self.hand.eef[:2])

        yield from self.travel(spot, bottom, yaw, CLOSE, target, source)
        if not (yield from self.hand.sink(spot, bottom, yaw, CLOSE, 0.002)) and not self.stacks.pegs[target]:
            yield from self.seek_hole(spot, bottom, yaw)
        self.stacks.pegs[target].append(cube)
        held = self.view.holding()
        yield from self.hand.release(self.stacks.half[cube])
        self.view.let_go(cube, (0.001, 0.001))
        if not held:
            self.log.append((self.view.steps, "lost", cube))
            return False
        yield from self.hand.rise(2 * FINGERTIP + self.stacks.half[cube], OPEN)
        return True

    def seek_hole(self, spot, bottom, yaw):
        """On the rim a cube is a centimetre too high: slide it around until it drops in."""
        self.log.append((self.view.steps, "rim", self.view.held))
        start = self.hand.eef.copy()
        for radius in (0.006, 0.011):
            for angle in np.arange(8) * np.pi / 4:
                goal = start + radius * np.array([np.cos(angle), np.sin(angle), 0.0])
                for _ in range(8):
                    if self.hand.eef[2] < bottom + 0.005:
                        place = self.hand.eef[:2].copy()
                        yield from self.hand.sink(lambda place=place: place, bottom, yaw, CLOSE, 0.002)
                        return
                    yield self.hand.arm.action(goal - [0.0, 0.0, 0.002], yaw, CLOSE, limit=0.02, learn=False)

    def place_yaw(self, target):
        """The hand's yaw for the held cube to be in line with its hole, by the smaller turn."""
        if not self.view.rough:
            return self.hand.yaw_goal
        return self.hand.yaw_goal + quarter(self.view.hole_yaw(target) - self.hand.yaw_goal)

    def travel(self, spot, bottom, yaw, grip, *pegs):
        """Rise, cross above all obstacles, and descend to 3 cm above `bottom`."""
        hang = self.view.hang + self.stacks.half[self.view.held] if self.view.held is not None else FINGERTIP
        ys = [self.view.hole(p)[1] for p in pegs] + [self.hand.eef[1], spot()[1]]
        low, high = min(ys) - 0.06, max(ys) + 0.06
        tops = [self.stacks.top(p) for p in range(3) if low < self.view.hole(p)[1] < high]
        clear = max([TABLE + PLATE, *tops]) + hang + (0.022 if self.view.rough else 0.015)
        self.hand.yaw_goal = yaw
        for _ in range(150):
            goal = spot()
            if self.view.held is not None and not self.view.holding():
                return
            far = np.linalg.norm(goal - self.hand.eef[:2])
            over = max(clear, bottom + 0.02)
            if far < 0.012:
                return
            if self.hand.eef[2] < over - 0.012 and far > 0.03:
                goal = self.hand.eef[:2]
            yield self.hand.arm.action(np.append(goal, over + 0.004), yaw, grip)


def next_move(pegs, n):
    """(cube, to): the next move of the shortest solution from any legal state; None when the tower is on C."""
    where = {cube: p for p in range(3) for cube in pegs[p]}
    target, move = 2, None
    for cube in range(n - 1, -1, -1):
        if where[cube] != target:
            move = cube, target
            target = 3 - where[cube] - target
    return move


def quarter(angle):
    """The equivalent angle of a square, in [-pi/4, pi/4)."""
    return (angle + np.pi / 4) % (np.pi / 2) - np.pi / 4


def wrapped(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


def turn_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def matrix(quat):
    """Rotation matrix of a quaternion x, y, z, w."""
    x, y, z, w = quat
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def quat_yaw(quats):
    """Yaws of quaternions (n, 4), w, x, y, z."""
    w, x, y, z = quats.T
    return np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def rotation_vector(rotation):
    """Axis times angle of a rotation matrix."""
    axis = 0.5 * np.array([
        rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1],
    ])
    sine, cosine = float(np.linalg.norm(axis)), 0.5 * (float(np.trace(rotation)) - 1.0)
    angle = np.arctan2(sine, cosine)
    if sine < 1e-6:
        return axis if cosine > 0 else np.array([0.0, 0.0, angle])
    return axis * (angle / sine)


def rotation_matrix(vector):
    """Rotation matrix of axis times angle."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
