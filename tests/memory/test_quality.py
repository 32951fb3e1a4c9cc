"""What a run states of a program: the mean of fresh episodes where there are enough, and never a lost record."""

from math import fsum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.events import (
    CandidateScored,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    Fact,
    InitialChosen,
    RunStarted,
    SaturationChecked,
)
from memento.core.values import CandidateState, Operator, Program, Ranked
from memento.memory.lookup import look_up
from memento.memory.quality import Seen, more_of, on_episodes, quality_of, quality_words
from memento.memory.run_view import RunView, quality_in, view_of_facts
from memento.memory.store import RunStore

from ..conformance.store import StoppedClock

fitnesses = st.lists(st.floats(0, 1), min_size=1, max_size=40)
START = RunStarted(settings={"n_roll": 3}, versions={}, sandbox=())


def mean(values: list[float]) -> float:
    return fsum(values) / len(values)


@given(fitnesses, fitnesses)
def test_the_figure_is_the_mean_of_fresh_episodes_or_of_all(search: list[float], fresh: list[float]) -> None:
    stated = quality_of(mean(search), None, len(search), Seen(episodes=len(fresh), fitness=mean(fresh)))
    counts = fresh if len(fresh) >= len(search) else [*search, *fresh]
    assert stated.fitness == pytest.approx(mean(counts))
    assert (stated.episodes, stated.fresh) == (len(counts), len(fresh))


@given(fitnesses)
def test_without_fresh_episodes_it_is_f_of_the_search(search: list[float]) -> None:
    stated = quality_of(mean(search), 0.5, len(search), None)
    assert (stated.fitness, stated.success, stated.fresh) == (mean(search), 0.5, 0)
    assert quality_words(stated) == ""


def test_success_of_other_episodes_is_never_stated_beside_f() -> None:
    stated = quality_of(0.9, 1.0, 2, Seen(episodes=12, fitness=0.6))
    assert (stated.success_rate, stated.success) == (None, 1.0)
    assert quality_words(stated) == "F 0.600 on 12 fresh episodes"
    few = quality_of(0.9, 1.0, 3, Seen(episodes=2, fitness=0.4, success_rate=0.5))
    assert quality_words(few, before="; ") == "; F 0.700, success 80 % on 5 episodes, 2 of them fresh"


def test_the_words_for_the_episodes() -> None:
    assert [on_episodes(3, 0), on_episodes(1, 1), on_episodes(5, 2)] == [
        "in the search", "on 1 fresh episode", "on 5 episodes, 2 of them fresh"
    ]


@given(st.lists(st.builds(Seen, episodes=st.integers(1, 64), fitness=st.floats(0, 1)), min_size=1))
def test_the_longest_record_stays(found: list[Seen]) -> None:
    known = None
    for each in found:
        known = more_of(known, each)
    assert known in found
    assert known.episodes == max(each.episodes for each in found)


def scored(name: str, fitness: float) -> CandidateScored:
    return CandidateScored(order=name, candidate=CandidateState(
        id=name, program=Program(name), operator=Operator.MACRO, generation=1, slot=0, fitness=fitness,
        success_rate=None,
    ))


def elite(name: str, fitness: float, generation: int = 1) -> EliteChanged:
    return EliteChanged(
        generation=generation, candidate=name, origin=Operator.MACRO, fitness=fitness, success_rate=None
    )


def met(*, episodes: int, candidate: float, before: float, confirmed: bool) -> EliteConfirmed:
    return EliteConfirmed(
        generation=1, candidate="g1/macro/0", elite="init/0", episodes=episodes, candidate_fitness=candidate,
        elite_fitness=before, confirmed=confirmed, chance=0.1,
    )


def test_a_view_states_of_each_program_what_was_seen_of_it() -> None:
    log: list[Fact] = [
        START, elite("init/0", 0.5, 0), scored("g1/macro/0", 0.9),
        met(episodes=6, candidate=0.7, before=0.4, confirmed=True), elite("g1/macro/0", 0.9),
    ]
    view = view_of_facts(log)
    assert view.quality is not None
    assert view.initial_quality is not None
    assert (view.quality.fitness, view.initial_quality.fitness) == (0.7, 0.4)
    assert view.status.elite is not None
    assert view.status.elite.fitness == 0.9, "the log and the curve keep F of the search"
    row = Ranked(candidate="g1/macro/0", episodes=16, fitness=0.65, success_rate=None, failures=0)
    later = view_of_facts([*log, EliteChosen(generation=1, candidate="g1/macro/0", elite="init/0", ranking=(row,))])
    assert later.quality is not None
    assert (later.quality.fitness, later.quality.episodes) == (0.65, 16)
    copied = later.copy()
    later.slots.forget(1)
    assert later.quality == copied.quality, "what is forgotten is not the elite's"
    assert quality_in(copied.status, copied.slots, "g9/macro/9") is None
    assert RunView().quality is None


def test_a_perfect_elite_is_stated_on_the_starts_on_which_it_was_perfect() -> None:
    def checked(*joined: int) -> SaturationChecked:
        return SaturationChecked(
            generation=0, candidate="init/0", episodes=24, joined=joined, fitness=0.875 if joined else 1.0,
            success_rate=None,
        )

    view = view_of_facts([START, elite("init/0", 1.0, 0), checked()])
    assert quality_words(view.quality) == "F 1.000 on 24 fresh episodes"
    failed = view_of_facts([START, elite("init/0", 1.0, 0), checked(5)])
    assert failed.quality is not None
    assert (failed.quality.fitness, failed.quality.episodes, failed.quality.fresh) == (0.875, 4, 0)


def test_the_record_of_one_candidate_has_what_the_view_has(tmp_path: Path) -> None:
    row = Ranked(candidate="g1/macro/0", episodes=16, fitness=0.65, success_rate=0.75, failures=4)
    with RunStore.create(tmp_path / "run", clock=StoppedClock()) as store:
        store.append([
            START, InitialChosen(order="init/0", program=Program("p")), elite("init/0", 0.5, 0),
            scored("g1/macro/0", 0.9), scored("g1/macro/1", 0.1),
            met(episodes=6, candidate=0.7, before=0.4, confirmed=True),
            EliteChosen(generation=1, candidate="g1/macro/0", elite="init/0", ranking=(row,)),
        ])
        seen = {name: look_up(store, name).seen for name in ("p_0", "g1/macro/0", "g1/macro/1")}
    assert seen == {
        "p_0": Seen(episodes=6, fitness=0.4), "g1/macro/0": Seen(episodes=16, fitness=0.65, success_rate=0.75),
        "g1/macro/1": None,
    }
