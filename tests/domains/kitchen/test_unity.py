"""The unity back end through the unmodified ai2thor client: the same episodes as without it, and no deadlocks."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memento.core.errors import RolloutError, UsageError
from memento.core.ports import RollTask
from memento.core.values import Program
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen.environment import KitchenEnvironment
from memento.domains.kitchen.observation import ACTIONS, OBJECT_ACTIONS
from memento.domains.kitchen.unity.build import PLATFORMS, client_commit, find, installed
from memento.domains.kitchen.unity.client import Client, Deadlines
from memento.domains.kitchen.unity.simulator import Unity
from memento.runtime.rollouts.pool import ProcessPool

from ...reference_policies.kitchen import Policy
from .kitchens import RECORDINGS, needs_recordings
from .players import alive, bad_build, build

QUICK = Deadlines(start_s=20.0, reset_s=20.0, step_s=1.5)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary home folder, since the client creates folders there."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return build(tmp_path)


def pair(program: Path, scenes: list[str], **given: Any) -> tuple[KitchenEnvironment, KitchenEnvironment]:
    """The environment through the client, and the one on the embedded simulator."""
    through = DOMAIN.environment(DOMAIN.options(
        {"backend": "unity", "unity_build": str(program), "scenes": scenes, "horizon": 60}, preset="paper"
    ))
    directly = DOMAIN.environment(DOMAIN.options(
        {"scenes": scenes, "horizon": 60, "through_walls": True, **given}, preset="paper"))
    return through, directly     # type: ignore[return-value]


class Wanderer:
    """A random policy: mostly moves and valid object actions, some invalid ones."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def compute_action(self, obs: dict[str, Any]) -> list[Any]:
        valid = [[name, one] for name in OBJECT_ACTIONS for one in obs["action_space"][name]]
        seen = [[self.rng.choice(OBJECT_ACTIONS), one["objectId"]] for one in obs["visible_objects"]]
        odd: list[list[Any]] = [["pickup_object", "Nothing|1"], ["open_object", None], ["look_up", "Apple"]]
        kind = self.rng.random()
        choices = valid if kind < 0.4 and valid else seen if kind < 0.6 and seen else odd if kind < 0.65 else None
        return self.rng.choice(choices) if choices else [self.rng.choice(ACTIONS[:5]), None]


def assert_same_episode(one: KitchenEnvironment, other: KitchenEnvironment, policy: Any, *, index: int) -> str:
    for each in (one, other):
        each.reset(index=index, seed=7 + index)
    ended = None
    while ended is None:
        seen = [json.loads(each.observe_encoded()) for each in (one, other)]
        assert seen[0] == seen[1]
        action = json.loads(json.dumps(policy.compute_action(seen[0])))
        endings = [each.step(action) for each in (one, other)]
        assert endings[0] == endings[1]
        ended = endings[0]
    assert one.success() == other.success()
    first, second = one.recording(), other.recording()
    assert first.info == second.info
    for name, array in first.arrays().items():
        assert (array == second.arrays()[name]).all(), name
    return ended


@pytest.mark.slow
def test_an_episode_is_the_same_through_the_client_as_directly(program: Path) -> None:
    through, directly = pair(program, ["Kitchen1", "Kitchen2"])
    try:
        for index in range(6):      # the scenes' starts, drawn ones, and the first scene again
            assert_same_episode(through, directly, Wanderer(index), index=index)
    finally:
        through.close()


@pytest.mark.slow
def test_the_reference_policy_succeeds_through_the_client(program: Path) -> None:
    through, directly = pair(program, ["Kitchen1"])
    for each in (through, directly):
        each._horizon = 250
    try:
        assert assert_same_episode(through, directly, Policy(seed=0), index=0) == "success"
    finally:
        through.close()


@needs_recordings
@pytest.mark.slow
def test_recorded_kitchens_are_the_same_through_the_client(tmp_path: Path) -> None:
    scenes = ["FloorPlan1", "FloorPlan2", "FloorPlan27"]
    through, directly = pair(
        build(tmp_path, recorded=True), scenes, backend="recorded", recordings=str(RECORDINGS)
    )
    try:
        for index in range(6):
            assert_same_episode(through, directly, Wanderer(index), index=index)
        for index in range(3):
            assert_same_episode(through, directly, Policy(seed=0), index=index)
    finally:
        through.close()


