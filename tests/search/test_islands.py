"""REvolve's islands: each rule against its description, probabilities against their formula."""

import math
import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.faults import Fault, FaultKind
from memento.core.values import CandidateState, Operator, Program
from memento.search.revolve import (
    CAPACITY,
    ISLANDS,
    admit,
    best_of_island,
    deal,
    mate,
    mean_fitness,
    parents_of,
    pick,
    reset,
    settle_islands,
    softmax,
    without_best,
)

pytestmark = pytest.mark.quick

FAULT = Fault(kind=FaultKind.NOT_PYTHON, message="does not parse")
fitnesses = st.sampled_from([0.0, 0.1, 0.25, 0.25, 0.5, 0.9, 1.0])


def program(name: str, fitness: float, fault: Fault | None = None) -> CandidateState:
    return CandidateState(
        id=name, program=Program(name), operator=Operator.MACRO, generation=1, slot=0, fitness=fitness, fault=fault
    )


def island(*fitness: float, name: str = "p") -> tuple[CandidateState, ...]:
    return tuple(program(f"{name}{place}", value) for place, value in enumerate(fitness))


def even(count: int) -> list[float]:
    """Numbers spread evenly over [0, 1): the share of them with an outcome is the probability of that outcome."""
    return [(place + 0.5) / count for place in range(count)]


islands_strategy = st.lists(st.lists(fitnesses, min_size=1, max_size=CAPACITY), min_size=ISLANDS, max_size=ISLANDS).map(
    lambda rows: tuple(island(*row, name=f"i{place}p") for place, row in enumerate(rows))
)


# -------------------------------------------------------------------------------------- probabilities


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_softmax_is_proportional_to_the_exponential_at_temperature_one(values: list[float]) -> None:
    chances = softmax(values)
    assert math.isclose(math.fsum(chances), 1.0)
    total = math.fsum(math.exp(value) for value in values)
    assert chances == pytest.approx([math.exp(value) / total for value in values])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_pick_falls_on_each_place_with_its_probability(values: list[float]) -> None:
    chances = softmax(values)
    picked = Counter(pick(chances, number) for number in even(1000))
    for place, chance in enumerate(chances):
        assert abs(picked[place] / 1000 - chance) <= 0.002


def test_a_pick_never_falls_outside() -> None:
    assert pick([0.1] * 10, math.nextafter(1.0, 0.0)) == 9
    assert pick([0.5, 0.5], 0.0) == 0


def test_two_parents_are_drawn_without_replacement() -> None:
    members = island(0.0, 1.0, 0.5)
    chances = softmax([0.0, 1.0, 0.5])
    counts: Counter[tuple[str, str]] = Counter()
    numbers = even(120)
    for first, second in product(numbers, numbers):
        draws = iter((first, second))
        one, other = parents_of(members, 2, lambda: next(draws))  # noqa: B023 - used within the turn
        counts[one.id, other.id] += 1
    for place, after in product(range(3), range(3)):
        expected = 0.0 if place == after else chances[place] * chances[after] / (1 - chances[place])
        assert abs(counts[f"p{place}", f"p{after}"] / 120**2 - expected) < 0.02


def test_half_of_the_proposals_are_crossovers_and_islands_go_by_their_mean() -> None:
    rows = {"a": (0.0, 0.2), "b": (1.0, 0.8), "c": (0.5, 0.5), "d": (0.3,)}
    islands = tuple(island(*row, name=name) for name, row in rows.items())
    chances = softmax([0.1, 0.9, 0.5, 0.3])
    draw = random.Random(1).random
    matings = [mate(islands, draw) for _ in range(20_000)]
    chosen = Counter(mating.island for mating in matings)
    for place, chance in enumerate(chances):
        assert abs(chosen[place] / len(matings) - chance) < 0.015
    for mating in matings:
        assert all(parent in islands[mating.island] for parent in mating.parents)
        assert len({parent.id for parent in mating.parents}) == len(mating.parents)
    of_many = [mating for mating in matings if mating.island != 3]
    crossed = sum(len(mating.parents) == 2 for mating in of_many)
    assert abs(crossed / len(of_many) - 0.5) < 0.015
    assert all(len(mating.parents) == 1 for mating in matings if mating.island == 3), "one program cannot be crossed"


