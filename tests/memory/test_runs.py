import re
import threading

import pytest
from memento.core.errors import StoreError, UsageError
from memento.core.events import StageEntered
from memento.memory.runs import find_run, list_runs, never_begun, new_run
from memento.memory.store import RunStore

from ..conformance.store import StoppedClock

pytestmark = pytest.mark.quick

AT = 1_795_219_440.0  # 2026-11-21 00:04 UTC


@pytest.fixture
def clock():
    return StoppedClock(AT)


def make(root, name, clock):
    folder = new_run(root, name, clock)
    RunStore.create(folder, clock=clock).close()
    return folder


def test_names_are_readable_and_distinct(tmp_path, clock):
    folders = [new_run(tmp_path / "runs", None, clock, label="hanoi", seed=3) for _ in range(200)]
    assert re.fullmatch(r"hanoi-20261121-0004-[0-9a-f]{4}", folders[0].name)
    assert len(set(folders)) == 200
    assert all(folder.is_dir() for folder in folders)


def test_a_name_follows_from_seed_and_clock(tmp_path, clock):
    one, two = (new_run(tmp_path / side, None, clock, label="hanoi", seed=3) for side in "ab")
    assert one.name == two.name
    assert new_run(tmp_path / "c", None, clock, label="hanoi", seed=4).name != one.name


def test_names_are_safe_against_races(tmp_path, clock):
    folders = []

    def take():
        for _ in range(30):
            folders.append(new_run(tmp_path, None, clock))  # noqa: PERF401 - as it goes, from four threads

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(set(folders)) == len(folders) == 120


def test_a_given_name_is_taken_once(tmp_path, clock):
    folder = make(tmp_path, "mine", clock)
    with RunStore.open(folder, clock=clock) as store:
        store.append([StageEntered(stage="initial")])
    with pytest.raises(UsageError, match=r"already a run 'mine' .* memento resume mine"):
        new_run(tmp_path, "mine", clock)


def test_the_name_of_a_run_that_never_began_may_be_used_again(tmp_path, clock):
    for _ in range(2):      # killed after making its tables and before its first fact
        folder = new_run(tmp_path, "mine", clock)
        RunStore.create(folder, clock=clock).close()
        assert never_begun(folder)
    (folder / "lock").write_text("")
    (folder / "run.sqlite").unlink()
    for name in ("run.sqlite.new", "run.sqlite.new-wal"):
        (folder / name).write_bytes(b"torn")    # killed while making its tables
    assert never_begun(folder)
    with RunStore.create(new_run(tmp_path, "mine", clock), clock=clock) as store:
        store.append([StageEntered(stage="initial")])
        assert not never_begun(folder)
        assert not list(folder.glob("run.sqlite.new*"))
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="already a run"):
        new_run(tmp_path, "mine", clock)


def test_the_name_of_a_run_that_begins_in_another_process_is_locked(tmp_path, clock):
    with RunStore.create(new_run(tmp_path, "mine", clock), clock=clock):
        folder = new_run(tmp_path, "mine", clock)
        with pytest.raises(StoreError, match="is live"):
            RunStore.create(folder, clock=clock)


def test_a_folder_left_empty_may_be_used(tmp_path, clock):
    assert new_run(tmp_path, "mine", clock) == new_run(tmp_path, "mine", clock)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a b", "-x", "x" * 101, "naïve", "a\n"])
def test_unfit_names(tmp_path, clock, name):
    with pytest.raises(UsageError, match="cannot name a run"):
        new_run(tmp_path, name, clock)


def test_a_file_in_place_of_the_runs_folder(tmp_path, clock):
    (tmp_path / "file").write_text("")
    for root in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(UsageError, match=r"not a folder for runs|cannot make a run in"):
            new_run(root, None, clock)


def test_find_by_name_path_and_beginning(tmp_path, clock, monkeypatch):
    root = tmp_path / "runs"
    folder = make(root, "hanoi-20261121-0004-a3f2", clock)
    make(root, "kitchen-1", clock)
    assert find_run(root, "hanoi-20261121-0004-a3f2") == folder
    assert find_run(root, "han") == folder
    assert find_run("elsewhere", str(folder)) == folder
    monkeypatch.chdir(root)
    assert find_run("elsewhere", "kitchen-1").resolve() == (root / "kitchen-1").resolve()
    monkeypatch.chdir(folder)
    assert find_run("elsewhere", ".").resolve() == folder.resolve()


def test_a_whole_name_is_not_a_beginning(tmp_path, clock):
    make(tmp_path, "a", clock)
    make(tmp_path, "ab", clock)
    assert find_run(tmp_path, "a").name == "a"


def test_an_ambiguous_beginning(tmp_path, clock):
    for name in ("han-1", "han-2"):
        make(tmp_path, name, clock)
    with pytest.raises(UsageError, match="'han' matches several runs: han-1, han-2"):
        find_run(tmp_path, "han")


def test_missing_names_the_nearest(tmp_path, clock):
    for number in range(20):
        make(tmp_path, f"hanoi-{number}", clock)
    with pytest.raises(UsageError, match=r"'hanoy-3': did you mean .*'hanoi-3'"):
        find_run(tmp_path, "hanoy-3")
    with pytest.raises(UsageError, match="'zzz'; known: hanoi-") as caught:
        find_run(tmp_path, "zzz")
    assert len(str(caught.value)) < 300


def test_missing_among_none(tmp_path):
    for root in (tmp_path, tmp_path / "absent"):
        for name in ("", "x", "x/y"):
            with pytest.raises(UsageError, match="there are no runs in"):
                find_run(root, name)


def test_a_path_that_is_not_a_run(tmp_path, clock):
    make(tmp_path / "runs", "a", clock)
    with pytest.raises(UsageError, match="is not a run; runs in it: a"):
        find_run(tmp_path / "elsewhere", str(tmp_path / "runs"))


def test_only_runs_are_listed(tmp_path, clock):
    assert list_runs(tmp_path / "absent") == ()
    make(tmp_path, "b", clock)
    make(tmp_path, "a", clock)
    (tmp_path / "other").mkdir()
    (tmp_path / "file").write_text("")
    assert [folder.name for folder in list_runs(tmp_path)] == ["a", "b"]
