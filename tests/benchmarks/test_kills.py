"""Runs whose processes are killed at random moments end like an undisturbed run; see tests/benchmarks/kills.py."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..support.nightly import first_and_nightly
from .kills import TARGETS, Killing

KILLS = 5       # of each target: 20 in all
RUNS = 15       # upper bound on the runs that they are spread over
SEARCH = ("generations=1", "k_hc=3", "k_macro=2", "k_cross=1", "n_roll=2", "hanoi-kinematic.horizon=300")
SETTINGS = ("--preset", "smoke", "--seed", "3", *(word for setting in SEARCH for word in ("--set", setting)))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="finds the processes of a run in /proc"),
]


@pytest.fixture(scope="module")
def killing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killing]:
    killing = Killing(tmp_path_factory.mktemp("kills"), seed=7, settings=SETTINGS)
    killing.record()
    yield killing


@pytest.mark.parametrize("target", first_and_nightly(*reversed(TARGETS)))
def test_kills_lose_nothing_and_repeat_nothing(killing: Killing, target: str) -> None:
    tally = killing.tally
    before, draw = len(tally.wrong), random.Random(target)
    for attempt in range(RUNS):
        done = tally.kills[target]
        if done < KILLS:
            killing.disturb(f"{target}{attempt}", lambda: target, kills=draw.randint(1, KILLS - done))
    assert tally.kills[target] == KILLS
    assert tally.wrong[before:] == []
    assert tally.left == 0


def test_the_comparison_finds_differences(killing: Killing, tmp_path: Path) -> None:
    """The comparison reports a planted difference."""
    from memento.core.events import BranchEnded, EpisodeEnded

    from .kills import differences

    entries = killing._entries("whole")
    whole = [entry.fact for entry in entries]
    assert differences(entries, whole, tmp_path) == []
    answered = next(entry for entry in entries if isinstance(entry.fact, EpisodeEnded))
    assert differences([*entries, answered], whole, tmp_path) == [f"{answered.fact.order} was answered 2 times"]
    less = [entry for entry in entries if not isinstance(entry.fact, BranchEnded)]
    assert differences(less, whole, tmp_path) == ["other branch winners"]
    (tmp_path / f"{answered.fact.episode.trajectory}.npz").write_bytes(b"written later")
    [found] = differences(entries, whole, tmp_path)
    assert found == f"{answered.fact.order} was rolled out again after it was in the log"
