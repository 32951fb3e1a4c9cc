"""State of an environment that outlives `reset` and that only a program reaches: it is found, no figure holds it."""

import asyncio
from pathlib import Path

import pytest
from memento.core.ports import RollTask
from memento.core.provenance import GIVEN
from memento.core.values import Program
from memento.domains import import_string, load
from memento.runtime.rollouts.pool import ProcessPool

HERE = "gym:memento.tests.support.measured_environments"
FORWARD = Program(
    "class Policy:\n    def reset(self):\n        pass\n\n    def compute_action(self, obs):\n        return 0.1\n"
)
IDLE = Program(FORWARD.text.replace("return 0.1", "return 0.0"))


def rolled(
    folder: Path, kind: str, programs: list[Program], *, workers: int = 1, compared: bool = True, alone: bool = False
) -> tuple[list[tuple[int, float]], list[tuple[str, int, bool]]]:
    """Steps and return of an episode per program, with seeds 0, 1, ...; and what the pool found."""
    name = f"{HERE}:Measured{kind}-v0"
    found: list[tuple[str, int, bool]] = []

    async def roll() -> list[tuple[int, float]]:
        splits = {"test": load(name, GIVEN).options({}, preset="smoke")}
        async with ProcessPool(
            domain=import_string(name), splits=splits, workers=workers, trajectories=folder, compared=compared,
            alone=alone, remembers=lambda *words: found.append(words),
        ) as pool:
            tasks = [RollTask(order=f"o{place}", program=program, split="test", index=place, seed=place)
                     for place, program in enumerate(programs)]
            episodes = await asyncio.gather(*map(pool.roll, tasks))
        return [(each.steps, float(str(each.info["return"]))) for each in episodes]

    return asyncio.run(roll()), found


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "workers"), [("Harder", 1), ("Harder", 3), ("Tired", 1), ("Taught", 1)])
def test_what_a_success_changes_is_found_and_every_later_rollout_has_its_own_process(
    tmp_path: Path, kind: str, workers: int
) -> None:
    programs = [IDLE, FORWARD, FORWARD, IDLE, FORWARD]
    truth, none = rolled(tmp_path / "truth", kind, programs, alone=True)
    assert not none
    shared, none = rolled(tmp_path / "shared", kind, programs, compared=False)
    assert not none and shared != truth, "the environment does keep something"
    figures, found = rolled(tmp_path / "found", kind, programs, workers=workers)
    assert figures == truth
    assert len(found) == 1 and "steps" in found[0][0] and "return" in found[0][0] and found[0][2]


@pytest.mark.slow
def test_without_a_word_for_success_every_episode_counts_and_what_was_before_is_counted(tmp_path: Path) -> None:
    programs = [IDLE, FORWARD, FORWARD, IDLE, FORWARD]
    truth, _ = rolled(tmp_path / "truth", "Worn", programs, alone=True)
    figures, found = rolled(tmp_path / "found", "Worn", programs)
    assert figures[3:] == truth[3:] and [before for _, before, _ in found] == [3]


@pytest.mark.slow
def test_a_change_after_several_successes_is_found_and_what_was_before_is_counted(tmp_path: Path) -> None:
    truth, _ = rolled(tmp_path / "truth", "HarderLater", [FORWARD] * 6, alone=True)
    figures, found = rolled(tmp_path / "found", "HarderLater", [FORWARD] * 6)
    assert figures == truth and [before for _, before, _ in found] == [3]


@pytest.mark.slow
def test_what_differs_in_fresh_processes_too_is_said_and_keeps_its_process(tmp_path: Path) -> None:
    figures, found = rolled(tmp_path, "Odd", [FORWARD, IDLE, FORWARD])
    assert [alone for _, _, alone in found] == [False] and len(figures) == 3


def test_an_environment_that_keeps_nothing_keeps_its_process(tmp_path: Path) -> None:
    figures, found = rolled(tmp_path, "Cover", [FORWARD, IDLE, FORWARD])
    assert not found and figures[0][0] < 10 and figures[1][0] == 50
