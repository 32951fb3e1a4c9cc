"""A tiny domain for the pool's tests: a point on a line that must reach 1. No simulator, no dependencies."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from memento.core.errors import no_such
from memento.core.recording import Recording
from memento.core.values import JSON, Brief, Contract


def fail_by(way: str) -> None:
    """What simulators do in a state that they cannot compute."""
    match way:
        case "raising":
            raise RuntimeError("the state diverged\nsee the manual")
        case "leaving":
            sys.exit("simulator lost")
        case "dying":
            os._exit(3)
        case "crashing":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "a text that fails":
            raise Unprintable
        case "value":
            raise ValueError("nothing of the policy's")


class Unprintable(Exception):
    """Its message cannot be made."""

    def __str__(self) -> str:
        raise TypeError("no text")


class ToyEnvironment:
    """State x of 3 numbers; each action is added; success where x[0] > 1 within the horizon."""

    observation_layout = (("x", (3,)), ("grid", (2, 2)), ("time", ()))
    action_size = 3

    def __init__(self, options: Mapping[str, JSON]) -> None:
        self.horizon = int(options.get("horizon", 20))
        self.trap = str(options.get("trap", ""))
        self.flag = Path(str(options.get("flag", "")))

    def reset(self, *, index: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.x = self.rng.normal(0, 0.01, 3)
        self.states, self.actions, self.index = [self.x.copy()], [], index
        if self.trap == "hang-once" and not self.flag.exists():
            self.flag.write_text(str(os.getpid()))
            time.sleep(1000)

    def observe(self):
        t = len(self.actions)
        return np.concatenate([self.x + self.rng.normal(0, 1e-3, 3), np.full(4, t), [t]])

    def step(self, action):
        if self.trap == "raise":
            raise RuntimeError("the simulator exploded")
        if self.trap.startswith("far ") and self.x[0] > 0.5:     # a state that few policies reach
            fail_by(self.trap.removeprefix("far "))
        if self.trap == "die-once" and not self.flag.exists():
            self.flag.write_text(str(os.getpid()))
            os._exit(9)
        if self.trap == "noise":
            sys.stdout.write("simulator noise\n")
            os.write(1, b"\0\1\2 raw noise\n")
        self.x = self.x + np.clip(action, -0.2, 0.2)
        self.states.append(self.x.copy())
        self.actions.append(np.array(action, dtype=float))
        if self.x[0] > 1:
            return "success"
        return "horizon" if len(self.actions) >= self.horizon else None

    def success(self) -> bool:
        return bool(self.x[0] > 1)

    def recording(self) -> Recording:
        planted = {"success": np.full(len(self.states), 73519428.0)} if self.trap == "planted success" else {}
        return Recording(
            states={"x": np.array(self.states), **planted}, actions={"action": np.array(self.actions).reshape(-1, 3)},
            constants={"goal": np.array([1.0])}, info={"scene": f"toy{self.index}", "drawn": float(self.states[0][0])},
        )

    def close(self) -> None:
        pass


class JsonEnvironment(ToyEnvironment):
    observation_layout = None
    action_size = None

    def observe(self):
        return {"x": super().observe()[:3].tolist(), "words": ["a", "b"]}

    def step(self, action):
        if len(action) != 2 or action[0] not in ("go", "stay"):
            raise ValueError(f"there is no action {action!r}")
        return super().step(np.full(3, 0.2 if action[0] == "go" else 0.0))


class ToyDomain:
    name = "toy"
    title = "Toy"
    contract = Contract(class_name="Policy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    def options(self, given, *, preset):
        known = {"horizon": 20, "trap": "", "flag": "", "json": False}
        for key in given:
            if key not in known:
                raise no_such("option of toy", key, known)
        return {**known, **given}

    def brief(self, options):
        return Brief(
            task="Bring x to 1.",
            policy_interface="class Policy with reset(self) and compute_action(self, obs); obs has x, grid and time.",
            evaluator_interface="class Evaluator with evaluate(self, trajectory), a dict of x, action and goal.",
        )

    def reference_evaluator(self):
        return None

    def shelf(self):
        return None

    def environment(self, options):
        return (JsonEnvironment if options.get("json") else ToyEnvironment)(options)


DOMAIN = ToyDomain()
