"""The pool of processes beyond the port: leaks, order, cancellation, and that it ends cleanly."""

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memento.agents.rollout_agents import scored
from memento.core.errors import RecordingLost, RolloutError
from memento.core.faults import FaultKind
from memento.core.ports import ProbeTask
from memento.core.recording_file import load_recording
from memento.core.variables import common_kernels
from memento.runtime.rollouts import worker_messages as messages
from memento.runtime.rollouts.pool import KILLED_TRIES, ProcessPool
from memento.runtime.rollouts.worker_handle import worker_environment

from ...benchmarks.processes import levels, parents
from ...conformance.pool import ENDLESS, HALF, LOOPING, task
from ...support import ON_PATH, hostile
from ...support.leftovers import descriptors, processes_of
from ...support.processes import members_of

pytestmark = pytest.mark.quick


def workers_of(controller):
    return [pid for pid, command in processes_of(controller).items() if "memento.runtime.rollouts.worker" in command]


async def until(condition, limit_s=60.0):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.01)


async def test_the_seed_of_a_program_is_not_the_seed_of_the_simulator(make_pool, tmp_path):
    """A policy that draws with the seed it is given must not see what the simulator drew."""
    program = hostile.policy("return [self.seed, 0, 0]")
    program = dataclasses.replace(program, text=program.text.replace(
        "def __init__(self):\n        pass", "def __init__(self, seed=0):\n        self.seed = seed"))
    async with make_pool() as pool:
        episode = await pool.roll(task(program))
        recording = load_recording(tmp_path / "trajectories" / f"{episode.trajectory}.npz")
    assert recording.actions["action"][0][0] not in (0, episode.seed)


async def test_a_recording_that_was_deleted_is_made_again_for_its_score(make_pool, tmp_path):
    async with make_pool() as pool:
        episode = await pool.roll(task(hostile.GOOD))
        expected = await pool.score(HALF, episode)
        path = tmp_path / "trajectories" / f"{episode.trajectory}.npz"
        path.unlink()
        with pytest.raises(RecordingLost, match=path.name):
            await pool.score(HALF, episode)
        assert await scored(pool, HALF, episode, lambda _: task(hostile.GOOD)) == expected and path.exists()
        path.unlink()
        other = dataclasses.replace(episode, steps=episode.steps + 1)
        with pytest.raises(RolloutError, match="do not agree"):
            await scored(pool, HALF, other, lambda _: task(hostile.GOOD))


async def test_nothing_leaks_from_one_episode_to_the_next(make_pool):
    program = hostile.policy(
        "Policy.calls += 1\nnp.leak = getattr(np, 'leak', 0) + 1\n"
        "return [0.1 if Policy.calls == np.leak == obs['time'] + 1 else np.nan, 0, 0]",
        head="",
    )
    program = dataclasses.replace(program, text=program.text.replace("class Policy:", "class Policy:\n    calls = 0"))
    async with make_pool() as pool:
        episodes = [await pool.roll(task(program, number)) for number in range(3)]
    assert all(episode.success for episode in episodes)


async def test_observations_are_fresh_writable_arrays_of_the_layout(make_pool):
    body = (
        "shapes = {name: (a.shape, a.dtype.name, a.flags.writeable, type(a).__name__) for name, a in obs.items()}\n"
        "assert shapes == {'x': ((3,), 'float64', True, 'ndarray'), 'grid': ((2, 2), 'float64', True, 'ndarray'),\n"
        "                  'time': ((), 'float64', True, 'ndarray')}, shapes\n"
        "assert type(obs) is dict and list(obs) == ['x', 'grid', 'time']\n"
        "assert (obs['grid'] == obs['time']).all() and obs['time'] == len(self.kept)\n"
        "self.kept.append(obs)\n"
        "assert [o['time'] for o in self.kept] == list(range(len(self.kept)))\n"
        "obs['x'][:] = 99\n"
        "return np.array([0.1, 0, 0], dtype=np.float32)"
    )
    async with make_pool() as pool:
        episode = await pool.roll(task(hostile.policy(body, init="self.kept = []")))
    assert episode.fault is None and episode.success


async def test_a_simulator_may_print_what_it_likes(make_pool):
    async with make_pool(trap="noise") as pool:
        assert (await pool.roll(task(hostile.GOOD))).success


