"""Recordings on a real disk: deletion at the end of a generation, by a size limit, and after a crash."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from memento.agents.critic_sheets import SHEETS
from memento.app.retention import END_STEPS, Retention
from memento.core.critique import Sheet
from memento.core.events import Criticised, Fact
from memento.core.order_ids import look_id
from memento.core.recording import Recording
from memento.core.recording_file import load_recording, save_recording, trajectory_key, trajectory_path
from structlog.testing import capture_logs

from ..support.recorded_facts import CRASH, START, elite, episode, scored

STEPS = 300
KB = 1000


def recording(steps: int = STEPS) -> Recording:
    """A recording that cannot be compressed: 8 bytes per value."""
    noise = np.random.default_rng(0).random((steps + 1, 20))
    return Recording(states={"pos": noise}, actions={"u": noise[1:]}, info={"scene": "A"})


class Disk:
    """A run's folder, written as a worker does it: the file first, then the fact."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "trajectories"
        self.folder.mkdir()

    def write(self, order: str) -> str:
        key = trajectory_key(order)
        save_recording(trajectory_path(self.folder, key), recording())
        return key

    def play(self, retention: Retention, facts: Iterable[Fact]) -> None:
        for fact in facts:
            retention.on_fact(fact)

    def rolled(self, order: str, **rest: object) -> Fact:
        return episode(order, self.write(order), **rest)

    @property
    def keys(self) -> set[str]:
        return {path.name.removesuffix(".npz") for path in self.folder.iterdir()}

    @property
    def size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir())


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def generation(disk: Disk, number: int, *, winner: str, slots: int = 3) -> Iterable[Fact]:
    for slot in range(slots):
        name = f"g{number}/macro/{slot}"
        yield disk.rolled(f"{name}/e0", fault=CRASH if slot == 1 else None)
        yield scored(name, number, fitness=slot / 10)
    yield elite(winner, number)


def resumed(folder: Path, history: Iterable[Fact]) -> None:
    retention = Retention(folder)
    for fact in history:
        retention.recall(fact)
    retention.settle()


def looked(disk: Disk, owner: str, number: int = 0) -> Fact:
    """A critic's look at an episode, written as a worker does it."""
    file = f"{trajectory_key(look_id(owner, number))}.jpg"
    (disk.folder.parent / SHEETS).mkdir(exist_ok=True)
    (disk.folder.parent / SHEETS / file).write_bytes(b"x" * 10 * KB)
    sheet = Sheet(frames=(), digest="0" * 64, file=file)
    return Criticised(order=look_id(owner, number), candidate=owner, episode=number, sheet=sheet, words="it fell")


def sheets(disk: Disk) -> set[str]:
    return {path.name.removesuffix(".jpg") for path in (disk.folder.parent / SHEETS).iterdir()}


def seen(disk: Disk) -> list[Fact]:
    """Two generations in which a critic looked at p_0 and at all of the first."""
    first = list(generation(disk, 1, winner="g1/macro/0"))
    looks = [looked(disk, f"g1/macro/{slot}") for slot in range(3)]
    return [*begin(disk), looked(disk, "init/0"), *first[:-1], *looks, first[-1],
            *generation(disk, 2, winner="g2/macro/2")]


def test_the_sheets_of_a_critic_go_with_their_recordings(disk: Disk, tmp_path: Path) -> None:
    history = seen(disk)
    resumed(tmp_path, history)
    assert {"g1_macro_0_e0", "g1_macro_1_e0.end"} <= disk.keys
    assert sheets(disk) == {"init_0_look0", "g1_macro_0_look0", "g1_macro_1_look0"}
    with capture_logs():
        retention = Retention(tmp_path, limit_mb=1 * KB / 1e6)
        for fact in history:
            retention.recall(fact)
        retention.settle()
    assert sheets(disk) == {"init_0_look0"} and disk.keys == {"init_0_e0", "g2_macro_2_e0"}


@pytest.mark.parametrize("more", [{"keep_all": True}, {"pictures": True}])
def test_sheets_stay_with_all_recordings_or_where_prompts_show_them(
    disk: Disk, tmp_path: Path, more: dict[str, bool]
) -> None:
    retention = Retention(tmp_path, **more)
    disk.play(retention, seen(disk))
    assert len(sheets(disk)) == 4


def test_a_limit_counts_sheets(disk: Disk, tmp_path: Path) -> None:
    retention = Retention(tmp_path, keep_all=True, limit_mb=1.0)
    disk.play(retention, seen(disk))
    assert len(sheets(disk)) == 4
    one = disk.size // len(disk.keys)
    retention = Retention(tmp_path, keep_all=True, limit_mb=(disk.size + 40 * KB - one / 2) / 1e6)
    for fact in seen(disk):
        retention.recall(fact)
    retention.settle()
    assert "g1_macro_1_e0" not in disk.keys and "g1_macro_1_look0" not in sheets(disk)
    assert len(sheets(disk)) == 3


