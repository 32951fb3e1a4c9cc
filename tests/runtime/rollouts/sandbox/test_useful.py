"""Honest programs work in the sandbox: linear algebra, random numbers, lazy imports, clocks, warnings."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from memento.core.values import Program

from ....support import ON_PATH
from .arena import GOOD, LIMITS, pool, task

pytestmark = pytest.mark.quick

HONEST = {
    "linear algebra": "m = np.eye(3) + 0.1\nreturn np.allclose(m @ np.linalg.solve(m, np.ones(3)), 1)",
    "large products": "return (np.ones((300, 300)) @ np.ones((300, 300))).sum() == 300**3",
    "decompositions": "return np.allclose(np.linalg.svd(np.diag([1.0, 2.0]))[1], [2, 1]) and np.linalg.qr(np.eye(2))",
    "transforms": "return np.allclose(np.fft.ifft(np.fft.fft(np.arange(8))).real, np.arange(8))",
    "polynomials": "return np.allclose(np.polyfit([0, 1, 2], [1, 3, 5], 1), [2, 1])",
    "random numbers": "r = np.random.default_rng(3)\nreturn r.normal(size=9).std() > 0 and 0 <= np.random.rand() < 1",
    "Python's random": "import random\nrandom.shuffle([1, 2])\nreturn 0 <= random.Random(3).random() < 1",
    "dataclasses": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int = 3\nreturn A().x == 3",
    "the clock": "import time\nreturn time.perf_counter() > 0 and time.monotonic() > 0 and time.process_time() >= 0",
    "short sleeps": "import time\ntime.sleep(0.001)\nreturn True",
    "rare modules": "import colorsys, graphlib, wave, calendar\nreturn graphlib.TopologicalSorter() is not None",
    "lazy imports of numpy": "import numpy.testing\nreturn numpy.testing.assert_allclose(1, 1) is None",
    "fresh caches": "import importlib, sys\nimportlib.invalidate_caches()\nimport sched\nreturn True",
    "dates": "import datetime\nreturn datetime.datetime.strptime('2026-01-02', '%Y-%m-%d').day == 2",
    "kinds of dates": (
        "import datetime as d\nnow = d.datetime.now()\nlater = now + d.timedelta(days=1)\n"
        "return isinstance(now, d.date) and isinstance(later, d.datetime)"
    ),
    "decimals": "from decimal import Decimal\nreturn Decimal('0.1') + Decimal('0.2') == Decimal('0.3')",
    "encodings": "return 'käse'.encode('utf-16').decode('utf-16') == 'käse' and 'x'.encode('idna') == b'x'",
    "warnings": "import warnings\nwarnings.warn('look')\nreturn np.isnan(np.float64(0) / np.float64(0))",
    "a logger": "import logging\nlogging.getLogger('mine').warning('look')\nreturn True",
    "an optional package": "try:\n    import scipy\nexcept ImportError:\n    scipy = None\nreturn scipy is None",
    "looking for a package": "import importlib.util\nreturn importlib.util.find_spec('scipy') is None",
    "garbage collection": "import gc\ngc.collect()\nreturn True",
    "a hundred megabytes": "return np.zeros(100 << 17).nbytes == 100 << 20",
    "a trace as text": (
        "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    return '1 / 0' in traceback.format_exc()"
    ),
}


def evaluator(body: str) -> Program:
    lines = "\n".join("        " + line for line in body.splitlines())
    return Program(
        f"import numpy as np\n\n\nclass Evaluator:\n    def answer(self):\n{lines}\n\n"
        "    def evaluate(self, trajectory):\n        return float(bool(self.answer())), {}\n"
    )


async def test_honest_programs_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)
    async with pool(tmp_path, LIMITS["usual"], workers=1) as running:
        episode = await running.roll(task("good", GOOD.text))
        scores = {name: await running.score(evaluator(body), episode) for name, body in HONEST.items()}
    assert {name: score.fault for name, score in scores.items() if score.fault} == {}
    assert {name: score.fitness for name, score in scores.items()} == dict.fromkeys(HONEST, 1.0)


CHANCE = """
import datetime, os, random, secrets, time, uuid
import numpy as np


class Evaluator:
    def evaluate(self, trajectory):
        begun = time.perf_counter()
        rounds = 0
        while time.perf_counter() - begun < 0.01:
            rounds += 1
        drawn = [os.urandom(4).hex(), secrets.token_hex(4), str(uuid.uuid4()), random.SystemRandom().random(),
                 float(np.random.default_rng().normal()), random.random(), float(np.random.rand())]
        read = [time.time(), time.monotonic_ns(), time.process_time(), time.ctime(), time.strftime("%H:%M:%S"),
                str(datetime.datetime.now()), str(datetime.datetime.utcnow()), str(datetime.date.today()),
                str(datetime.datetime.now(datetime.timezone.utc)), time.clock_gettime(time.CLOCK_MONOTONIC)]
        return 0.5, {"rounds": rounds, "drawn": "|".join(map(str, drawn)), "read": "|".join(map(str, read))}
"""


@pytest.mark.slow
async def test_clocks_and_entropy_repeat_with_the_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)
    async with pool(tmp_path, LIMITS["usual"], workers=2) as running:
        first, other = [await running.roll(replace(task("good", GOOD.text), order=f"o{n}", seed=n)) for n in (1, 2)]
        scores = [await running.score(Program(CHANCE), episode) for episode in (first, first, other)]
    assert [score.fault for score in scores] == [None] * 3
    assert scores[0].metrics == scores[1].metrics
    assert scores[0].metrics["rounds"] == scores[2].metrics["rounds"] == 99
    assert scores[0].metrics["drawn"] != scores[2].metrics["drawn"]


async def test_a_fault_shows_the_lines_of_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)
    text = (
        "import numpy as np\n\n\nclass Policy:\n    def reset(self):\n        pass\n\n"
        "    def compute_action(self, observation):\n        return self.gain(observation['x'])\n\n"
        "    def gain(self, x):\n        return np.linalg.inv(np.zeros((3, 3))) @ x\n"
    )
    async with pool(tmp_path, LIMITS["usual"], workers=1) as running:
        episode = await running.roll(task("faulty", text))
    assert episode.fault is not None
    assert episode.fault.message == "LinAlgError: Singular matrix"
    assert "return self.gain(observation['x'])" in episode.fault.traceback
    assert 'File "program.py", line 12, in gain' in episode.fault.traceback
    assert 'File "numpy/linalg/linalg.py"' in episode.fault.traceback