@pytest.mark.slow
async def test_tasks_run_at_once_and_in_the_order_of_asking(make_pool):
    seen = []
    async with make_pool(2, observer=seen.append) as pool:
        await asyncio.gather(*(pool.roll(task(hostile.GOOD, number)) for number in range(8)))
    begun = list(dict.fromkeys(each.order for each in seen if each.order))
    assert begun == [f"g1/hill/{number}/e0" for number in range(8)]
    assert {each.worker for each in seen if each.order} == {0, 1}
    assert {each.phase for each in seen} == {"starting", "idle", "environment", "working"}


async def test_splits_with_equal_options_share_an_environment(make_pool, tmp_path, short_limits):
    make_pool()     # lets workers import the toy domain
    seen = []
    same, other = {"horizon": 5, "trap": ""}, {"horizon": 6}
    splits = {"search": same, "final": dict(reversed(same.items())), "other": other}
    async with ProcessPool(domain="toy_domain:DOMAIN", splits=splits, workers=1, limits=short_limits(),
                           trajectories=tmp_path / "shared", observer=seen.append) as pool:
        steps = [(await pool.roll(task(hostile.GOOD, n, split=name))).steps for n, name in
                 enumerate(["search", "final", "other", "search"])]
    assert steps == [5, 5, 6, 5]
    assert [activity.phase for activity in seen].count("environment") == 2


@pytest.mark.slow
async def test_workers_without_a_task_make_their_environment_meanwhile(make_pool, tmp_path, short_limits):
    tasks = [task(hostile.GOOD, number) for number in range(5)]
    async with make_pool() as cold:
        expected = [(await cold.roll(each)).steps for each in tasks]
    seen = []

    def made() -> list[tuple[int, str]]:
        return sorted((each.worker, each.doing) for each in seen if each.phase == "environment")

    pool = ProcessPool(domain="toy_domain:DOMAIN", splits={"search": {"horizon": 20}}, workers=2, warm="search",
                       limits=short_limits(), trajectories=tmp_path / "warm", observer=seen.append)
    async with pool:
        first = await pool.roll(tasks[0])
        await until(lambda: len(made()) == 2 and len(pool._slots.idle) == 2, 60)
        others = await asyncio.gather(*map(pool.roll, tasks[1:]))
    assert made() == [(0, "roll"), (1, "warm")], "the worker that was used already is not warmed"
    assert [each.steps for each in (first, *others)] == expected


@pytest.mark.slow
async def test_what_fails_while_a_worker_warms_up_is_reported_by_the_first_episode(make_pool, tmp_path, short_limits):
    make_pool()
    async with ProcessPool(domain="toy_domain:DOMAIN", splits={"search": {"trap": "raise"}}, workers=1,
                           warm="search", limits=short_limits(), trajectories=tmp_path / "warm") as pool:
        await until(lambda: pool._slots.all[0].used and pool._slots.idle, 60)
        with pytest.raises(RolloutError):
            await pool.roll(task(hostile.GOOD))


@pytest.mark.slow
async def test_an_observer_sees_the_steps_of_a_long_episode(make_pool):
    seen = []
    async with make_pool(observer=seen.append) as pool:
        rolling = asyncio.create_task(pool.roll(task(ENDLESS, split="long")))
        await until(lambda: any(each.steps > 10 for each in seen))
        rolling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rolling


@pytest.mark.parametrize("program", [ENDLESS, LOOPING])
async def test_cancelling_frees_the_worker_at_once_and_keeps_it(make_pool, short_limits, program):
    async with make_pool(limits=short_limits(step_cpu_s=100, start_cpu_s=100, step_wall_s=100)) as pool:
        await pool.roll(task(hostile.GOOD))
        worker = workers_of(os.getpid())
        rolling = asyncio.create_task(pool.roll(task(program, split="long")))
        waiting = asyncio.create_task(pool.roll(task(hostile.GOOD, 1)))
        await asyncio.sleep(0.5)
        begun = time.monotonic()
        rolling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rolling
        assert time.monotonic() - begun < 5
        assert (await waiting).success
        assert workers_of(os.getpid()) == worker


@pytest.mark.slow
async def test_cancelling_a_hung_simulator_replaces_its_worker(make_pool, tmp_path):
    flag = tmp_path / "flag"
    async with make_pool(trap="hang-once", flag=str(flag)) as pool:
        worker = workers_of(os.getpid())
        rolling = asyncio.create_task(pool.roll(task(hostile.GOOD)))
        await until(flag.exists)
        rolling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rolling
        assert (await pool.roll(task(hostile.GOOD, 1))).success
        assert workers_of(os.getpid()) != worker