# ----------------------------------------------------------------------------------- islands over time


def test_generation_0_is_p0_everywhere_and_generation_1_its_mutations_dealt_in_turn() -> None:
    p0 = program("init/0", 0.3)
    assert settle_islands(p0) == ((p0,),) * 4
    dealt = deal(p0, 10)
    assert [mating.island for mating in dealt] == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
    assert all(mating.parents == (p0,) for mating in dealt)


@given(st.lists(fitnesses, min_size=1, max_size=CAPACITY), st.lists(st.tuples(fitnesses, st.booleans()), max_size=12))
def test_children_as_fit_as_the_mean_are_admitted_and_the_least_fit_go(
    before: list[float], offered: list[tuple[float, bool]]
) -> None:
    old = island(*before)
    children = [
        program(f"c{place}", fitness, FAULT if failed else None) for place, (fitness, failed) in enumerate(offered)
    ]
    after = admit(old, children)
    mean = math.fsum(before) / len(before)
    welcome = [child for child in children if child.fault is None and child.fitness >= mean]
    pool = [*old, *welcome]
    assert len(after) == min(CAPACITY, len(pool))
    assert all(one in pool for one in after)
    gone = [one for one in pool if one not in after]
    for out in gone:
        assert out.fitness <= min(one.fitness for one in after)
        newer = [one for one in after if one.fitness == out.fitness]
        assert all(pool.index(one) > pool.index(out) for one in newer), "among equals the oldest is removed"


@given(islands_strategy, st.integers(0, 10**6))
def test_a_reset_renews_the_weaker_half(islands: tuple[tuple[CandidateState, ...], ...], seed: int) -> None:
    after, weak = reset(islands, random.Random(seed).random)
    means = [mean_fitness(one) for one in islands]
    strong = [place for place in range(4) if place not in weak]
    assert len(weak) == 2
    assert max(means[place] for place in weak) <= min(means[place] for place in strong)
    for place in strong:
        assert after[place] == islands[place]
    guests = {one.id for place in strong for one in without_best(islands[place])}
    for place in weak:
        best, *received = after[place]
        assert best == best_of_island(islands[place])
        assert best.fitness == max(one.fitness for one in islands[place])
        assert len(received) == (1 if guests else 0)
        assert {one.id for one in received} <= guests


def test_of_islands_equally_weak_the_later_ones_are_reset() -> None:
    islands = tuple(island(0.5, 0.5, name=f"i{place}p") for place in range(4))
    assert reset(islands, random.Random(1).random)[1] == (2, 3)


def test_the_guest_is_drawn_by_softmax_of_fitness_from_an_island_drawn_evenly() -> None:
    islands = (
        island(0.9, 0.0, 0.8, name="a"), island(0.9, 0.5, 0.5, name="b"), island(0.1, name="c"), island(0.2, name="d")
    )
    guests: Counter[str] = Counter()
    draw = random.Random(3).random
    for _ in range(10_000):
        after, weak = reset(islands, draw)
        assert weak == (2, 3)
        guests.update(one.id for place in weak for one in after[place][1:])
    total = guests.total()
    assert total == 20_000
    low, high = softmax([0.0, 0.8])
    expected = {"a1": low / 2, "a2": high / 2, "b1": 0.25, "b2": 0.25}
    assert {name: guests[name] / total for name in guests} == pytest.approx(expected, abs=0.015)


def test_no_guest_is_what_the_island_keeps_anyway() -> None:
    p0 = program("init/0", 0.5)
    islands = ((program("x", 0.9), p0), (program("y", 0.8), p0), (p0,), (p0,))
    after, _ = reset(islands, random.Random(1).random)
    assert after[2:] == ((p0,), (p0,))
