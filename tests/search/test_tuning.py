"""Tuning: what is found, what protects the parent, what a slot reports; searches with it, killed, in any order."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memento.core.events import (
    BranchEnded,
    CandidateScored,
    ConstantsTried,
    EliteChanged,
    EpisodeEnded,
    Fact,
    Order,
    Propose,
    TryConstants,
    TuningEnded,
)
from memento.core.faults import Fault, FaultKind
from memento.core.methods import is_tuned
from memento.core.programs.constants import constants_of
from memento.core.programs.program_text import MAX_SUMMARY
from memento.core.values import CandidateState, Operator, Program, Score, TunedConstant
from memento.search.branches.tune.slot import DUEL, LEAST_FIRST, VECTORS, Tuning, begin_tuning
from memento.search.branches.tune.values import Learned, f_ratio, in_words
from memento.search.elite_keeper import EliteKeeper
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.parts.memory import MemorySettings
from memento.search.rollout_plan import FreshPlan, RolloutPlan

from ..support.keeper_world import World, play

PLAN = RolloutPlan(split="search", seeds=(11, 12), evaluator=Program("E*"), racing=True)
NAMES = ("A", "B", "C", "D", "E")
WIDE = "".join(f"{name} = 1.0  # tune: 0..4\n" for name in NAMES)
MANY = "".join(f"X{place} = 1.0  # tune: 0..4\n" for place in range(34))

Rule = Callable[[dict[str, float], int], float]
"""f_e of values in the episode with a seed."""


def elite(text: str, *fitnesses: float) -> CandidateState:
    """A program with these constants, all of which it reads, and its f_e on the search's episodes."""
    read = ", ".join(line.partition(" = ")[0] for line in text.splitlines() if " = " in line)
    found = fitnesses or (0.1,) * len(PLAN.seeds)
    return CandidateState(
        id="init/0", program=Program(f"{text}\nprint({read})"), operator=Operator.INITIAL, generation=0, slot=0,
        fitness=sum(found) / len(found), scores=tuple(Score(fitness=each) for each in found),
    )


def values_of(program: Program) -> dict[str, float]:
    return {each.name: each.value for each in constants_of(program)}


def carried_out(
    text: str, episodes: int, rule: Rule, *, shuffle: int = 0, plan: RolloutPlan = PLAN, after: Learned | None = None
) -> tuple[Tuning, list[list[TryConstants]]]:
    """One slot in a world with this rule, and the batches of its orders; answers arrive in any order."""
    pick = random.Random(shuffle)
    own = values_of(elite(text).program)
    parent = elite(text, *(rule(own, seed) for seed in plan.seeds))
    seed = 5 if after is None else 6
    tuning, orders = begin_tuning("g1/tune/0", parent, plan, episodes=episodes, seed=seed, after=after)
    batches = []
    while orders:
        batches.append(list(orders))
        following = ()
        for order in pick.sample(batches[-1], len(batches[-1])):
            found = [rule(values_of(order.program), seed) for seed in order.seeds]
            if order.floor is not None and (found[0] + len(found) - 1) / len(found) <= order.floor:
                found = found[:1]  # the rest cannot matter
            fact = ConstantsTried(order=order.id, point=order.point, fitnesses=tuple(found))
            tuning, following = tuning.take(fact)
            assert tuning.take(fact) == (tuning, ()) or following, "a second answer changes nothing"
        orders = following
    assert tuning.over
    ordered = sum(len(order.seeds) for batch in batches for order in batch)
    assert ordered + tuning.spare == episodes and tuning.spare >= 0
    return tuning, batches


def near_three(*names: str) -> Rule:
    return lambda values, seed: 1 / (1 + sum((values[name] - 3) ** 2 for name in names))


