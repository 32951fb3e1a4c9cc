"""Episodes stand side by side, the worst first, and the metrics that say least about f_e leave first."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.episode_table import MAX_COLUMNS, compare, informative, ranking
from memento.core.values import EpisodeNotes, Score

from ..support.prompt_samples import episode

FITNESSES = (0.75, 0.25, 1.0, 0.0)


def scored(**metrics: tuple) -> list[Score]:
    each = [dict(zip(metrics, values, strict=True)) for values in zip(*metrics.values(), strict=True)]
    return [Score(fitness=fitness, metrics=one) for fitness, one in zip(FITNESSES, each, strict=True)]


def row(table: str, name: str) -> list[str]:
    return re.search(rf"^{re.escape(name)}  +(.*)$", table, re.MULTILINE)[1].split()


def table_of(scores: list[Score], **each: object) -> str:
    names = list(dict.fromkeys(name for score in scores for name in score.metrics))
    return compare([episode(index) for index in range(len(scores))], scores, names, **each).table


def test_columns_are_sorted_by_fitness_and_equal_metrics_share_a_line() -> None:
    table = table_of(scored(
        near_m=(0.1, 0.3, 0.0, 0.4), grasp_s=(None, None, 8, None), legal=(True,) * 4, lost=(None,) * 4,
        phase=("carry", "reach", "done", "reach"),
    ))
    assert row(table, "episode") == ["3", "1", "0", "2", "mean"]
    assert row(table, "f_e") == ["0.0000", "0.2500", "0.7500", "1.0000", "0.5000"]
    assert row(table, "near_m") == ["0.4", "0.3", "0.1", "0", "0.2"]
    assert row(table, "grasp_s") == ["-", "-", "-", "8", "8", "(1", "of", "4)"]
    assert row(table, "phase") == ["reach", "reach", "carry", "done"]
    assert table.splitlines()[-3:] == [
        "the same in all 4 episodes: legal yes", "never (0 of 4): lost",
        "every episode ended regularly: no fall, fault or broken rule ended it",
    ]


def test_digits_tell_numbers_apart_that_differ() -> None:
    table = table_of(scored(
        total=(331.9, 331.5, 332.3, 331.6), angle=(0.7906, 3.48, 0.7874, 1.2), same=(0.50001, 0.50002, 0.50001, 0.5),
        close=(259.0, 259.4, 259.0, 120.0),
    ))
    assert row(table, "total") == ["331.6", "331.5", "331.9", "332.3", "331.8"]
    assert row(table, "angle")[0] == "1.2" and row(table, "close")[1] == "259", "less than a twentieth of the range"
    assert "the same in all 4 episodes: same 0.5" in table


@given(st.lists(st.floats(-1e5, 1e5), min_size=4, max_size=4))
def test_numbers_that_look_alike_differ_by_little(values: list[float]) -> None:
    table = table_of(scored(x=tuple(values)))
    low, high = min(values), max(values)
    if high - low > 0.0002 * max(map(abs, values)) and max(map(abs, values)) < 999:
        cells = row(table, "x")
        assert cells[:4].count(cells[0]) < 4


def test_what_says_least_about_fitness_leaves_first() -> None:
    scores = scored(noise=(1, 2, 2, 1), wide=(2, 4, 1, 5), close=(1.02, 1.01, 1.03, 1.0), far=(3, 2, 4, 1))
    names = ["noise", "wide", "close", "far"]
    episodes = [episode(index) for index in range(4)]
    left = [compare(episodes, scores, names, limit=limit).left_out for limit in (150, 120, 100, 40, 1)]
    assert left == [(), ("noise",), ("noise", "close"), ("noise", "close", "far"), tuple(names)]


def test_texts_that_are_too_long_for_a_cell_are_left_to_the_table_of_metrics() -> None:
    scores = scored(why=("the cube slipped out of the hand", "b", "c", "d"))
    assert compare([episode(index) for index in range(4)], scores, ["why"]).left_out == ("why",)


def test_conditions_stand_next_to_the_fitness() -> None:
    episodes = [
        episode(index, notes=EpisodeNotes(conditions={"goal_m": index, "rail": "dry"}, begins_solved=index == 2))
        for index in range(4)
    ]
    table = compare(episodes, scored(x=(1, 2, 3, 4)), ["x"]).table
    assert row(table, "goal_m") == ["3", "1", "0", "2"]
    assert row(table, "begins solved") == ["no", "no", "no", "yes"]
    assert "the same in all 4 episodes: rail dry" in table


def test_the_rule_that_an_episode_broke_stands_under_its_ending() -> None:
    episodes = [replace(episode(index), ended_by="illegal", info={"broken_rule": "parking"}) if index == 3
                else episode(index) for index in range(4)]
    table = compare(episodes, scored(near_m=(0.1, 0.3, 0.0, 0.4)), ["near_m"]).table
    assert row(table, "broken rule")[0] == "parking"
    assert row(table, "broken rule")[1:] == ["-"] * 3


def test_many_episodes_are_sampled_from_the_worst_to_the_best() -> None:
    scores = [Score(fitness=index / 30, metrics={"x": index}) for index in range(31)]
    table = table_of(scores)
    columns = row(table, "episode")
    assert len(columns) == MAX_COLUMNS + 1
    assert (columns[0], columns[-2]) == ("0", "30")
    assert row(table, "x")[-1] == "15"
    assert "12 of 31 episodes, chosen evenly from the worst to the best" in table


def test_informative_metrics_go_with_fitness_whatever_the_sign() -> None:
    fitnesses = [0.0, 0.2, 0.4, 0.9]
    assert informative([9, 7, 3, 1], fitnesses) == informative([1, 3, 7, 9], fitnesses) == (1.0, 8 / 9)
    assert informative([None, None, 2, 1], fitnesses)[0] > informative([2, 1, 2, 1], fitnesses)[0]
    assert informative(["a", "a", "b", "b"], fitnesses)[0] > informative(["a", "b", "c", "d"], fitnesses)[0] == 0.0
    assert informative([1, 2, 3, 4], [0.0] * 4) == (0.0, 0.75)


numbers = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=3)


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 1), numbers), min_size=1, max_size=8))
def test_informative_is_a_share_and_a_spread_for_any_values(pairs: list) -> None:
    fitnesses, values = zip(*pairs, strict=True)
    share, spread = informative(values, fitnesses)
    assert 0 <= share <= 1
    assert 0 <= spread <= 2
    assert sorted(ranking([Score(fitness=fitness) for fitness in fitnesses])) == list(range(len(pairs)))