@pytest.mark.slow
def test_invalid_actions_are_not_sent_to_the_player(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    through, _ = pair(program, ["Kitchen1"])
    try:
        through.reset(index=0, seed=0)
        sent: list[str] = []
        step = Client.step

        def noted(self: Client, name: str, **arguments: Any) -> Any:
            sent.append(name)
            return step(self, name, **arguments)

        monkeypatch.setattr(Client, "step", noted)
        microwave = through.simulator.target_ids[2]
        assert through.step(["toggle_off", microwave]) is None
        assert sent == []
        assert through.step(["rotate_left", None]) is None
        assert sent == ["RotateLeft"]
    finally:
        through.close()


# ---------------------------------------------------------------------------------------------- bad players

WAIT = "pipe.flush(); time.sleep(600)"
BAD = {
    "dies at once": "sys.exit(3)",
    "dies when it has opened its pipe": "pipe = open(out, 'wb'); time.sleep(0.3); sys.exit(4)",
    "dies in the middle of a frame": "pipe = open(out, 'wb'); pipe.write(HEADER.pack(1, 500) + b'x' * 9); pipe.close()",
    "crashes": "os.abort()",
    "never opens its pipe": "time.sleep(600)",
    "opens it and is silent": f"pipe = open(out, 'wb'); {WAIT}",
    "promises four gigabytes": f"pipe = open(out, 'wb'); pipe.write(HEADER.pack(1, 2**32 - 1)); {WAIT}",
    "speaks garbage": "pipe = open(out, 'wb')\nwhile True: pipe.write(os.urandom(1000))",
    "sends a frame without metadata":
        f"pipe = open(out, 'wb'); pipe.write(HEADER.pack(1, 1) + b'\\x07' + HEADER.pack(255, 0)); {WAIT}",
    "sends ends of messages only": f"pipe = open(out, 'wb'); pipe.write(HEADER.pack(255, 0) * 1000); {WAIT}",
}


@pytest.mark.slow
@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_a_bad_player_is_reported_within_the_deadline(tmp_path: Path, body: str) -> None:
    noted = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    begun = time.monotonic()
    with pytest.raises(RolloutError, match=r"AI2-THOR player bad (ended with code|failed|did not answer within)"):
        Unity(bad_build(tmp_path, noted + body), ["Kitchen1"], deadlines=Deadlines(start_s=3.0))
    assert time.monotonic() - begun < 20.0
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.fixture
def unity(program: Path) -> Iterator[Unity]:
    made = Unity(program, ["Kitchen1"], deadlines=QUICK)
    yield made
    made.close()


@pytest.mark.slow
def test_a_player_that_is_killed_ends_the_episode(unity: Unity) -> None:
    unity.begin("Kitchen1", seed=None)
    os.kill(unity.client.pid, signal.SIGKILL)
    with pytest.raises(RolloutError, match="AI2-THOR player build"):
        unity.move("rotate_left")


@pytest.mark.slow
def test_a_player_that_hangs_is_ended(unity: Unity) -> None:
    unity.begin("Kitchen1", seed=None)
    pid = unity.client.pid
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(RolloutError, match=r"did not answer within 1.5 s \(RotateLeft\)"):
        unity.move("rotate_left")
    assert not alive(pid)


@pytest.mark.slow
def test_a_player_killed_during_an_action_is_noticed_long_before_the_deadline(program: Path) -> None:
    unity = Unity(program, ["Kitchen1"], deadlines=Deadlines(step_s=50.0))
    unity.begin("Kitchen1", seed=None)
    pid = unity.client.pid
    os.kill(pid, signal.SIGSTOP)
    killer = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -9 {pid}"])
    begun = time.monotonic()
    with pytest.raises(RolloutError, match="AI2-THOR player build"):
        unity.move("rotate_left")
    assert time.monotonic() - begun < 20.0
    killer.wait(10)


@pytest.mark.slow
def test_another_timer_is_resumed(unity: Unity) -> None:
    handler = signal.getsignal(signal.SIGALRM)
    left_before = signal.getitimer(signal.ITIMER_REAL)[0]
    unity.begin("Kitchen1", seed=None)
    unity.move("rotate_left")
    left = signal.getitimer(signal.ITIMER_REAL)[0]
    assert signal.getsignal(signal.SIGALRM) == handler
    assert (left_before == left == 0.0) or 0.0 < left < left_before


@pytest.mark.slow
def test_a_scene_that_the_build_lacks_is_reported(program: Path) -> None:
    with pytest.raises(RolloutError, match=r"FloorPlan7.* not contained in build"):
        Unity(program, ["FloorPlan7"], deadlines=QUICK)


# ------------------------------------------------------------------------------------------ in the pool

WALKER = Program("""
class Policy:
    def reset(self):
        self.turns = 0
    def compute_action(self, obs):
        self.turns += 1
        return ("rotate_left", None) if self.turns < 20 else ("done", None)
""")


async def rolled(folder: Path, program: Path) -> Any:
    options = DOMAIN.options(
        {"backend": "unity", "unity_build": str(program), "scenes": ["Kitchen1"]}, preset="paper"
    )
    async with ProcessPool(
        domain="memento.domains.kitchen:DOMAIN", splits={"search": options}, workers=1, trajectories=folder / "t"
    ) as pool:
        return await pool.roll(RollTask(order="a", program=WALKER, split="search", index=0, seed=0))


@pytest.mark.slow
async def test_a_worker_plays_it_and_leaves_no_player_behind(tmp_path: Path) -> None:
    program = tmp_path / "noting"
    inner = build(tmp_path)
    program.write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/pid'\nexec '{inner}' \"$@\"\n")
    program.chmod(0o755)
    episode = await rolled(tmp_path, program)
    assert (episode.ended_by, episode.steps, episode.scene, episode.fault) == ("done", 20, "Kitchen1", None)
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
async def test_a_player_that_dies_again_and_again_is_a_rollout_error(tmp_path: Path) -> None:
    with pytest.raises(RolloutError, match="AI2-THOR player bad ended with code 9"):
        await rolled(tmp_path, bad_build(tmp_path, "sys.exit(9)"))


@pytest.mark.slow
async def test_one_death_of_a_player_is_made_good(tmp_path: Path) -> None:
    """The episode is retried once, on a fresh worker with a fresh player."""
    program, inner = tmp_path / "first-time-bad", build(tmp_path)
    program.write_text(f"#!/bin/sh\nif mkdir '{tmp_path}/once'; then exit 5; fi\nexec '{inner}' \"$@\"\n")
    program.chmod(0o755)
    assert (await rolled(tmp_path, program)).ended_by == "done"


# --------------------------------------------------------------------------------------------- the build

def test_without_a_build_the_message_explains_how_to_get_one(home: Path) -> None:
    with pytest.raises(UsageError, match=r"no Unity build .*download_only=True.*kitchen\.unity_build=PATH"):
        DOMAIN.options({"backend": "unity"}, preset="paper")
    with pytest.raises(UsageError, match="does not exist"):
        DOMAIN.options({"backend": "unity", "unity_build": str(home / "thor")}, preset="paper")
    with pytest.raises(UsageError, match="neither a program nor the folder"):
        DOMAIN.options({"backend": "unity", "unity_build": str(home)}, preset="paper")
    with pytest.raises(UsageError, match="must be the path of a Unity build"):
        DOMAIN.options({"backend": "unity", "unity_build": 3}, preset="paper")
    assert not (home / ".ai2thor").exists(), "no folder was created"


def test_an_installed_build_is_found(home: Path) -> None:
    folder = home / ".ai2thor/releases" / f"thor-{PLATFORMS[-1]}-{client_commit()}"
    folder.mkdir(parents=True)
    assert installed() == [], "an empty folder is not a build"
    (folder / folder.name).write_text("#!/bin/sh\n")
    (folder / folder.name).chmod(0o755)
    assert installed() == [folder / folder.name] == [find(None)] == [find(str(folder))]
    options = DOMAIN.options({"backend": "unity"}, preset="paper")
    assert options["unity_build"] == str(folder / folder.name)
    assert options["scenes"] == ["FloorPlan1", "FloorPlan2", "FloorPlan3"]
    with pytest.raises(UsageError, match="scenes are FloorPlan1"):
        DOMAIN.options({"backend": "unity", "scenes": ["Bathroom1"]}, preset="paper")


@pytest.mark.slow
def test_the_domain_imports_no_client() -> None:
    code = (
        "import sys\nfrom memento.domains.kitchen import DOMAIN\n"
        "options = DOMAIN.options({}, preset='paper')\nDOMAIN.brief(options), DOMAIN.shelf()\n"
        "import memento.domains.kitchen.unity.build\n"
        "env = DOMAIN.environment(options)\nenv.reset(index=0, seed=0)\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('ai2thor', 'msgpack', 'flask')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=150)


@pytest.mark.slow
def test_the_client_runs_in_the_main_thread_only(unity: Unity) -> None:
    import threading

    errors = []
    unity.begin("Kitchen1", seed=None)

    def elsewhere() -> None:
        with pytest.raises(RolloutError, match="main thread") as caught:
            unity.move("rotate_left")
        errors.append(caught)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(20)
    assert errors