@pytest.mark.parametrize("names", [NAMES[:2], NAMES])
def test_the_optimisers_come_near_the_best_values(names: tuple[str, ...]) -> None:
    text = "".join(f"{name} = 1.0  # tune: 0..4\n" for name in names) + "FLAT = 0.5\n"
    tuning, batches = carried_out(text, 400, near_three(*names))
    result = tuning.conclusion()
    assert result.fitness > 0.8 > result.before
    after = {each.name: each.after for each in result.constants}
    assert all(abs(after[name] - 3) < 0.5 for name in names)
    assert near_three(*names)(values_of(result.program), 0) == pytest.approx(result.fitness)
    assert result.summary.startswith(tuple(f"{name} 1 → " for name in names))
    assert result.tried == sum(map(len, batches)) and result.episodes <= 400 - tuning.spare


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 40), st.integers(0, 250), st.integers(1, 5), st.floats(0, 0.3), st.integers(0, 10**6), st.booleans()
)
def test_whatever_a_slot_is_given_it_keeps_to_it_and_proposes_only_what_beat_its_parent(
    count: int, episodes: int, seeds: int, noise: float, seed: int, racing: bool
) -> None:
    """In a noisy world in which every third constant matters."""
    def rule(values: dict[str, float], episode: int) -> float:
        mattering = [value for name, value in values.items() if int(name[1:]) % 3 == 0]
        luck = random.Random(f"{seed}/{values}/{episode}").gauss(0, noise)
        return min(1.0, max(0.0, 1 / (1 + sum((value - 2) ** 2 for value in mattering)) + luck))

    text = "".join(f"X{place} = 1.0  # tune: 0..4\n" for place in range(count))
    plan = replace(PLAN, seeds=tuple(range(seeds)), racing=racing)
    parent = elite(text, *(rule(values_of(elite(text).program), each) for each in plan.seeds))
    found = begin_tuning("g1/tune/0", parent, plan, episodes=episodes, seed=5)
    if isinstance(found, Fault):
        assert found.kind is FaultKind.NOT_TUNED and f"the slot had {episodes}" in found.message
        needed = int(found.message.split(" would need ")[1].split()[0])
        assert episodes < needed <= 44
        assert not isinstance(begin_tuning("g1/tune/0", parent, plan, episodes=needed, seed=5), Fault)
        return
    tuning, batches = carried_out(text, episodes, rule, shuffle=seed, plan=plan)
    again, _ = carried_out(text, episodes, rule, shuffle=seed + 1, plan=plan)
    result = tuning.conclusion()
    assert (result, tuning.spare) == (again.conclusion(), again.spare), "in any order of answers"
    if isinstance(result, Fault):
        assert result.kind is FaultKind.NOT_TUNED and result.message
        return
    *_, finals, duel = batches
    fresh = set(finals[0].seeds) | set(duel[0].seeds)
    assert len(duel[0].seeds) == DUEL * len(finals[0].seeds) >= DUEL * LEAST_FIRST
    assert len(fresh) == len(finals[0].seeds) + len(duel[0].seeds) and not fresh & set(plan.seeds)
    for batch in (finals, duel):
        assert batch[0].program == parent.program, "the program itself is compared"
        assert {order.seeds for order in batch} == {batch[0].seeds}, "on the same episodes"
    own, best = (sum(rule(values_of(order.program), each) for each in order.seeds) / len(order.seeds) for order in duel)
    assert result.before == pytest.approx(own) and result.fitness == pytest.approx(best) and best > own
    assert result.program == duel[1].program != parent.program
    assert all(each.before == each.after for each in result.constants if each.insensitive)


def test_values_are_compared_on_more_than_one_episode() -> None:
    """CMA-ES takes the search's episodes in turn, coordinate search tries each vector on two, few as they are."""
    _, batches = carried_out(WIDE, 44, near_three(*NAMES))
    assert [{order.seeds for order in batch} for batch in batches[:2]] == [{(11,)}, {(12,)}]
    assert [len(batch) for batch in batches] == [8, 8, 3, 2] and len(batches[-1][0].seeds) == 8
    _, batches = carried_out("A = 1.0\nB = 1.0\n", 60, near_three("A", "B"))
    assert {order.seeds for batch in batches[:-2] for order in batch} == {(11, 12)}
    few, _ = carried_out("A = 1.0\n", VECTORS, near_three("A"), plan=replace(PLAN, seeds=(1, 2, 3, 4)))
    many, _ = carried_out("A = 1.0\n", 4 * VECTORS, near_three("A"), plan=replace(PLAN, seeds=(1, 2, 3, 4)))
    assert (few.shares.each, many.shares.each) == (2, 4)


def test_a_slot_that_is_too_small_says_how_many_episodes_its_constants_need() -> None:
    found = begin_tuning("g1/tune/0", elite(MANY), PLAN, episodes=23, seed=0)
    assert found == Fault(
        kind=FaultKind.NOT_TUNED, message="34 constants would need 42 episodes, and the slot had 23"
    )
    assert begin_tuning("g1/tune/0", elite("print()"), PLAN, episodes=60, seed=0).kind is FaultKind.NO_CONSTANTS


