"""Tuning by the rules of version 1 to 6, by which recorded runs go on: what is found and reported."""

import math
import random
from dataclasses import replace

import pytest
from memento.core.events import ConstantsTried, Propose, TryConstants, TuningEnded
from memento.core.faults import FaultKind
from memento.core.programs.constants import constants_of
from memento.core.values import CandidateState, Operator, Program, Score
from memento.search.memento import EliteKeeper
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.rollout_plan import RolloutPlan
from memento.search.tuning_older import FINAL_EPISODES, FINALISTS, LONG, VECTORS, OlderTuning, begun
from memento.search.tuning_values import Learned

from ..support.keeper_world import World, play

PLAN = RolloutPlan(split="search", seeds=(11, 12), evaluator=Program("E*"), racing=True)
NAMES = ("A", "B", "C", "D", "E")


def elite(text: str, fitness: float = 0.1) -> CandidateState:
    """A program with these constants, all of which it reads."""
    read = ", ".join(line.partition(" = ")[0] for line in text.splitlines() if " = " in line)
    return CandidateState(
        id="init/0", program=Program(f"{text}\nprint({read})"), operator=Operator.INITIAL, generation=0, slot=0,
        fitness=fitness, scores=(Score(fitness=fitness),) * 2,
    )


def tuned(parent: CandidateState, episodes: int, fitness, shuffle: int = 0) -> tuple[TuningEnded, list[ConstantsTried]]:
    """One slot in a world where `fitness` of the constants is the fitness of every episode."""
    tuning, facts = carried_out(parent, episodes, fitness, shuffle=shuffle)
    return tuning.concluded(), facts


def carried_out(
    parent: CandidateState, episodes: int, fitness, *, shuffle: int = 0, after: Learned | None = None
) -> tuple[OlderTuning, list[ConstantsTried]]:
    pick = random.Random(shuffle)
    tuning, orders = begun("g1/tune/0", parent, PLAN, episodes=episodes, seed=5 if after is None else 6, after=after)
    facts = []
    while orders:
        orders = list(orders)
        pick.shuffle(orders)
        following = ()
        for order in orders:
            values = {each.name: each.value for each in constants_of(order.program)}
            score = fitness(values)
            count = 1 if order.floor is not None and (score + len(order.seeds) - 1) / len(order.seeds) <= order.floor \
                else len(order.seeds)
            fact = ConstantsTried(order=order.id, point=order.point, fitnesses=(score,) * count)
            tuning, following = tuning.take(fact)
            facts.append(fact)
            assert tuning.take(fact) == (tuning, ())  # a second answer changes nothing
        orders = following
    assert tuning.over
    return tuning, facts


@pytest.mark.parametrize("names", [NAMES[:2], NAMES])
def test_the_optimisers_come_near_the_best_values(names: tuple[str, ...]) -> None:
    parent = elite("".join(f"{name} = 1.0  # tune: 0..4\n" for name in names) + "FLAT = 0.5\n")

    def fitness(values: dict[str, float]) -> float:
        return 1 / (1 + sum((values[name] - 3) ** 2 for name in names))

    result, facts = tuned(parent, 2 * 200, fitness)
    assert result.fitness > 0.8 > result.before
    after = {each.name: each.after for each in result.constants}
    assert all(abs(after[name] - 3) < 0.5 for name in names)
    assert result.tried == len(facts) <= 200 and result.episodes == sum(len(fact.fitnesses) for fact in facts)
    assert fitness({each.name: each.value for each in constants_of(result.program)}) == pytest.approx(result.fitness)
    assert result.summary.startswith(tuple(f"{name} 1 → " for name in names))
    counts = {len(fact.fitnesses) for fact in facts}
    assert counts == ({1, 2} if len(names) == 2 else {2, FINAL_EPISODES})  # racing is exact, or there is none


def test_constants_without_an_effect_are_named() -> None:
    parent = elite("".join(f"{name} = 1.0\n" for name in NAMES))
    result, _ = tuned(parent, 60, lambda values: 0.25 if values["A"] > 1.5 else 0.0)
    flat = {each.name for each in result.constants if each.insensitive}
    assert "A" not in flat and flat
    assert f"insensitive: {', '.join(name for name in NAMES if name in flat)}" in result.summary


