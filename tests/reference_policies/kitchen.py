"""A policy that solves the task from observations only: it maps free cells and remembers the objects it saw."""

from heapq import heappop, heappush
from math import atan2, degrees, hypot

STEP = 0.25
WAYS = ((0, 1), (1, 0), (0, -1), (-1, 0))
EYE = 0.675


SECTORS = [
    [
        (dx, dz) for dx in range(-6, 7) for dz in range(-6, 7)
        if dx * fx + dz * fz >= 1 and abs(dx * fz - dz * fx) <= 1.3 * (dx * fx + dz * fz) and dx * dx + dz * dz <= 33
    ]
    for fx, fz in WAYS
]
AROUND = [(dx, dz) for dx in range(-3, 4) for dz in range(-3, 4) if abs(dx) + abs(dz) <= 3]
WORTH = [(dx, dz) for dx in range(-5, 6) for dz in range(-5, 6) if abs(dx) + abs(dz) <= 6]


class Policy:
    """Explores with a map of free and blocked cells; tries poses around an object until an action works."""

    def __init__(self, seed=0):
        self.seed = seed
        self.reset()

    def reset(self):
        self.free = set()               # cells where the agent has stood
        self.walls = set()              # cells that could not be entered
        self.edges = set()              # steps that failed for the moment (open doors, held item)
        self.furnished = set()          # lattice points near something that stands or lies there
        self.soft = set()               # cells that could not be entered with a held item or an open door
        self.covered = set()            # observed lattice points
        self.where = {}                 # type -> (id, x, y, z)
        self.good = {}                  # (action, id) -> poses where the action was offered
        self.tried = {}                 # stage -> poses where it failed
        self.searched = set()           # ids of receptacles looked into
        self.last_pose = None
        self.parents = ""
        self.peeks = 0
        self.cramped = None

    # ---------------------------------------------------------------- seeing

    def take_in(self, obs):
        position = obs["agent"]["position"]
        self.eye = position["y"] + EYE
        self.cell = (round(position["x"] / STEP), round(position["z"] / STEP))
        self.yaw = round(obs["agent"]["rotation"]["y"] / 90) % 4
        self.horizon = round(obs["agent"]["cameraHorizon"])
        self.pose = (self.cell, self.yaw, self.horizon)
        self.space = obs["action_space"]
        self.holding = obs["inventory"]["holding"]
        self.done = obs["task_progress"]
        self.free.add(self.cell)
        self.walls.discard(self.cell)
        result = obs["last_action_result"]
        if result["action"] == "move_ahead" and not result["success"]:
            dx, dz = WAYS[self.yaw]
            ahead = (self.cell[0] + dx, self.cell[1] + dz)
            doors = self.done["fridge_open"] or self.done["microwave_open"]
            if ahead in self.free:
                self.edges.add((self.cell, ahead))
            elif self.holding or doors:
                self.soft.add(ahead)
            else:
                self.walls.add(ahead)
        if result["action"] in ("close_object", "put_object", "pickup_object") and result["success"]:
            self.edges.clear()
            self.soft.clear()
        self.turn_failed = result["action"] in ("rotate_left", "rotate_right") and not result["success"]
        self.failed = None if result["success"] else (result["action"], result["object_id"])
        for seen in obs["visible_objects"]:
            kind = seen["objectType"]
            self.note_furniture(seen)
            if kind == "Apple":
                self.parents = "".join(seen["parentReceptacles"] or [])
            if kind in ("Apple", "Bread", "Microwave", "Fridge") and kind not in self.where:
                self.where[kind] = (seen["objectId"], *map(float, seen["objectId"].split("|")[1:4]))
        for action, ids in self.space.items():
            for object_id in ids:
                self.good.setdefault((action, object_id), set()).add(self.pose)
        if self.horizon >= 0:
            self.covered |= self.sector(self.cell, self.yaw)

    def note_furniture(self, seen):
        """Mark cells of objects at a height between 0.3 and 1.3 m, which block the agent."""
        if seen["isPickedUp"] or seen["objectType"] in ("Floor", "Window", "LightSwitch", "Blinds", "Curtains"):
            return
        x, y, z = map(float, seen["objectId"].split("|")[1:4])
        if self.eye - 1.3 < y < self.eye - 0.3:
            cell = (round(x / STEP), round(z / STEP))
            self.furnished |= {(cell[0] + dx, cell[1] + dz) for dx, dz in WORTH}
            if cell not in self.free:
                self.walls.add(cell)

    def sector(self, cell, yaw):
        return {(cell[0] + dx, cell[1] + dz) for dx, dz in SECTORS[yaw]}

    # ---------------------------------------------------------------- walking

    def distances(self):
        """Steps to every (cell, yaw), with unknown cells assumed free; and the predecessors."""
        start = (self.cell, self.yaw)
        known = {(x + dx, z + dz) for x, z in self.free for dx, dz in AROUND} - self.walls - self.soft
        doubtful = {(x + dx, z + dz) for x, z in self.walls for dx, dz in WAYS} - self.free
        cost, came = {start: 0}, {}
        queue = [(0, start)]
        while queue:
            spent, state = heappop(queue)
            if spent > cost[state]:
                continue
            (x, z), yaw = state
            dx, dz = WAYS[yaw]
            ahead = (x + dx, z + dz)
            options = [(((x, z), (yaw + 1) % 4), "rotate_right", 1), (((x, z), (yaw - 1) % 4), "rotate_left", 1)]
            if ahead in known and ((x, z), ahead) not in self.edges:
                price = 1 if ahead in self.free else 4 if ahead in doubtful else 1.5
                options.append(((ahead, yaw), "move_ahead", price))
            for after, name, price in options:
                if after not in cost or spent + price < cost[after]:
                    cost[after] = spent + price
                    came[after] = (state, name)
                    heappush(queue, (spent + price, after))
        return cost, came

    def first_step(self, came, goal):
        name = None
        while goal in came:
            goal, name = came[goal]
        return name

    def look_to(self, horizon):
        return "look_down" if horizon > self.horizon else "look_up"

    # ---------------------------------------------------------------- stages

    def work(self, action, kind):
        """The next action towards an action on an object: one step, or the action itself."""
        object_id, x, y, z = self.where[kind]
        stage = (action, kind, self.holding)
        tried = self.tried.setdefault(stage, set())
        if self.failed == (action, object_id):
            tried.add(self.pose)
        if object_id in self.space[action] and self.pose not in tried:
            return action, object_id
        good = self.good.get((action, object_id), set()) - tried
        height = {"Fridge": self.eye - 0.6}.get(kind, y + 0.1)
        reach = 2.1 if kind == "Fridge" else 1.75
        cost, came = self.distances()
        best = None
        for (cell, yaw), steps in cost.items():
            dx, dz = x - cell[0] * STEP, z - cell[1] * STEP
            away = hypot(dx, dz)
            if not 0.3 < away < reach:
                continue
            fx, fz = WAYS[yaw]
            off = abs(degrees(atan2(dx * fz - dz * fx, dx * fx + dz * fz)))
            if off > 50:
                continue
            pitch = degrees(atan2(self.eye - height, away))
            for horizon in (-30, 0, 30, 60):
                pose = (cell, yaw, horizon)
                if pose in tried or pose == self.pose:
                    continue
                if abs(pitch - horizon) > 40 and pose not in good:
                    continue
                price = steps + 1.0 * abs(horizon - self.horizon) / 30
                price += 0 if pose in good else 3 + abs(pitch - horizon) / 20 + off / 20
                price += 0 if cell in self.free else 2
                if action == "put_object" or (action == "open_object" and self.holding):
                    price += max(0.0, (1.0 if kind == "Fridge" else 0.6) - away) * 4
                if action == "put_object":
                    price += max(0.0, away - 1.1) * 8
                if best is None or price < best[0]:
                    best = (price, pose)
        if object_id not in self.space[action]:
            tried.add(self.pose)
        if best is None:
            tried.clear()
            return self.explore()
        cell, yaw, horizon = best[1]
        if (cell, yaw) != (self.cell, self.yaw):
            name = self.first_step(came, (cell, yaw))
            if name:
                return name, None
        if horizon != self.horizon:
            return self.look_to(horizon), None
        tried.add(self.pose)
        return "rotate_right", None

    def explore(self):
        """Look at lattice points that were not observed yet."""
        if self.horizon != 30:
            return self.look_to(30), None
        cost, came = self.distances()
        worth = {(x + dx, z + dz) for x, z in self.free for dx, dz in WORTH} - self.covered
        best = None
        for (cell, yaw), steps in cost.items():
            if steps == 0:
                continue
            points = [(cell[0] + dx, cell[1] + dz) for dx, dz in SECTORS[yaw]]
            gain = sum((1 + 2 * (point in self.furnished)) for point in points if point in worth)
            if gain < 3:
                continue
            value = gain / (steps + 3)
            if best is None or value > best[0]:
                best = (value, (cell, yaw))
        if best is None:
            unknown = [(steps, state) for state, steps in cost.items() if state[0] not in self.free]
            self.peeks = 0 if not unknown else self.peeks
            if not unknown:
                self.covered.clear()
                return "rotate_right", None
            best = (0, min(unknown)[1])
        return self.first_step(came, best[1]), None

    def compute_action(self, obs):
        self.take_in(obs)
        if self.turn_failed:
            self.cramped = self.cell
        if self.cramped == self.cell and self.holding:
            if self.horizon < 60:
                return "look_down", None
            if self.turn_failed:
                return "move_ahead", None
        name, object_id = self.decide()
        if self.cramped == self.cell and self.holding and name == "look_up":
            cost, came = self.distances()
            options = [(steps, state) for state, steps in cost.items() if state[0] != self.cell]
            name = self.first_step(came, min(options)[1]) if options else "rotate_right"
        return name, object_id

    def decide(self):
        done, where = self.done, self.where
        if self.holding == "Apple":
            if "Microwave" not in where:     # an open door blocks half the room
                return self.work("close_object", "Fridge") if done["fridge_open"] else self.explore()
            if done["fridge_open"] and where["Fridge"][0] in self.space["close_object"] and self.failed is None:
                return "close_object", where["Fridge"][0]
            return self.work("put_object" if done["microwave_open"] else "open_object", "Microwave")
        if not self.holding and done["fridge_open"] and done["bread_in_fridge"] and "Apple" in where:
            inside = "Fridge" in (self.parents or "")
            if not inside:
                return self.work("close_object", "Fridge")
        if self.holding == "Bread":
            if "Fridge" not in where:
                return self.explore()
            return self.work("put_object" if done["fridge_open"] else "open_object", "Fridge")
        if done["apple_in_microwave"] and not done["microwave_on"]:
            return self.work("close_object" if done["microwave_open"] else "toggle_on", "Microwave")
        ready = done["fridge_open"] or "Microwave" in where
        if "Apple" in where and not done["apple_in_microwave"] and ready:
            return self.work("pickup_object", "Apple")
        if "Bread" in where and not done["bread_in_fridge"] and "Fridge" in where:
            return self.work("pickup_object", "Bread")
        if "Apple" not in where and "Fridge" in where and (done["bread_in_fridge"] or self.explored()):
            if not done["fridge_open"] and self.peeks == 0:
                return self.work("open_object", "Fridge")
            if self.peeks < 40:
                self.peeks += 1
                return self.look_into_fridge()
            if done["fridge_open"]:
                return self.work("close_object", "Fridge")
        return self.explore()

    def explored(self):
        return len(self.free) > 25

    def look_into_fridge(self):
        """Look into the open fridge from different poses in front of it."""
        _, x, _, z = self.where["Fridge"]
        tried = self.tried.setdefault("view", set())
        tried.add(self.pose)
        cost, came = self.distances()
        best = None
        for (cell, yaw), steps in cost.items():
            dx, dz = x - cell[0] * STEP, z - cell[1] * STEP
            fx, fz = WAYS[yaw]
            along, across = dx * fx + dz * fz, abs(dx * fz - dz * fx)
            if not (0.5 < along < 1.7 and across < 0.5 * along) or (cell not in self.free and steps > 14):
                continue
            for horizon in (0, 30, 60):
                pose = (cell, yaw, horizon)
                price = steps + abs(horizon - self.horizon) / 30 + abs(along - 1.1)
                if pose not in tried and (best is None or price < best[0]):
                    best = (price, pose)
        if best is None:
            self.peeks = 99
            return self.explore()
        cell, yaw, horizon = best[1]
        if (cell, yaw) != (self.cell, self.yaw):
            return self.first_step(came, (cell, yaw)), None
        return self.look_to(horizon), None