@pytest.mark.parametrize("depth", [0, 1], ids=["worker", "warm process"])
async def test_an_episode_survives_the_kills_of_its_processes(make_pool, depth):
    slow = hostile.policy("time.sleep(0.05)\nreturn [0.1, 0, 0]")
    async with make_pool() as pool:
        rolling = asyncio.create_task(pool.roll(task(slow)))
        killed = [await kill_9(depth) for _ in range(KILLED_TRIES - 1)]
        assert (await rolling).success
        assert len({*killed}) == KILLED_TRIES - 1


@pytest.mark.slow
async def test_a_program_that_always_ends_with_the_process_that_guards_it_is_at_fault(make_pool):
    async with make_pool() as pool:
        rolling = asyncio.create_task(pool.roll(task(hostile.policy("time.sleep(0.05)\nreturn [0.1, 0, 0]"))))
        for _ in range(KILLED_TRIES):
            await kill_9(1)
        fault = (await rolling).fault
    assert fault is not None and fault.kind is FaultKind.CRASHED and "guards it" in fault.message


async def kill_9(depth: int) -> int:
    """Kill the only worker, or its warm process, as soon as a program has taken a few steps."""
    def found():
        return [level for worker in workers_of(os.getpid()) for level in ({worker}, *levels(worker))]

    await until(lambda: len(found()) == 3)
    await asyncio.sleep(0.15)
    [victim] = found()[depth]
    os.kill(victim, signal.SIGKILL)
    await until(lambda: victim not in parents())
    return victim


@pytest.mark.slow
@pytest.mark.parametrize(("way", "said"), [
    ("leaving", "SystemExit: simulator lost (toy_domain.py, line "),
    ("crashing", "its process ended by SIGSEGV"),
    ("a text that fails", "Unprintable: (its message cannot be read)"),
    ("value", "ValueError: nothing of the policy's"),
])
async def test_whatever_a_simulator_does_in_a_far_state_is_a_fault(make_pool, way, said):
    """Reported for ARISE-Initiative/robosuite#102, openai/mujoco-py#736 and jr-robotics/robo-gym#74."""
    async with make_pool(trap=f"far {way}") as pool:
        failed = await pool.roll(task(hostile.GOOD))
        assert (await pool.roll(task(hostile.policy("return [0, 0, 0]"), 1))).fault is None
    assert failed.fault.kind is FaultKind.SIMULATOR_FAILED and said in failed.fault.message
    assert "Traceback" not in failed.fault.message


async def test_probes_that_the_simulator_does_not_survive_are_left_out(make_pool):
    async with make_pool(trap="raise") as pool:
        probes = await pool.record_probes(ProbeTask(order="eval/probes", split="search", seed=3, steps=8, cuts=()))
    assert probes == ()


