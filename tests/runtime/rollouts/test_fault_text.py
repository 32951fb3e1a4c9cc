"""Hostile policies: each gets its fault, and the pool continues."""

import asyncio
import os
import subprocess
import sys
import time

import pytest
from memento.core.faults import FaultKind
from memento.core.ports import RollTask
from memento.core.recording_file import load_recording
from memento.runtime.rollouts.program_process import overdue, queue_clock

from ...support import hostile as programs


def task(program, order="g1/hill/0/e0", split="search", index=0, seed=1):
    return RollTask(order=order, program=program, split=split, index=index, seed=seed)


@pytest.mark.slow
async def test_every_hostile_policy_gets_its_fault_and_good_ones_are_unharmed(make_pool, tmp_path):
    batch = []
    for number, (program, _) in enumerate(programs.HOSTILE.values()):
        batch.append(task(program, order=f"g1/macro/{number}/e0"))
        batch.append(task(programs.GOOD, order=f"g1/hill/{number}/e0"))
    async with make_pool(2) as pool:
        episodes = await asyncio.gather(*(pool.roll(each) for each in batch))
    hostile, good = episodes[::2], episodes[1::2]
    outcomes = {
        name: (episode.fault.kind if episode.fault else None)
        for name, episode in zip(programs.HOSTILE, hostile, strict=True)
    }
    assert outcomes == {name: kind for name, (_, kind) in programs.HOSTILE.items()}
    assert all(episode.success and episode.steps == good[0].steps for episode in good)
    for (group, _), episode in zip(programs.HOSTILE, hostile, strict=True):
        steps = 0 if group == "not-started" else 2
        assert (episode.ended_by, episode.success, episode.steps) == ("fault", False, steps)
        recording = load_recording(tmp_path / "trajectories" / f"{episode.trajectory}.npz")
        assert recording.steps == steps
        assert len(episode.fault.message) <= 600 and len(episode.fault.traceback) <= 4000


async def test_a_fault_shows_the_programs_own_lines_and_its_output(make_pool):
    program = programs.policy("print('so far so good')\nreturn self.helper(obs)\n\ndef never(): pass")
    async with make_pool() as pool:
        crashed = await pool.roll(task(program))
        started = await pool.roll(task(programs.NOT_STARTED["syntax"]))
    assert crashed.fault.message.startswith("AttributeError: 'Policy' object has no attribute 'helper'")
    assert "return self.helper(obs)" in crashed.fault.traceback
    assert "program.py" in crashed.fault.traceback and "/runtime/" not in crashed.fault.traceback
    assert "so far so good" in crashed.fault.traceback
    assert "class Policy(:" in started.fault.traceback


@pytest.mark.slow
@pytest.mark.parametrize(("body", "kind"), [
    ("return ('go', None)", None),
    ("return ['fly', None]", FaultKind.INVALID_ACTION),
    ("return 'go'", FaultKind.INVALID_ACTION),
    ("return ['go', float('nan')]", FaultKind.INVALID_ACTION),
    ("return ['go', 10 ** 400]", FaultKind.INVALID_ACTION),
    ("return ['go', 2 ** 64]", FaultKind.INVALID_ACTION),
    ("return ['go', object()]", FaultKind.INVALID_ACTION),
    ("return ['go', 'x' * 1_000_000]", FaultKind.INVALID_ACTION),
    ("return ['go', np.float32(1) if obs['words'] == ['a', 'b'] else 1 / 0]", None),
    ("x = []\nfor _ in range(100_000): x = [x]\nreturn x", FaultKind.INVALID_ACTION),
    ("os.write(3, b'\\x13\\0\\0\\0\\x02\\0\\0\\0]]')\ntime.sleep(5)", FaultKind.INVALID_ACTION),
    ("raise ValueError('mine')", FaultKind.CRASHED),
])
async def test_json_actions(make_pool, body, kind):
    async with make_pool() as pool:
        episode = await pool.roll(task(programs.policy(body), split="json"))
    assert (episode.fault.kind if episode.fault else None) == kind
    assert episode.success == (kind is None)


async def test_what_a_program_forks_dies_with_it(make_pool):
    """Only if forking is allowed; the check that no process is left runs after every test."""
    fork = "pid = os.fork()\nif pid == 0:\n    {leave}\n    time.sleep(1000)\nreturn [0.1, 0, 0]"
    async with make_pool() as pool:
        stays = await pool.roll(task(programs.policy(fork.format(leave="pass"))))
        leaves = await pool.roll(task(programs.policy(fork.format(leave="os.setsid()\n    if os.fork(): os._exit(0)"))))
        after = await pool.roll(task(programs.GOOD))
    assert after.success
    for episode in (stays, leaves):
        assert episode.success or episode.fault.kind is FaultKind.CRASHED  # the sandbox may forbid fork


@pytest.mark.slow
async def test_total_limits_hold_over_an_episode(make_pool, short_limits):
    """Each step is within its limit, but all together are not."""
    burn = "t = sum(os.times()[:2])\nwhile sum(os.times()[:2]) - t < 0.25: pass\nreturn [0, 0, 0]"
    async with make_pool(limits=short_limits(episode_cpu_s=1.0)) as pool:
        burner = await pool.roll(task(programs.policy(burn), split="long"))
    async with make_pool(limits=short_limits(episode_wait_s=1.0)) as pool:
        sleeper = await pool.roll(task(programs.policy("time.sleep(0.3)\nreturn [0, 0, 0]"), split="long"))
    assert burner.fault.kind is FaultKind.TIMED_OUT and "in all" in burner.fault.message
    assert 2 <= burner.steps <= 5
    assert sleeper.fault.kind is FaultKind.TIMED_OUT and "in all" in sleeper.fault.message


@pytest.mark.slow
async def test_a_slow_start_is_allowed_more_cpu_than_a_step(make_pool):
    burn = "if not hasattr(self, 'n'):\n    self.n = 1\n    t = sum(os.times()[:2])\n" \
           "    while sum(os.times()[:2]) - t < 0.8: pass\nreturn [0.2, 0, 0]"
    async with make_pool() as pool:
        assert (await pool.roll(task(programs.policy(burn, init="sum(range(10_000_000))")))).success


@pytest.mark.parametrize(("wall_s", "busy_s", "late"), [
    (9.9, 0.0, False),      # within its limit of 10 s
    (10.1, 0.0, True),      # a sleeper
    (10.1, 0.2, False),     # it slept for less than the limit
    (99.0, 89.5, False),    # it computes or waits for a processor
    (99.0, 30.0, True),
    (100.1, 100.1, True),   # the patience is limited, too
])
def test_a_sleeper_is_distinguished_from_a_loaded_machine(wall_s, busy_s, late):
    assert overdue(wall_s, busy_s, 10.0) is late


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux keeps this time")
def test_the_time_in_the_queue_for_a_processor_is_read(tmp_path):
    cpu = min(os.sched_getaffinity(0))
    burn = "import os, time\nt = time.process_time()\nwhile time.process_time() - t < 0.3: pass\n"
    pinned = f"import os; os.sched_setaffinity(0, {{{cpu}}})\n"
    both = [subprocess.Popen([sys.executable, "-S", "-c", pinned + burn + "input()"], stdin=subprocess.PIPE)
            for _ in range(2)]
    try:
        read = [queue_clock(one.pid) for one in both]
        deadline = time.monotonic() + 60
        while sum(clock() for clock in read) < 0.1:     # two programs on one processor: one of them waits
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        for one in both:
            one.kill()
            one.communicate()
    assert queue_clock(both[0].pid)() == 0.0