def test_a_budget_gives_many_values_before_it_gives_many_episodes() -> None:
    few, _ = begun("g1/tune/0", elite("X = 1.5"), PLAN, episodes=VECTORS, seed=0)
    many, _ = begun("g1/tune/0", elite("X = 1.5"), PLAN, episodes=10 * VECTORS, seed=0)
    assert (len(few.seeds), len(many.seeds)) == (1, 2)
    wide = elite("".join(f"X{place} = 1.5\n" for place in range(VECTORS)))
    found, _ = begun("g1/tune/0", wide, PLAN, episodes=10 * VECTORS, seed=0)
    assert len(found.seeds) == 1, "many constants need many values"
    none = begun("g1/tune/0", elite("print()"), PLAN, episodes=60, seed=0)
    assert none.kind is FaultKind.NO_CONSTANTS


WIDE = "".join(f"{name} = 1.0  # tune: 0..4\n" for name in NAMES)


def far_from(values: dict[str, float]) -> float:
    """Best where all values are 3, along a narrow valley."""
    first = (values["A"] + values["B"] - 6) ** 2
    return 1 / (1 + 20 * first + sum((values[name] - 3) ** 2 for name in NAMES))


def test_cma_es_goes_on_where_an_earlier_tuning_of_the_same_program_ended() -> None:
    tuning, _ = carried_out(elite(WIDE), 2 * 8 * 20, far_from)
    found, again = tuning.concluded(), elite(WIDE)
    parent = replace(again, program=found.program, fitness=found.fitness)
    onward, _ = carried_out(parent, 2 * 8 * 20, far_from, after=tuning.learned)
    afresh, _ = carried_out(parent, 2 * 8 * 20, far_from)
    assert onward.concluded().fitness > max(found.fitness, afresh.concluded().fitness)
    assert min(each.fitness for each in onward.tried[:8]) > min(each.fitness for each in afresh.tried[:8])
    assert {each.point for each in onward.tried}.isdisjoint(each.point for each in tuning.tried), "other draws"


def lucky(order: TryConstants) -> tuple[float, ...]:
    """One start of three gives the values far from 3 as much as the best ones have."""
    values = {each.name: each.value for each in constants_of(order.program)}
    far = max(abs(values[name] - 3) for name in NAMES)
    return tuple(1.0 if seed % 3 == 0 and far > 1 else 1 / (1 + far) for seed in order.seeds)


def compared(episodes: int, **options: bool) -> tuple[TuningEnded, list[list[TryConstants]]]:
    """The result and the batches of a tuning on starts of which some are lucky."""
    tuning, orders = begun("g1/tune/0", elite(WIDE), PLAN, episodes=episodes, seed=5, **options)
    batches = []
    while orders:
        batches.append(list(orders))
        for order in batches[-1]:
            tuning, orders = tuning.take(ConstantsTried(order=order.id, point=order.point, fitnesses=lucky(order)))
    return tuning.concluded(), batches


def test_a_long_tuning_takes_the_episodes_in_turn_and_compares_the_best_values_on_further_ones() -> None:
    result, batches = compared(LONG)
    seeds = [{order.seeds for order in batch} for batch in batches]
    assert all(len(each) == 1 for each in seeds), "values of a population are compared on the same episodes"
    *turns, (last,) = [tuple(each) for each in seeds]
    assert [each for (each,) in turns] == [PLAN.seeds[place % 2 :][:1] for place in range(len(turns))]
    finals = batches[-1]
    assert len(finals) >= FINALISTS and len(set(last)) == FINAL_EPISODES and not set(last) & set(PLAN.seeds)
    assert finals[0].program.text == elite(WIDE).program.text, "the program itself is among them"
    assert len({order.point for order in finals}) == len(finals)
    assert len({len(batch) for batch in batches[:-1]}) == 1, "CMA-ES learns from whole populations"
    assert sum(len(order.seeds) for batch in batches for order in batch) <= LONG
    own, best = (math.fsum(lucky(order)) / FINAL_EPISODES for order in (finals[0], max(
        finals, key=lambda order: math.fsum(lucky(order)))))
    assert (result.before, result.fitness) == (own, best)


@pytest.mark.parametrize("episodes, options", [(LONG - 1, {}), (LONG, {"compares": False})])
def test_a_short_tuning_and_one_by_older_rules_keep_to_the_episodes_of_all_candidates(
    episodes: int, options: dict[str, bool]
) -> None:
    _, batches = compared(episodes, **options)
    assert {order.seeds for batch in batches for order in batch} == {PLAN.seeds[:1]}
    assert sum(map(len, batches)) == episodes