def test_what_is_lucky_on_the_searchs_episodes_is_not_proposed() -> None:
    """Values far from the program's own are best on the search's episodes, and fall on one start of four."""
    def rule(values: dict[str, float], seed: int, turn: int) -> float:
        far = max(abs(values[name] - 1) for name in NAMES)
        falls = far > 0 and seed not in PLAN.seeds and (seed + turn) % 4 == 0
        return 0.0 if falls else 0.5 + far / 100

    results = [
        carried_out(WIDE, 60, lambda values, seed, turn=turn: rule(values, seed, turn))[0].conclusion()
        for turn in range(4)
    ]
    faults = [result for result in results if isinstance(result, Fault)]
    assert len(faults) >= 3
    assert all("fresh episodes, the program itself 0.500" in fault.message for fault in faults)


@pytest.mark.slow
def test_few_vectors_of_many_constants_say_nothing_of_insensitivity_and_move_few() -> None:
    def rule(values: dict[str, float], seed: int) -> float:
        return 1 / (1 + sum((values[f"X{place}"] - 3) ** 2 for place in range(4)))

    tuning, _ = carried_out(MANY, 56, rule)
    result = tuning.conclusion()
    assert "insensitive" not in result.summary and not any(each.insensitive for each in result.constants)
    moved = [each.name for each in result.constants if each.before != each.after]
    assert 0 < len(moved) < 20 and result.fitness > result.before
    tuning, _ = carried_out(MANY, 400, rule)
    result = tuning.conclusion()
    assert "insensitive: " in result.summary
    assert not {"X0", "X1", "X2", "X3"} & {each.name for each in result.constants if each.insensitive}


def test_without_any_gain_in_the_search_no_fresh_episode_is_spent() -> None:
    tuning, batches = carried_out("A = 1.0\n", 60, lambda values, seed: 1.0 if values["A"] == 1 else 0.0)
    assert {seed for batch in batches for order in batch for seed in order.seeds} == set(PLAN.seeds)
    fault = tuning.conclusion()
    assert fault.kind is FaultKind.NOT_TUNED and fault.message.startswith("no gain of ") and tuning.spare >= 20


def far_from(values: dict[str, float], seed: int) -> float:
    """Best where all values are 3, along a narrow valley."""
    first = (values["A"] + values["B"] - 6) ** 2
    return 1 / (1 + 20 * first + sum((values[name] - 3) ** 2 for name in NAMES))


@pytest.mark.slow
def test_cma_es_goes_on_where_an_earlier_tuning_of_the_same_program_ended() -> None:
    tuning, _ = carried_out(WIDE, 250, far_from)
    found = tuning.conclusion()
    moved = "".join(f"{each.name} = {each.after!r}  # tune: 0..4\n" for each in found.constants)
    onward, _ = carried_out(moved, 250, far_from, after=tuning.learned)
    afresh, _ = carried_out(moved, 250, far_from)
    assert min(each.fitness for each in onward.tried[:8]) > min(each.fitness for each in afresh.tried[:8])
    assert {each.point for each in onward.tried}.isdisjoint(each.point for each in tuning.tried), "other draws"


@pytest.mark.parametrize("text, same", [
    ("# another comment\nHISTORY=['one', 'two']\n" + WIDE.replace("C = 1.0", "C = 1.75"), True),
    (WIDE.replace("C = 1.0  # tune: 0..4", "C = 1.0  # tune: 0..5"), False),
    (WIDE.replace("C = 1.0", "F = 1.0"), False),
    (WIDE + "print('more')\n", False),
])
def test_another_program_or_range_begins_again(text: str, same: bool) -> None:
    tuning, _ = carried_out(WIDE, 64, far_from)
    [first, *_] = begin_tuning("g2/tune/0", elite(text), PLAN, episodes=60, seed=6, after=tuning.learned)[1]
    [afresh, *_] = begin_tuning("g2/tune/0", elite(text), PLAN, episodes=60, seed=6)[1]
    assert (first.point != afresh.point) is same


