"""A run whose F rises while success falls says so: at the elite, in the choice, on held-out episodes."""

import pytest
from memento.core.events import EliteChanged, EliteChosen, Fact, FinalMeasured
from memento.core.values import Operator, Ranked
from memento.memory.run_view import RunView
from memento.tui.lines import lines_of

from ..support.story import STORY

FALLS = "F rises while success falls, from 100 % to 0 %: here F does not measure the task"


def elite(generation: int, fitness: float, success: float | None) -> EliteChanged:
    return EliteChanged(
        generation=generation, candidate="init/0" if generation == 0 else f"g{generation}/macro/0",
        origin=Operator.MACRO, fitness=fitness, success_rate=success,
    )


def choice(*ranking: tuple[str, float, float | None]) -> EliteChosen:
    ranked = tuple(
        Ranked(candidate=name, episodes=6, fitness=fitness, success_rate=success, failures=0)
        for name, fitness, success in ranking
    )
    return EliteChosen(generation=2, candidate=ranked[0].candidate, elite=ranked[-1].candidate, ranking=ranked)


def final(before: float | None, after: float | None, *, f_after: float = 0.9) -> FinalMeasured:
    return FinalMeasured(
        episodes=8, initial_fitness=0.5, initial_success=before, elite_fitness=f_after, elite_success=after
    )


@pytest.mark.parametrize(("facts", "noted"), [
    ([elite(0, 0.92, 1.0), elite(1, 0.99, 0.0)], True),
    ([elite(0, 0.92, 1.0), elite(1, 0.95, 0.9), elite(2, 0.99, 0.0)], True),  # since p_0, not since the last elite
    ([elite(0, 0.92, 0.5), elite(1, 0.99, 0.5)], False),
    ([elite(0, 0.92, None), elite(1, 0.99, None)], False),  # the task has no success
    ([choice(("g2/macro/0", 0.99, 0.0), ("g1/macro/0", 0.9, 1.0))], True),
    ([choice(("g2/macro/0", 0.99, 1.0), ("g1/macro/0", 0.9, 0.0))], False),
    ([final(1.0, 0.0)], True),
    ([final(1.0, 0.0, f_after=0.4)], False),  # both fall: F says it itself
    ([final(1.0, 0.9)], False),  # may be chance
])
def test_it_is_noted_once_where_it_is_so(facts: list[Fact], noted: bool) -> None:
    view, lines = RunView(), []
    for fact in [STORY[0], *facts]:
        view.apply(fact, 0.0)
        lines += lines_of(fact, view, now=None)
    assert [FALLS in line for line in lines].count(True) == noted
