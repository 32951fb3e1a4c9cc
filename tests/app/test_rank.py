"""The figures of a ranking, from hand-made episodes: the order, paired differences, and what they can show."""

from collections.abc import Sequence

import pytest
from memento.app.rank_rows import rows_of
from memento.app.results import RankRow
from memento.core.values import Operator, Program
from memento.memory.contenders import Contender
from memento.memory.fresh_file import FreshEpisode


def episodes(values: Sequence[float], *, success: Sequence[bool] | None = None, faults: int = 0) -> list[FreshEpisode]:
    return [
        FreshEpisode(
            program="", under="", index=index, seed=index, steps=1, ended_by="horizon", fitness=value, reference=None,
            success=None if success is None else success[index],
            episode_return=None if index < faults else 100 * value, error="crashed: x" if index < faults else None,
        )
        for index, value in enumerate(values)
    ]


def ranked(returned: str, found: dict[str, list[FreshEpisode]]) -> list[RankRow]:
    programs = [
        Contender(candidate=name, operator=Operator.MACRO, program=Program(name), fitness=0.5, initial=name == "init/0",
                  returned=name == returned)
        for name in found
    ]
    return list(rows_of(programs, found))


STEADY = [0.5 + 0.01 * (index % 5) for index in range(12)]


def test_a_better_program_is_found_and_chance_is_not_taken_for_one() -> None:
    rows = ranked("lucky", {
        "init/0": episodes([0.1] * 12), "lucky": episodes(STEADY),
        "better": episodes([value + 0.1 + 0.02 * (place % 3) for place, value in enumerate(STEADY)]),
        "noisy": episodes([value + (0.5 if place == 3 else -0.02) for place, value in enumerate(STEADY)]),
        "same": episodes(STEADY),
    })
    assert [row.candidate for row in rows] == ["better", "noisy", "lucky", "same", "init/0"]
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5]
    found = {row.candidate: row for row in rows}
    assert found["better"].difference == pytest.approx(0.12)
    assert (found["better"].distinguishable, found["noisy"].distinguishable) == (True, False)
    assert (found["same"].difference, found["same"].distinguishable, found["same"].p_value) == (0.0, False, None)
    assert found["init/0"].distinguishable and (found["init/0"].difference or 0.0) < 0
    assert (found["lucky"].difference, found["lucky"].distinguishable) == (None, None)
    assert 2 / 2**12 <= (found["better"].p_value or 0.0) < 0.01


def test_equal_fitness_is_ranked_by_success_and_faults_count() -> None:
    rows = ranked("a", {
        "a": episodes([1.0, 1.0], success=[True, False], faults=1), "b": episodes([1.0, 1.0], success=[True, True]),
    })
    assert [(row.candidate, row.success_rate, row.faults) for row in rows] == [("b", 1.0, 0), ("a", 0.5, 1)]
    assert (rows[0].return_mean, rows[1].return_interval) == (100.0, None)
    assert rows[0].success_interval == pytest.approx((0.342, 1.0), abs=1e-3)


def test_one_episode_has_no_interval() -> None:
    [only] = ranked("init/0", {"init/0": episodes([0.3])})
    assert (only.fitness, only.fitness_interval, only.initial, only.returned) == (0.3, None, True, True)