def test_without_named_ranges_it_goes_on_within_the_first_ones() -> None:
    plain = "".join(f"{name} = 1.0\n" for name in NAMES)

    def ranges(text: str) -> set[tuple[float, float]]:
        found, _ = begin_tuning("g2/tune/0", elite(text), PLAN, episodes=60, seed=6, after=tuning.learned)
        return {(each.low, each.high) for each in found.task.constants}

    tuning, _ = carried_out(plain, 64, far_from)
    assert ranges(plain.replace("C = 1.0", "C = 3.5")) == {(0.25, 4.0)}
    assert len(ranges(plain.replace("C = 1.0", "C = 9.0"))) == 2
    few, _ = carried_out("A = 1.0\nB = 1.0\n", 60, near_three("A", "B"))
    assert few.learned is None, "a coordinate search begins again"


def test_a_switch_is_tried_once_and_the_rest_is_spared() -> None:
    tuning, batches = carried_out("X = False", 500, lambda values, seed: values["X"])
    assert tuning.conclusion().program.text.startswith("X = True\n")
    assert [len(batch) for batch in batches] == [1, 2, 2] and tuning.spare > 400


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=12, max_size=40))
def test_the_f_ratio_is_never_negative(pairs: list[tuple[float, float]]) -> None:
    assert f_ratio(*zip(*pairs, strict=True)) >= 0


@given(st.lists(st.builds(
    TunedConstant, name=st.text("AB_", min_size=1, max_size=90), before=st.floats(-1e9, 1e9),
    after=st.floats(-1e9, 1e9), insensitive=st.booleans(),
), max_size=40))
@example([TunedConstant(name="A", before=2.0, after=5e-324, insensitive=False)])
def test_a_summary_ends_its_lists_in_a_number_and_never_cuts_a_name(constants: list[TunedConstant]) -> None:
    words = in_words(constants)
    assert len(words) <= MAX_SUMMARY and "…" not in words
    moved, _, flat = words.partition("; insensitive: ")
    names = [each.name for each in constants]
    for part in (moved, flat):
        listed, _, more = part.partition(" and ")
        assert not more or (more.removesuffix(" more").isdigit() and more.endswith(" more"))
        for word in filter(None, listed.split(", ")):
            assert word.split(" ")[0] in names or word == "no constant mattered" or word.split(" ")[1] in (
                "constant", "constants")


# ------------------------------------------------------------------------------------ within the search


class Tuned(World):
    """Every proposal names constants, or none."""

    def _propose(self, order: Propose, draw: random.Random):
        fact = super()._propose(order, draw)
        if not hasattr(fact, "program") or draw.random() < 0.3:
            return fact
        names = NAMES[: draw.randrange(1, 6)]
        text = "".join(f"{name} = {draw.randrange(1, 9) / 2}\n" for name in names)
        return replace(fact, program=Program(f"{text}print({', '.join(names)})  # {order.id}\n"))

    def answer(self, order: Order) -> Fact:
        """Values have the same f_e in every episode with the same seed."""
        fact = super().answer(order)
        if not isinstance(order, TryConstants):
            return fact
        draws = [random.Random(f"{self.seed}/{order.program.text}/{seed}") for seed in order.seeds]
        return replace(fact, fitnesses=tuple(draw.randrange(self.levels) / self.levels for draw in draws))


slots_strategy = st.builds(
    GenerationBudget,
    generations=st.integers(1, 3),
    hill_climb=st.integers(0, 2),
    macro=st.integers(0, 2),
    crossover=st.integers(0, 2),
    tune=st.integers(1, 2),
    tune_episodes=st.integers(1, 70),
    tune_generations=st.integers(0, 2),
)


def keeper(slots: GenerationBudget, plan: RolloutPlan = PLAN) -> EliteKeeper:
    return KEEPERS["memento"](
        elite("A = 0.5\nB = 2.0\n"), plan, slots, SearchOptions(seed=3), PAPER.but(MemorySettings(memory_detail="full"))
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
    slots = GenerationBudget(generations=1, hill_climb=2, macro=2, crossover=1, tune=tune, tune_episodes=50)
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


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6))
def test_racing_changes_no_elite(slots: GenerationBudget, seed: int, arrival: int) -> None:
    def elites(plan: RolloutPlan) -> list[tuple[str, float]]:
        return [(fact.candidate, fact.fitness) for fact in run(slots, seed, arrival, plan)
                if isinstance(fact, EliteChanged)]

    assert elites(PLAN) == elites(replace(PLAN, racing=False))


