"""Tuning: what the optimisers find, what a slot reports, and that a search with it is deterministic and resumable."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    BranchEnded,
    CandidateScored,
    ConstantsTried,
    EliteChanged,
    EpisodeEnded,
    Fact,
    Propose,
    TryConstants,
    TuningEnded,
)
from memento.core.programs.constants import constants_of
from memento.core.values import CandidateState, FaultKind, Operator, Program, Score
from memento.runtime.supervisor import Replay
from memento.search.memento import EliteKeeper, GenerationBudget
from memento.search.options import SearchOptions
from memento.search.trials import FreshPlan, RolloutPlan
from memento.search.tuning import (
    FINAL_EPISODES,
    FINALISTS,
    LONG,
    VECTORS,
    Learned,
    Tuning,
    begun,
    ended,
    f_ratio,
    learned_by,
    taken,
)

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
    return ended(tuning), facts


def carried_out(
    parent: CandidateState, episodes: int, fitness, *, shuffle: int = 0, after: Learned | None = None
) -> tuple[Tuning, list[ConstantsTried]]:
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
            tuning, following = taken(tuning, fact)
            facts.append(fact)
            assert taken(tuning, fact) == (tuning, ())  # a second answer changes nothing
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
    assert begun("g1/tune/0", elite("print()"), PLAN, episodes=60, seed=0) is None


WIDE = "".join(f"{name} = 1.0  # tune: 0..4\n" for name in NAMES)


def far_from(values: dict[str, float]) -> float:
    """Best where all values are 3, along a narrow valley."""
    first = (values["A"] + values["B"] - 6) ** 2
    return 1 / (1 + 20 * first + sum((values[name] - 3) ** 2 for name in NAMES))


def test_cma_es_goes_on_where_an_earlier_tuning_of_the_same_program_ended() -> None:
    tuning, _ = carried_out(elite(WIDE), 2 * 8 * 20, far_from)
    found, again = ended(tuning), elite(WIDE)
    parent = replace(again, program=found.program, fitness=found.fitness)
    onward, _ = carried_out(parent, 2 * 8 * 20, far_from, after=learned_by(tuning))
    afresh, _ = carried_out(parent, 2 * 8 * 20, far_from)
    assert ended(onward).fitness > max(found.fitness, ended(afresh).fitness)
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
            tuning, orders = taken(tuning, ConstantsTried(order=order.id, point=order.point, fitnesses=lucky(order)))
    return ended(tuning), batches


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
    [first, *_] = begun("g2/tune/0", elite(text), PLAN, episodes=20, seed=6, after=learned_by(tuning))[1]
    [afresh, *_] = begun("g2/tune/0", elite(text), PLAN, episodes=20, seed=6)[1]
    assert (first.point != afresh.point) is same


def test_without_named_ranges_it_goes_on_within_the_first_ones() -> None:
    plain = "".join(f"{name} = 1.0\n" for name in NAMES)
    tuning, _ = carried_out(elite(plain), 2 * 8 * 4, far_from)
    moved, _ = begun("g2/tune/0", elite(plain.replace("C = 1.0", "C = 3.5")), PLAN, episodes=20, seed=6,
                     after=learned_by(tuning))
    assert {(each.low, each.high) for each in moved.constants} == {(0.25, 4.0)}
    outside, _ = begun("g2/tune/0", elite(plain.replace("C = 1.0", "C = 9.0")), PLAN, episodes=20, seed=6,
                       after=learned_by(tuning))
    assert len({(each.low, each.high) for each in outside.constants}) == 2
    few, _ = carried_out(elite("A = 1.0\nB = 1.0\n"), 60, lambda values: values["A"] / 9)
    assert learned_by(few) is None, "a coordinate search begins again"


def test_a_switch_is_tried_once_and_then_nothing_is_left() -> None:
    result, facts = tuned(elite("X = False", fitness=0.0), 500, lambda values: values["X"])
    assert result.program.text.startswith("X = True\n") and len(facts) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=12, max_size=40))
def test_the_f_ratio_is_never_negative(pairs: list[tuple[float, float]]) -> None:
    assert f_ratio(*zip(*pairs, strict=True)) >= 0


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


slots_strategy = st.builds(
    GenerationBudget,
    generations=st.integers(1, 2),
    hill_climb=st.integers(0, 2),
    macro=st.integers(0, 2),
    crossover=st.integers(0, 2),
    tune=st.integers(1, 2),
    tune_episodes=st.integers(1, 30),
)


def keeper(slots: GenerationBudget, plan: RolloutPlan = PLAN) -> EliteKeeper:
    return EliteKeeper(
        initial=elite("A = 0.5\nB = 2\n"), plan=plan, slots=slots, options=SearchOptions(seed=3, full_memory=True)
    )


def run(slots: GenerationBudget, seed: int, arrival: int, plan: RolloutPlan = PLAN) -> list[Fact]:
    log, last = play(keeper(slots, plan), Tuned(seed), random.Random(arrival).randrange)
    assert keeper(slots).finished(last.state) and not last.orders
    return log


def verdicts(log: list[Fact]) -> list[object]:
    kept = [fact for fact in log if isinstance(fact, EliteChanged | TuningEnded)]
    tried = sorted((fact.order, fact.fitnesses) for fact in log if isinstance(fact, ConstantsTried))
    return [sorted(map(repr, kept)), tried]


@settings(max_examples=30, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_result_does_not_depend_on_the_order_of_arrival(
    slots: GenerationBudget, seed: int, one: int, other: int
) -> None:
    assert verdicts(run(slots, seed, one)) == verdicts(run(slots, seed, other))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 3))
def test_the_last_of_several_tunings_begins_with_crossover_on_the_best_program_so_far(
    seed: int, arrival: int, tune: int
) -> None:
    slots = GenerationBudget(generations=1, hill_climb=2, macro=2, crossover=1, tune=tune, tune_episodes=6)
    log = run(slots, seed, arrival, replace(PLAN, racing=False))
    scored = {fact.candidate.id: fact.candidate for fact in log if isinstance(fact, CandidateScored)}
    places = {str(fact.order): place for place, fact in enumerate(log) if isinstance(fact, ConstantsTried)}
    last = [place for order, place in places.items() if order.startswith(f"g1/tune/{tune - 1}/")]
    before = max(
        place for place, fact in enumerate(log)
        if isinstance(fact, CandidateScored) and fact.candidate.operator in (Operator.HILL_CLIMB, Operator.MACRO)
    )
    [parent] = scored[f"g1/tune/{tune - 1}"].parents
    if tune == 1:
        assert parent == "init/0"
        return
    assert all(place > before for place in last)
    known = [
        each.fitness for each in scored.values()
        if each.operator in (Operator.HILL_CLIMB, Operator.MACRO) and not each.fault
    ]
    others = [scored[f"g1/tune/{slot}"] for slot in range(tune - 1)]
    known += [each.fitness for each in others if not each.fault]
    start = keeper(slots).start().state.elite
    fitness = start.fitness if parent == start.id else scored[parent].fitness
    assert fitness == max([start.fitness, *known])
    assert all(each.parents == (start.id,) for each in others)


def test_recorded_runs_of_older_rules_tune_the_elite_in_every_slot() -> None:
    slots = GenerationBudget(generations=1, hill_climb=1, macro=0, crossover=1, tune=2, tune_episodes=6)
    old = EliteKeeper(
        initial=elite("A = 0.5\nB = 2\n"), plan=PLAN, slots=slots, options=SearchOptions(late_tuning=False)
    )
    assert {order.id.split("/v")[0] for order in old.start().orders if isinstance(order, TryConstants)} == {
        "g1/tune/0", "g1/tune/1"
    }
    assert {order.id.split("/v")[0] for order in keeper(slots).start().orders if isinstance(order, TryConstants)} == {
        "g1/tune/0"
    }


def test_recorded_runs_of_older_rules_begin_each_tuning_again() -> None:
    """The points of the second generation differ, although its elite is still p_0."""
    def points(lasting: bool) -> list[tuple[str, tuple[float, ...]]]:
        searching = EliteKeeper(
            initial=elite(WIDE, fitness=1.0), plan=PLAN, options=SearchOptions(lasting_tuning=lasting),
            slots=GenerationBudget(generations=2, hill_climb=1, macro=0, crossover=0, tune=1, tune_episodes=16),
        )
        log, _ = play(searching, Tuned(1, failure_rate=0.0), random.Random(0).randrange)
        return sorted((fact.order, fact.point) for fact in log if isinstance(fact, ConstantsTried))

    def of(generation: int, found: list[tuple[str, tuple[float, ...]]]) -> list[tuple[str, tuple[float, ...]]]:
        return [each for each in found if each[0].startswith(f"g{generation}/")]

    new, old = points(True), points(False)
    assert of(1, new) == of(1, old) and of(2, new) != of(2, old)


@settings(max_examples=20, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6))
def test_racing_changes_no_elite(slots: GenerationBudget, seed: int, arrival: int) -> None:
    def elites(plan: RolloutPlan) -> list[tuple[str, float]]:
        return [(fact.candidate, fact.fitness) for fact in run(slots, seed, arrival, plan)
                if isinstance(fact, EliteChanged)]

    assert elites(PLAN) == elites(replace(PLAN, racing=False))


@settings(max_examples=30, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 1))
def test_a_killed_search_replays_to_the_same_state(
    slots: GenerationBudget, seed: int, arrival: int, where: float
) -> None:
    log = run(slots, seed, arrival)
    at = round(where * len(log))
    replayed = Replay(keeper(slots)).replay(log[:at])
    world, state, orders = Tuned(seed), replayed.state, list(replayed.orders)
    facts = [*log[:at], *replayed.facts]
    searching = keeper(slots)
    while orders:
        fact = world.answer(orders.pop(0))
        decision = searching.decide(state, fact)
        state = decision.state
        facts += [fact, *decision.facts]
        gone = {order.target for order in decision.orders if hasattr(order, "target")}
        orders = [order for order in [*orders, *decision.orders] if not hasattr(order, "target")]
        orders = [order for order in orders if order.id not in gone]
    assert verdicts(facts) == verdicts(log)


@settings(max_examples=30, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_tuning_slot_is_spent_once_and_reports_a_winner(slots: GenerationBudget, seed: int, arrival: int) -> None:
    log = run(slots, seed, arrival)
    tunings = [fact.candidate for fact in log
               if isinstance(fact, CandidateScored) and fact.candidate.operator is Operator.TUNE]
    assert sorted(each.id for each in tunings) == [
        f"g{generation}/tune/{slot}" for generation in range(1, slots.generations + 1) for slot in range(slots.tune)
    ]
    for each in tunings:
        assert each.program.text or each.fault.kind is FaultKind.NO_CONSTANTS
    winners = [fact for fact in log if isinstance(fact, BranchEnded) and fact.operator is Operator.TUNE]
    assert len(winners) == slots.generations


def test_a_tuned_program_that_is_fitter_becomes_elite_and_a_parent_of_crossover() -> None:
    class Better(World):
        def answer(self, order):
            fact = super().answer(order)
            if isinstance(order, TryConstants):
                return replace(fact, fitnesses=(constants_of(order.program)[0].value / 2,))
            if hasattr(fact, "score"):
                own = constants_of(next(iter(programs.values())))[0].value if "tune" in order.id else 0.0
                return replace(fact, score=Score(fitness=min(1.0, own)))
            return fact

    programs: dict[str, Program] = {}
    searching = EliteKeeper(
        initial=elite("A = 0.5  # tune: 0..2\n"), plan=PLAN,
        slots=GenerationBudget(generations=1, hill_climb=1, macro=1, crossover=1, tune=1, tune_episodes=20),
    )
    world, decision = Better(1, failure_rate=0.0), searching.start()
    state, orders, asked = decision.state, list(decision.orders), []
    facts: list[Fact] = []
    while orders:
        order = orders.pop(0)
        if not hasattr(order, "target"):
            asked += [order] if isinstance(order, Propose) else []
            decision = searching.decide(state, world.answer(order))
            programs |= {fact.order: fact.program for fact in decision.facts if isinstance(fact, TuningEnded)}
            state, orders = decision.state, [*orders, *decision.orders]
            facts += decision.facts
    cross = next(order for order in asked if order.operator is Operator.CROSSOVER)
    assert [parent.id for parent in cross.parents] == ["init/0", "g1/tune/0"]
    assert cross.parents[1].lineage[-1].summary == "A 0.5 → 2"
    elites = [fact for fact in facts if isinstance(fact, EliteChanged)]
    assert (elites[-1].candidate, elites[-1].origin) == ("g1/tune/0", Operator.TUNE)


@settings(max_examples=30, deadline=None)
@given(slots_strategy, st.integers(0, 60), st.integers(0, 3), seeds := st.integers(0, 10**6), seeds)
def test_a_budget_of_episodes_is_never_exceeded(
    slots: GenerationBudget, limit: int, confirm: int, seed: int, arrival: int
) -> None:
    plan = replace(PLAN, racing=False, episodes=limit, fresh=FreshPlan(seed=7, confirm=confirm))
    log = run(slots, seed, arrival, plan)
    tried = sum(len(fact.fitnesses) for fact in log if isinstance(fact, ConstantsTried))
    assert tried + sum(isinstance(fact, EpisodeEnded) for fact in log) <= limit
