"""A user's domain that draws its episodes without graphics: a square that slides to the right."""

import numpy as np
from memento.core.errors import no_such
from memento.core.recording import Recording
from memento.core.values import Brief, Contract, Program

POLICY = "class P:\n    def reset(self):\n        pass\n    def compute_action(self, obs):\n        return [1.0]\n"


class Slide:
    observation_layout = (("x", (1,)),)
    action_size = 1

    def __init__(self, options):
        self._horizon = options["horizon"]

    def reset(self, *, index, seed):
        self._xs = [float(seed % 7)]
        self._pushes = []

    def observe(self):
        return np.array(self._xs[-1:])

    def step(self, action):
        self._pushes.append([float(action[0])])
        self._xs.append(self._xs[-1] + float(action[0]))
        return "horizon" if len(self._pushes) >= self._horizon else None

    def success(self):
        return False

    def recording(self):
        return Recording(states={"x": np.array(self._xs)}, actions={"push": np.array(self._pushes).reshape(-1, 1)})

    def close(self):
        pass


class Slides:
    step_s = 0.1

    def __init__(self, recording, camera, width, height):
        self._xs, self._camera, self._size = recording.states["x"], camera, (height, width)

    def picture(self, row):
        picture = np.full((*self._size, 3), 230, dtype=np.uint8)
        left = int(4 * self._xs[row])
        picture[10:20, left : left + 10] = (200, 30, 30) if self._camera == "red" else (30, 30, 200)
        return picture

    def caption(self, row):
        return (f"x is {self._xs[row]:g}",)

    def close(self):
        pass


class Renderer:
    cameras = ("red", "blue")

    def require(self):
        pass

    def playback(self, recording, *, camera, width, height):
        if camera not in self.cameras:
            raise no_such("camera", camera, self.cameras)
        return Slides(recording, camera, width, height)


class Domain:
    name = "slide"
    title = "A square that slides"
    contract = Contract(class_name="P", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    def options(self, given, *, preset):
        return {"horizon": 9, **given}

    def brief(self, options):
        return Brief(task="", policy_interface="", evaluator_interface="")

    def environment(self, options):
        return Slide(options)

    def reference_evaluator(self):
        return None

    def shelf(self):
        return None


class Painted(Domain):
    def renderer(self, options):
        return Renderer()


DOMAIN, PLAIN = Painted(), Domain()
PROGRAM = Program(POLICY)
