"""Files that are whole or untouched."""

import os
from pathlib import Path

import pytest
from memento.core.errors import DISK_FULL, nearest, no_such, os_problem
from memento.core.files import replace_file, replacing


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    replace_file(path, "ä")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


def test_after_an_error_the_old_file_stays_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    replace_file(path, "old")
    with pytest.raises(RuntimeError), replacing(path) as partial:
        partial.write_text("half")
        raise RuntimeError("it failed")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("durable", [True, False])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a.json"
    replace_file(path, "old")
    with pytest.raises(OSError) as caught, replacing(path, durable=durable) as partial:
        partial.symlink_to("/dev/full")
        partial.write_text("new")
    assert os_problem(caught.value) == DISK_FULL
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_other_problems_are_in_the_words_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        replace_file(tmp_path / "missing" / "a.json", "x")
    assert os_problem(caught.value) == os.strerror(2)


def test_names_that_are_near_come_first() -> None:
    assert nearest("mementoo", ["eureka", "memento"]) == ["memento"]
    assert nearest("xyz", ["eureka"]) == []
    assert str(no_such("method", "xyz", ["b", "a"])) == "unknown method 'xyz'; known: a, b"