@settings(max_examples=30, deadline=None)
@given(slots_strategy, st.integers(0, 10**6), st.integers(0, 10**6))
def test_every_tuning_slot_is_spent_once_and_reports_a_winner(slots: GenerationBudget, seed: int, arrival: int) -> None:
    log = run(slots, seed, arrival)
    tunings = [fact.candidate for fact in log
               if isinstance(fact, CandidateScored) and fact.candidate.operator is Operator.TUNE]
    tuned = [
        generation for generation in range(1, slots.generations + 1)
        if is_tuned(generation, of=slots.generations, tuned=slots.tune_generations)
    ]
    assert sorted(each.id for each in tunings) == [
        f"g{generation}/tune/{slot}" for generation in tuned for slot in range(slots.tune)
    ]
    for each in tunings:
        assert each.program.text or each.fault.kind in (FaultKind.NO_CONSTANTS, FaultKind.NOT_TUNED)
    winners = [fact for fact in log if isinstance(fact, BranchEnded) and fact.operator is Operator.TUNE]
    assert [fact.generation for fact in winners] == tuned


def test_a_tuned_program_that_is_fitter_becomes_elite_and_a_parent_of_crossover() -> None:
    class Better(World):
        def answer(self, order):
            fact = super().answer(order)
            if isinstance(order, TryConstants):
                return replace(fact, fitnesses=(constants_of(order.program)[0].value / 2,) * len(order.seeds))
            if hasattr(fact, "score"):
                own = constants_of(next(iter(programs.values())))[0].value if "tune" in order.id else 0.0
                return replace(fact, score=Score(fitness=min(1.0, own)))
            return fact

    programs: dict[str, Program] = {}
    searching = KEEPERS["memento"](
        elite("A = 0.5  # tune: 0..2\n"), PLAN,
        GenerationBudget(generations=1, hill_climb=1, macro=1, crossover=1, tune=1, tune_episodes=60),
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
@given(slots_strategy, st.integers(0, 160), st.integers(0, 3), seeds := st.integers(0, 10**6), seeds)
def test_a_budget_of_episodes_is_never_exceeded(
    slots: GenerationBudget, limit: int, confirm: int, seed: int, arrival: int
) -> None:
    plan = replace(PLAN, racing=False, episodes=limit, fresh=FreshPlan(seed=7, confirm=confirm))
    log = run(slots, seed, arrival, plan)
    tried = sum(len(fact.fitnesses) for fact in log if isinstance(fact, ConstantsTried))
    assert tried + sum(isinstance(fact, EpisodeEnded) for fact in log) <= limit


def test_what_a_tuning_does_not_use_is_for_that_of_the_next_generation() -> None:
    """Five constants need 30 episodes: two slots of 23 are one tuning."""
    searching = KEEPERS["memento"](
        elite(WIDE, 1.0, 1.0), replace(PLAN, racing=False, episodes=1000),
        GenerationBudget(generations=4, hill_climb=1, macro=0, crossover=0, tune=1, tune_episodes=23),
    )
    log, _ = play(searching, World(3, failure_rate=0.0), random.Random(0).randrange)
    faults = {fact.candidate.id: fact.candidate.fault for fact in log if isinstance(fact, CandidateScored)}
    assert faults["g1/tune/0"].message == "5 constants would need 30 episodes, and the slot had 23"
    tried = dict.fromkeys(range(1, 5), 0)
    for fact in log:
        if isinstance(fact, ConstantsTried):
            tried[int(fact.order[1])] += len(fact.fitnesses)
    assert tried[1] == 0 and 0 < tried[2] <= 46 and sum(tried.values()) <= 4 * 23


def test_candidates_leave_the_episodes_of_a_tuning_that_is_planned_for_a_later_generation() -> None:
    """Ten candidates would leave too few of 50 episodes for five constants, which need 30."""
    searching = KEEPERS["memento"](
        elite(WIDE, 1.0, 1.0), replace(PLAN, racing=False, episodes=50),
        GenerationBudget(
            generations=3, hill_climb=5, macro=5, crossover=0, tune=1, tune_episodes=33, tune_generations=1
        ),
    )
    log, _ = play(searching, World(3, failure_rate=0.0), random.Random(0).randrange)
    scored = [fact.candidate for fact in log if isinstance(fact, CandidateScored)]
    assert 0 < sum(each.generation == 1 for each in scored) < 10
    (tuned,) = (each for each in scored if each.operator is Operator.TUNE)
    assert tuned.id == "g2/tune/0"
    assert sum(len(fact.fitnesses) for fact in log if isinstance(fact, ConstantsTried)) >= 16, "it did not decline"
