"""A part of the attacks that a release tries whole: cheats, hostile files, commands that are killed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ..support.nightly import first_and_nightly
from . import cheats, command_kills, hostile_files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("domain", first_and_nightly("kitchen", "hanoi", "robosuite:Stack", "robosuite:Lift"))
def test_no_cheat_scores_without_the_task_and_the_honest_program_does(domain: str) -> None:
    found = dict(cheats.tried([domain]))
    assert found and {what: problem for what, problem in found.items() if problem} == {}


def test_a_success_without_the_task_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the task of the kitchen had not been done, its honest program gives way."""
    monkeypatch.setattr(cheats, "is_served", lambda shown: False)
    [(_, problem)] = cheats.tried([f"kitchen {cheats.HONEST}"])
    assert problem == "it is a success, and the task is not done"


@pytest.fixture(scope="module", name="desk")
def _desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hostile_files.Desk]:
    (place := tmp_path_factory.mktemp("files") / "a" / "b").mkdir(parents=True)
    yield hostile_files.Desk(place)


@pytest.mark.parametrize("kind", first_and_nightly(
    "tape", "archive", "log", "what-if", "comparison", "journal", "measures", "exploit"))
def test_a_hostile_file_ends_in_a_result_or_in_a_sentence(desk: hostile_files.Desk, kind: str) -> None:
    found = dict(desk.tried(kind, count=3, seed=1))
    assert {what: wrong for what, wrong in found.items() if wrong} == {}


def test_a_killed_ranking_is_repeated_to_the_same_end(tmp_path: Path) -> None:
    found = list(command_kills.Killing(tmp_path, seed=7).disturb("rank", kills=2))
    assert len(found) >= 2 and not any(found), found