def begin(disk: Disk) -> list[Fact]:
    return [disk.rolled("init/0/e0"), START[1]]


def test_losers_go_and_of_failures_the_last_steps_stay(disk: Disk, tmp_path: Path) -> None:
    retention = Retention(tmp_path)
    disk.play(retention, [*begin(disk), *generation(disk, 1, winner="g1/macro/0")])
    assert disk.keys == {"init_0_e0", "g1_macro_0_e0", "g1_macro_1_e0.end"}
    end = load_recording(trajectory_path(disk.folder, "g1_macro_1_e0.end"))
    assert end.steps == END_STEPS
    assert end.info == {"scene": "A", "kept_from_step": STEPS - END_STEPS}
    whole = recording()
    assert np.array_equal(end.states["pos"], whole.states["pos"][-END_STEPS - 1 :])
    assert np.array_equal(end.actions["u"], whole.actions["u"][-END_STEPS:])


def test_a_limit_is_kept_and_the_most_important_stay(disk: Disk, tmp_path: Path) -> None:
    one = len((disk.folder / f"{disk.write('init/0/e0')}.npz").read_bytes())
    limit = 4.5 * one
    retention = Retention(tmp_path, keep_all=True, limit_mb=limit / 1e6)
    disk.play(retention, begin(disk))
    for number in range(1, 5):
        for fact in generation(disk, number, winner=f"g{number}/macro/2"):
            retention.on_fact(fact)
            assert disk.size <= limit
    assert {"init_0_e0", "g4_macro_2_e0"} <= disk.keys
    assert not [key for key in disk.keys if key.startswith("g1_")], "the oldest were deleted first"


def test_needed_recordings_stay_above_the_limit_with_one_warning(disk: Disk, tmp_path: Path) -> None:
    with capture_logs() as told:
        retention = Retention(tmp_path, limit_mb=1 * KB / 1e6)
        disk.play(retention, [*begin(disk), disk.rolled("g1/macro/0/e0"), disk.rolled("g1/macro/1/e0")])
    assert disk.keys == {"init_0_e0", "g1_macro_0_e0", "g1_macro_1_e0"}
    assert [entry["event"] for entry in told] == ["trajectories-over-limit"]


def test_a_resumed_run_drops_what_the_killed_one_had_no_time_to_drop(disk: Disk, tmp_path: Path) -> None:
    history = [*begin(disk), *generation(disk, 1, winner="g1/macro/0"), *generation(disk, 2, winner="g1/macro/0")]
    (disk.folder / "g1_macro_2_e0.npz").unlink()    # the killed controller had deleted this one
    assert len(disk.keys) == 6
    resumed(tmp_path, history)
    assert disk.keys == {"init_0_e0", "g1_macro_0_e0", "g1_macro_1_e0.end", "g2_macro_1_e0.end"}
    before = {path.name: path.stat().st_mtime_ns for path in disk.folder.iterdir()}
    resumed(tmp_path, history)
    assert {path.name: path.stat().st_mtime_ns for path in disk.folder.iterdir()} == before


def test_a_recording_that_no_fact_tells_of_goes_with_its_candidate(disk: Disk, tmp_path: Path) -> None:
    retention = Retention(tmp_path)
    disk.play(retention, begin(disk))
    disk.write("g1/macro/2/e1")      # its order was withdrawn at the moment it ended
    disk.write("g2/macro/2/e0")      # this one is not scored yet
    disk.play(retention, generation(disk, 1, winner="g1/macro/0"))
    assert disk.keys == {"init_0_e0", "g1_macro_0_e0", "g1_macro_1_e0.end", "g2_macro_2_e0"}


def test_recordings_of_an_elite_that_are_elsewhere_are_asked_for(disk: Disk, tmp_path: Path) -> None:
    asked: list[str] = []
    retention = Retention(tmp_path)
    retention.bring = asked.extend
    away = [episode("g1/macro/0/e0", "g1_macro_0_e0"), scored("g1/macro/0", 1), elite("g1/macro/0", 1)]
    history = [*begin(disk), *away]
    disk.play(retention, history)
    assert asked == ["g1_macro_0_e0"]
    later = Retention(tmp_path, limit_mb=1 * KB / 1e6)
    for fact in history:
        later.recall(fact)
    assert later.missing() == asked, "a resumed run asks again"
    disk.write("g1/macro/0/e0")
    later.arrived(asked[0])
    assert not later.missing() and disk.keys == {"init_0_e0", "g1_macro_0_e0"}


def test_memory_is_that_of_the_generation_under_way(disk: Disk, tmp_path: Path) -> None:
    retention = Retention(tmp_path)
    disk.play(retention, begin(disk))
    for number in range(1, 40):
        disk.play(retention, generation(disk, number, winner="init/0"))
    policy = retention._policy
    assert len(policy._keys) + len(policy._scored) + len(policy._owners) + len(policy._faulty) < 6
    assert disk.keys == {"init_0_e0", *(f"g{number}_macro_1_e0.end" for number in range(1, 40))}
