"""The contents of a program process: no secrets, bounded resources, nothing of the project; layers as data."""

import os
import signal

import pytest
from memento.core.ports import RollTask
from memento.core.values import Program
from memento.runtime.rollouts import sandbox
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.memory_kills import memory_kills
from memento.runtime.rollouts.program_process import MemoryShort, ProgramFailed, ProgramLauncher

from ...support import hostile

pytestmark = pytest.mark.quick

LOOK_AROUND = Program("""
import os, resource, sys

def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True

class Evaluator:
    def evaluate(self, trajectory):
        return 0.0, {
            "environ": dict(os.environ),
            "descriptors": [fd for fd in range(200) if is_open(fd)],
            "address": resource.getrlimit(resource.RLIMIT_AS)[0],
            "cpu": resource.getrlimit(resource.RLIMIT_CPU)[0],
            "core": resource.getrlimit(resource.RLIMIT_CORE)[1],
            "file": resource.getrlimit(resource.RLIMIT_FSIZE)[1],
            "modules": sorted(name for name in sys.modules if name.startswith("memento")),
            "path": [each for each in sys.path if "site-packages" in each],
            "argv": sys.argv,
            "directory": os.getcwd(),
        }
""")


async def test_a_program_finds_nothing_of_the_project(make_pool, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    async with make_pool() as pool:
        episode = await pool.roll(
            RollTask(order="t0/e0", program=hostile.GOOD, split="search", index=0, seed=1)
        )
        score = await pool.score(LOOK_AROUND, episode)
    assert score.fault is None
    assert dict(score.metrics) == {
        "environ": {}, "descriptors": [0, 1, 2, 3], "address": 4 << 30, "cpu": 4, "core": 0,
        "file": 0, "modules": [], "path": [], "argv": [""], "directory": "/",
    }


def test_a_program_process_tells_the_layers_that_are_promised():
    launcher = ProgramLauncher(Limits(), lambda: False)
    try:
        process = launcher.launch(
            "policy", hostile.GOOD, seed=1, cpu_s=5, reset=True, layout=None, action_size=None,
            **{"class": "Policy"},
        )
        live = process.await_hardened()
        assert live
        assert set(live) == {name for name, layer in sandbox.layers().items() if layer.live}
        process.end()
    finally:
        launcher.close()


@pytest.mark.parametrize(("counts", "kind"), [((3, 3), ProgramFailed), ((3, 4), MemoryShort)])
def test_a_process_that_the_kernel_ends_for_memory_is_not_blamed_at_once(counts, kind):
    """The count rises while the program runs: somebody else's memory ended it, so the task is tried again."""
    left = iter(counts)
    launcher = ProgramLauncher(Limits(), lambda: False, kills=lambda: next(left))
    try:
        process = launcher.launch(
            "policy", hostile.GOOD, seed=1, cpu_s=5, reset=True, layout=None, action_size=None, **{"class": "Policy"},
        )
        process.await_hardened()
        os.kill(process.pid, signal.SIGKILL)
        process.begin()
        with pytest.raises(ProgramFailed) as caught:
            while True:     # what it sent before its end
                process.receive(0, 1 << 16)
    finally:
        launcher.close()
    assert type(caught.value) is kind and caught.value.answer == ("done" if kind is ProgramFailed else "killed")


@pytest.mark.parametrize(("files", "count"), [
    ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.events": "low 1\noom 5\noom_kill 2\n"}, 2),
    ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/memory.events": "oom_kill 3\n"}, 3),
    ({"proc/self/cgroup": "4:memory:/b\n0::/\n",
      "sys/fs/cgroup/memory/b/memory.oom_control": "under_oom 0\noom_kill 7\n"}, 7),
    ({"proc/self/cgroup": "4:memory:/b\n", "proc/vmstat": "nr_free_pages 9\noom_kill 4\n"}, 4),
    ({}, 0),
])
def test_where_kills_for_memory_are_counted(tmp_path, files, count):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory_kills(tmp_path) == count