@pytest.mark.parametrize("text, same", [
    ("# another comment\nHISTORY=['one', 'two']\n" + WIDE.replace("C = 1.0", "C = 1.75"), True),
    (WIDE.replace("C = 1.0  # tune: 0..4", "C = 1.0  # tune: 0..5"), False),
    (WIDE.replace("C = 1.0", "F = 1.0"), False),
    (WIDE + "print('more')\n", False),
])
def test_another_program_or_range_begins_again(text: str, same: bool) -> None:
    tuning, _ = carried_out(elite(WIDE), 2 * 8 * 4, far_from)
    [first, *_] = begun("g2/tune/0", elite(text), PLAN, episodes=20, seed=6, after=tuning.learned)[1]
    [afresh, *_] = begun("g2/tune/0", elite(text), PLAN, episodes=20, seed=6)[1]
    assert (first.point != afresh.point) is same


def test_without_named_ranges_it_goes_on_within_the_first_ones() -> None:
    plain = "".join(f"{name} = 1.0\n" for name in NAMES)
    tuning, _ = carried_out(elite(plain), 2 * 8 * 4, far_from)
    moved, _ = begun("g2/tune/0", elite(plain.replace("C = 1.0", "C = 3.5")), PLAN, episodes=20, seed=6,
                     after=tuning.learned)
    assert {(each.low, each.high) for each in moved.constants} == {(0.25, 4.0)}
    outside, _ = begun("g2/tune/0", elite(plain.replace("C = 1.0", "C = 9.0")), PLAN, episodes=20, seed=6,
                       after=tuning.learned)
    assert len({(each.low, each.high) for each in outside.constants}) == 2
    few, _ = carried_out(elite("A = 1.0\nB = 1.0\n"), 60, lambda values: values["A"] / 9)
    assert few.learned is None, "a coordinate search begins again"


def test_a_switch_is_tried_once_and_then_nothing_is_left() -> None:
    result, facts = tuned(elite("X = False", fitness=0.0), 500, lambda values: values["X"])
    assert result.program.text.startswith("X = True\n") and len(facts) == 1


# ------------------------------------------------------------------------------------ within the search


class Tuned(World):
    """Every proposal names constants, or none."""

    def _propose(self, order: Propose, draw: random.Random):
        fact = super()._propose(order, draw)
        if not hasattr(fact, "program") or draw.random() < 0.3:
            return fact
        names = NAMES[: draw.randrange(1, 6)]
        text = "".join(f"{name} = {draw.randrange(1, 9) / 2}\n" for name in names) + f"# {order.id}\n"
        return replace(fact, program=Program(text))


SLOTS = GenerationBudget(generations=1, hill_climb=1, macro=0, crossover=1, tune=2, tune_episodes=6)


def test_recorded_runs_of_older_rules_tune_the_elite_in_every_slot() -> None:
    def begins(late: bool) -> set[str]:
        searching = EliteKeeper(
            initial=elite("A = 0.5\nB = 2\n"), plan=PLAN, slots=SLOTS,
            options=SearchOptions(late_tuning=late, proven_tuning=False),
        )
        return {order.id.split("/v")[0] for order in searching.start().orders if isinstance(order, TryConstants)}

    assert begins(False) == {"g1/tune/0", "g1/tune/1"}
    assert begins(True) == {"g1/tune/0"}


def test_recorded_runs_of_older_rules_begin_each_tuning_again() -> None:
    """The points of the second generation differ, although its elite is still p_0."""
    def points(lasting: bool) -> list[tuple[str, tuple[float, ...]]]:
        searching = EliteKeeper(
            initial=elite(WIDE, fitness=1.0), plan=PLAN,
            options=SearchOptions(lasting_tuning=lasting, proven_tuning=False),
            slots=GenerationBudget(generations=2, hill_climb=1, macro=0, crossover=0, tune=1, tune_episodes=16),
        )
        log, _ = play(searching, Tuned(1, failure_rate=0.0), random.Random(0).randrange)
        return sorted((fact.order, fact.point) for fact in log if isinstance(fact, ConstantsTried))

    def of(generation: int, found: list[tuple[str, tuple[float, ...]]]) -> list[tuple[str, tuple[float, ...]]]:
        return [each for each in found if each[0].startswith(f"g{generation}/")]

    new, old = points(True), points(False)
    assert of(1, new) == of(1, old) and of(2, new) != of(2, old)
