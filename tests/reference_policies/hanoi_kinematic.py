"""A hand-written policy that solves the kinematic Hanoi task, to prove it solvable. For tests only."""

import numpy as np

TABLE = 0.8
UNIT = 0.05
NOMINAL = np.array([[0.055, -0.25], [0.055, 0.0], [0.055, 0.25]])


class FrankaPolicy:
    """Averages the objects' shared bias, measures it by touch in two directions, then relies on the hand's pose."""

    def __init__(self, goal_update="achieved"):
        self.accumulate = goal_update == "desired"

    def reset(self):
        self.script = None

    def compute_action(self, obs):
        self.obs = obs
        self.eef = np.array(obs["robot0_eef_pos"])
        self.width = float(obs["robot0_gripper_qpos"][0])
        x, y, z, w = obs["robot0_eef_quat"]
        self.yaw = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
        if self.script is None:
            self.size = np.array(obs["cube_size"])
            self.n = len(self.size)
            self.seen_sum, self.seen_count = np.zeros(2), 0
            self.integral = np.zeros(3)
            self.first = True
            self.goal = self.eef.copy()
            self.carried = None
            self.bias_sum, self.bias_count = np.zeros(2), np.zeros(2)
            self.script = self.solve()
        boxes = np.array(obs["boxes_pos"]).reshape(3, 3)[:, :2]
        self.seen_sum += (boxes - (NOMINAL - [0.055, 0.0])).mean(axis=0)
        if self.first:      # the untouched tower reveals the same
            cubes = np.array(obs["cube_pos"]).reshape(-1, 3)[:, :2]
            self.seen_sum += (cubes - NOMINAL[0]).mean(axis=0)
            self.seen_count += 1
        self.seen_count += 1
        if self.carried is not None:    # the held cube reveals the bias during the whole move
            seen = np.array(obs["cube_pos"]).reshape(-1, 3)[self.carried, :2]
            known = np.array([1.0 if self.carried == 0 else 0.0, 1.0])
            self.bias_sum += known * (seen - (self.eef[:2] + self.offset))
            self.bias_count += known
        return next(self.script)

    # Planning

    def solve(self):
        yield from self.wait(25)
        pegs = [list(range(self.n))[::-1], [], []]          # large at the bottom
        self.at = dict.fromkeys(range(self.n))    # true xy by touch
        for cube, source, target in hanoi(self.n, 0, 1, 2):
            for attempt in range(6):
                if (yield from self.pick(cube, pegs, source, attempt)):
                    break
            else:
                break
            pegs[source].pop()
            yield from self.place(cube, pegs, target)
            pegs[target].append(cube)
            self.first = False
        yield from self.go([*self.eef[:2], self.clear(pegs) + 0.08], grip=-1, tolerance=0.01)
        while True:
            yield np.zeros(7)

    def hole(self, peg):
        shift = self.seen_sum / self.seen_count
        return NOMINAL[peg] + shift - self.bias_sum / np.maximum(self.bias_count, 1)

    def top(self, stack):
        return TABLE + 2 * sum(self.size[c] for c in stack)

    def clear(self, pegs):
        return max(self.top(stack) for stack in pegs)

    def pick(self, cube, pegs, source, attempt):
        centre_z = self.top(pegs[source]) - self.size[cube]
        guess = self.at[cube] if self.at[cube] is not None else self.hole(source)
        spiral = [(0, 0), (0, 0.006), (0, -0.006), (0.008, 0), (-0.008, 0), (0, 0.011)][attempt]
        target = np.append(guess + spiral, centre_z + (0.0 if self.size[cube] < 0.03 else 0.003))
        above = self.clear(pegs) + 0.035
        yield from self.go([*self.eef[:2], above], grip=-1, tolerance=0.02)
        yield from self.go([*target[:2], above], yaw=0.0, grip=-1, tolerance=0.006)
        yield from self.go(target, yaw=0.0, grip=-1, tolerance=0.0025, limit=14)
        yield from self.close()
        if abs(self.width - self.size[cube]) > 0.004:
            yield from self.go([*self.eef[:2], above], grip=-1, tolerance=0.02)
            return False
        if self.first:
            yield from self.learn_bias(cube, target[2])
        else:
            along_x = self.hole(source)[0] if self.at[cube] is None else self.at[cube][0]
            self.at[cube] = np.array([along_x, self.eef[1]])
        self.offset = self.at[cube] - self.eef[:2]
        self.offset[1] = 0.0
        self.carried = cube
        return True

    def learn_bias(self, cube, height):
        """Grasp again with the hand turned, to centre the cube on both axes; then observe it for some steps."""
        yield from self.regrasp(height, np.pi / 2)
        self.offset, self.carried = np.zeros(2), cube
        for _ in range(60):
            yield self.hold_still(1)
        self.carried = None
        yield from self.regrasp(height, 0.0)
        self.at[cube] = self.eef[:2].copy()

    def regrasp(self, height, yaw):
        place = self.eef[:2].copy()
        yield from self.open()
        yield from self.go([*place, height + 0.06], grip=-1, tolerance=0.02)
        yield from self.go([*place, height + 0.06], yaw=yaw, grip=-1, limit=25)
        yield from self.go([*place, height], yaw=yaw, grip=-1, limit=12)
        yield from self.close()

    def place(self, cube, pegs, target):
        below = pegs[target][-1] if pegs[target] else None
        known = below is not None and self.at[below] is not None
        goal = (self.at[below] if known else self.hole(target)) - self.offset
        height = self.top(pegs[target]) + self.size[cube]
        grasp_lift = 0.0 if self.size[cube] < 0.03 else 0.003
        above = self.clear(pegs) + 2 * self.size[cube] + 0.015
        yield from self.go([*self.eef[:2], above], grip=1, tolerance=0.02)
        yield from self.go([*goal, above], grip=1, tolerance=0.02)
        yield from self.go([*goal, height + 0.02], grip=1, tolerance=0.005)
        low = height + grasp_lift - 0.001
        yield from self.go([*goal, low], grip=1, tolerance=0.002, limit=8)
        if not pegs[target]:
            yield from self.find_hole(goal, low)
        self.at[cube] = self.eef[:2] + self.offset
        self.carried = None
        yield from self.open()
        yield from self.go([*self.eef[:2], height + self.size[cube] + 0.03], grip=-1, tolerance=0.02)

    def find_hole(self, goal, low):
        """On the rim a cube stands a centimetre too high: slide it around until it drops in."""
        for radius in (0.005, 0.009):
            for angle in np.arange(8) * np.pi / 4:
                if self.eef[2] < low + 0.005:
                    return
                offset = radius * np.array([np.cos(angle), np.sin(angle)])
                yield from self.go([*(goal + offset), low], grip=1, tolerance=0.002, limit=4)

    # Motion

    def go(self, target, *, grip, yaw=None, tolerance=0.003, limit=30):
        target = np.array(target)
        for _ in range(limit):
            error = target - self.eef
            turn = 0.0 if yaw is None else (yaw - self.yaw + np.pi) % (2 * np.pi) - np.pi
            if np.abs(error).max() < tolerance and abs(turn) < 0.05:
                return
            if abs(error[2]) < 0.015:      # only the height has a steady error
                self.integral[2] = np.clip(self.integral[2] + 0.3 * error[2], -0.015, 0.015)
            action = np.zeros(7)
            action[:3] = self.increment(target)
            action[5] = turn / 0.25
            action[6] = grip
            yield np.clip(action, -1, 1)

    def hold_still(self, grip):
        action = np.zeros(7)
        action[:3] = self.increment(None)
        action[6] = grip
        return action

    def increment(self, target):
        """The command to reach `target`, or to hold the hand's position."""
        if not self.accumulate:
            error = 0.0 if target is None else target - self.eef
            return (error + self.integral) / UNIT
        if target is None:
            return np.zeros(3)
        step = np.clip((target + self.integral - self.goal) / UNIT, -1.0, 1.0)
        self.goal = self.goal + UNIT * step
        return step

    def wait(self, steps):
        for _ in range(steps):
            yield self.hold_still(-1)

    def close(self):
        last = 1.0
        while abs(last - self.width) > 1e-4 or last == 1.0:
            last = self.width
            yield self.hold_still(1)

    def open(self):
        for _ in range(2):
            yield self.hold_still(-1)


def hanoi(n, source, spare, target):
    if n == 0:
        return []
    return [*hanoi(n - 1, source, target, spare), (n - 1, source, target), *hanoi(n - 1, spare, source, target)]
