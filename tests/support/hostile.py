"""Programs for the pool's tests: well-behaved ones, and hostile ones with their expected outcomes."""

from memento.core.faults import FaultKind
from memento.core.values import Program


def policy(body: str = "return [0.1, 0, 0]", *, init: str = "pass", reset: str = "pass", head: str = "") -> Program:
    """A policy with these method bodies, each one or more lines."""
    def indent(text: str) -> str:
        return "\n".join("        " + line for line in text.splitlines())

    return Program(
        f"import os, sys, time, signal, socket\nimport numpy as np\n{head}\n"
        f"class Policy:\n    def __init__(self):\n{indent(init)}\n"
        f"    def reset(self):\n{indent(reset)}\n    def compute_action(self, obs):\n{indent(body)}\n"
    )


GOOD = policy()

STEP_TWO = "self.n = getattr(self, 'n', 0) + 1\nif self.n < 3:\n    return [0, 0, 0]\n"  # faults at step 2

NOT_STARTED = {
    "syntax": Program("class Policy(:\n"),
    "raises at load": Program("raise ValueError('no')\n"),
    "no class": Program("x = 1\n"),
    "class is a number": Program("Policy = 3\n"),
    "raises in init": policy(init="1 / 0"),
    "raises in reset": policy(reset="raise KeyError('x')"),
    "exits at load": Program("import os\nos._exit(0)\n"),
    "SystemExit at load": Program("raise SystemExit(0)\n"),
    "loops at load": Program("while True: pass\n"),
    "sleeps at load": Program("import time\ntime.sleep(1000)\n"),
    "forges ready": Program("import os\nos.write(3, b'\\x07' * 8 + b'junk')\nimport time\ntime.sleep(9)\n"),
    "null bytes": Program("class Policy:\n  x = '\0'\n"),
    "lone surrogate": Program("class Policy:\n  x = '\ud800'\n"),
    "needs an argument": Program("class Policy:\n    def __init__(self, a):\n        pass\n"),
    "imports the project": Program("import memento.core.values\nclass Policy: pass\n"),
}

CRASHED = {
    "raises": policy(STEP_TWO + "raise RuntimeError('boom')"),
    "exits 0": policy(STEP_TWO + "os._exit(0)"),
    "SystemExit": policy(STEP_TWO + "sys.exit(0)"),
    "KeyboardInterrupt": policy(STEP_TWO + "raise KeyboardInterrupt"),
    "kills its parent": policy(STEP_TWO + "os.kill(os.getppid(), 9)\ntime.sleep(1000)"),
    "kills itself": policy(STEP_TWO + "os.kill(os.getpid(), 9)"),
    "floods stdout": policy(STEP_TWO + "while True: print('x' * 100000)"),
    "floods fd 2": policy(STEP_TWO + "while True: os.write(2, b'x' * 100000)"),
    "allocates 100 GB": policy(STEP_TWO + "return bytearray(100 << 30)"),
    "closes its channel": policy(STEP_TWO + "os.close(3)\ntime.sleep(1000)"),
    "half a frame and exit": policy(STEP_TWO + "os.write(3, b'\\x13\\0')\nos._exit(0)"),
    "recursion": policy(STEP_TWO + "return self.compute_action(obs)"),
    "raises what cannot be told": policy(
        STEP_TWO + "raise Odd()", head="class Odd(Exception):\n    def __str__(self): raise ValueError\n"
    ),
    "needs a missing field": policy(STEP_TWO + "return obs['nothing']"),
}

TIMED_OUT = {
    "loops": policy(STEP_TWO + "while True: pass"),
    "sleeps": policy(STEP_TWO + "time.sleep(1000)"),
    "ignores SIGXCPU and loops": policy(STEP_TWO + "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"),
    "half a frame and sleep": policy(STEP_TWO + "os.write(3, b'\\x13\\0')\ntime.sleep(1000)"),
}

INVALID_ACTION = {
    "None": policy(STEP_TWO + "return None"),
    "too short": policy(STEP_TWO + "return [1, 2]"),
    "a matrix": policy(STEP_TWO + "return np.zeros((1, 3))"),
    "a scalar": policy(STEP_TWO + "return 1.0"),
    "NaN": policy(STEP_TWO + "return np.array([0, np.nan, 0])"),
    "inf": policy(STEP_TWO + "return [0, 0, float('inf')]"),
    "strings": policy(STEP_TWO + "return ['1', '2', '3']"),
    "objects": policy(STEP_TWO + "return [object(), 1, 2]"),
    "complex": policy(STEP_TWO + "return [1j, 1, 2]"),
    "ragged": policy(STEP_TWO + "return [[1], [1, 2], 3]"),
    "huge": policy(STEP_TWO + "return np.zeros(10_000_000)"),
    "a dict": policy(STEP_TWO + "return {'action': [1, 2, 3]}"),
    "forged kind": policy(STEP_TWO + "os.write(3, b'\\x77\\0\\0\\0\\x02\\0\\0\\0ab')\ntime.sleep(9)"),
    "forged size": policy(STEP_TWO + "os.write(3, b'\\x13\\0\\0\\0\\xff\\xff\\xff\\xff')\ntime.sleep(9)"),
    "forged short action": policy(STEP_TWO + "os.write(3, b'\\x13\\0\\0\\0\\x08\\0\\0\\0' + bytes(64))\ntime.sleep(9)"),
    "an array that raises": policy(
        STEP_TWO + "return Odd()", head="class Odd:\n    def __array__(self, *a, **k): raise SystemExit\n"
    ),
}

HOSTILE = {
    **{("not-started", name): (program, FaultKind.NOT_STARTED) for name, program in NOT_STARTED.items()},
    **{("crashed", name): (program, FaultKind.CRASHED) for name, program in CRASHED.items()},
    **{("timed-out", name): (program, FaultKind.TIMED_OUT) for name, program in TIMED_OUT.items()},
    **{("invalid", name): (program, FaultKind.INVALID_ACTION) for name, program in INVALID_ACTION.items()},
}