@pytest.mark.slow
async def test_workers_that_are_killed_while_they_start_are_started_again(make_pool, tmp_path, monkeypatch):
    """The first three die before they are ready."""
    (tmp_path / "dying_domain.py").write_text(
        "import os, pathlib, signal\nfrom toy_domain import DOMAIN\nflags = pathlib.Path(__file__).parent\n"
        "number = len(list(flags.glob('died*')))\nif number < 3:\n    (flags / f'died{number}').touch()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    async with make_pool(domain="dying_domain:DOMAIN") as pool:
        assert (await pool.roll(task(hostile.GOOD))).success
    assert len([*tmp_path.glob("died*")]) == 3


async def test_a_domain_that_cannot_be_imported_is_an_error_at_the_start(make_pool):
    with pytest.raises(RolloutError, match="No module named 'no_such_domain'"):
        async with make_pool(2, domain="no_such_domain:DOMAIN"):
            pass


@pytest.mark.slow
async def test_leaving_the_pool_with_work_under_way_ends_it_all(make_pool, short_limits):
    limits = short_limits(step_cpu_s=100, start_cpu_s=100, step_wall_s=100)
    async with make_pool(2, limits=limits) as pool:
        rolls = [asyncio.create_task(pool.roll(task(program, n, split="long")))
                 for n, program in enumerate([ENDLESS, LOOPING, ENDLESS])]
        await asyncio.sleep(0.6)
    results = await asyncio.gather(*rolls, return_exceptions=True)
    assert all(isinstance(result, RolloutError) for result in results)


async def test_a_worker_keeps_no_descriptor_or_child_after_an_episode(make_pool):
    def held():
        [worker] = workers_of(os.getpid())
        return len(descriptors(worker)), len(processes_of(os.getpid()))

    async with make_pool() as pool:
        await pool.roll(task(hostile.GOOD))
        before = held()
        for program in [hostile.GOOD, hostile.CRASHED["exits 0"], hostile.CRASHED["floods stdout"]] * 3:
            await pool.roll(task(program))
        assert held() == before


CONTROLLER = """
import asyncio, pathlib
from memento.tests.support import hostile
from memento.core.ports import RollTask
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.pool import KILLED_TRIES, ProcessPool

async def main():
    limits = Limits(step_cpu_s=1000, start_cpu_s=1000, step_wall_s=1000)
    fork = "try: os.fork()\\nexcept OSError: pass\\nos.setsid() if os.getpid() != self.pid else None\\ntime.sleep(1000)"
    programs = [hostile.policy("return [0, 0, 0]"), hostile.policy("while True: pass"),
                hostile.policy("signal.signal(15, signal.SIG_IGN)\\n" + fork, init="self.pid = os.getpid()")]
    async with ProcessPool(domain="toy_domain:DOMAIN", splits={{"long": {{"horizon": 10**9}}}}, workers=3,
                           trajectories=pathlib.Path({folder!r}), limits=limits) as pool:
        rolls = [pool.roll(RollTask(order=f"g1/hill/{{n}}", program=p, split="long", index=n, seed=n))
                 for n, p in enumerate(programs)]
        await asyncio.gather(*rolls)

asyncio.run(main())
"""


def test_all_processes_die_with_a_killed_controller(tmp_path):
    script = CONTROLLER.format(folder=str(tmp_path))
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ON_PATH), os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen([sys.executable, "-c", script], env=found) as controller:
        deadline = time.monotonic() + 20
        while len(processes_of(controller.pid)) < 9 and time.monotonic() < deadline:
            time.sleep(0.05)
        alive = processes_of(controller.pid)
        controller.kill()
    assert len(alive) >= 9  # three workers, three warm processes, three programs
    deadline = time.monotonic() + 5
    while processes_of(controller.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_of(controller.pid) == {}


def test_a_worker_gets_no_secret_of_the_controller():
    given = {"PATH": "/bin", "OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "MUJOCO_GL": "egl", "AWS_SECRET": "s",
             "HTTPS_PROXY": "user:password", "NVIDIA_API_KEY": "k", "CUDA_SECRET": "s", "AI2THOR_TOKEN": "t",
             "VK_PASSWORD": "p", "LC_KEY": "k", "NVIDIA_VISIBLE_DEVICES": "0"}
    environment = worker_environment(given)
    assert environment["PATH"] == "/bin" and environment["MUJOCO_GL"] == "egl"
    assert environment["PYTHONHASHSEED"] == "0"
    assert environment.items() >= common_kernels().items()
    assert set(environment) & set(given) == {"PATH", "MUJOCO_GL", "NVIDIA_VISIBLE_DEVICES"}


def environments_of_children():
    return [Path(f"/proc/{pid}/environ").read_bytes() for pid in members_of(os.getpid())]


async def test_the_environment_of_a_live_worker_holds_no_planted_key(make_pool, monkeypatch):
    planted = {f"{name}_{word}": f"planted-{word}" for name in ("NVIDIA", "CUDA", "AI2THOR", "VK", "MESA", "LC")
               for word in ("API_KEY", "TOKEN", "SECRET", "PASSWORD", "BASE_URL")}
    for name, value in planted.items():
        monkeypatch.setenv(name, value)
    async with make_pool(1):
        blocks = environments_of_children()
    assert any(b"PYTHONHASHSEED" in block for block in blocks), "the worker was looked at"
    assert not any(b"planted" in block for block in blocks)


async def test_a_cancelled_read_of_a_message_loses_nothing():
    stream = asyncio.StreamReader()
    reader = messages.MessageReader(stream)
    packed = messages.pack({"note": "one"}, b"blob") + messages.pack({"note": "two"})
    for byte in packed:  # every read but two is cancelled somewhere within a message
        stream.feed_data(bytes([byte]))
        try:
            async with asyncio.timeout(0.001):
                message = await reader.read()
        except TimeoutError:
            continue
        if message == {"note": "two"}:
            break
        assert message == {"note": "one"}
    else:
        pytest.fail("the second message never came")


async def test_cancelling_at_any_moment_of_a_start_leaves_nothing(make_pool):
    """The check is the fixture's: no process, no descriptor."""
    for turns in range(0, 40, 3):
        async def enter():
            async with make_pool(2):
                await asyncio.sleep(10)

        entering = asyncio.create_task(enter())
        for _ in range(turns):
            await asyncio.sleep(0)
        await asyncio.sleep(turns * 0.002)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
