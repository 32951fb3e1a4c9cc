"""Islands of the memetic search: searches side by side, whose slots, migrations and elites follow from the log."""

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EpisodeEnded,
    Fact,
    IslandsChanged,
    Migrated,
    Order,
    Propose,
    Roll,
    SearchEnded,
)
from memento.core.order_ids import FRESH, parse
from memento.core.values import Operator
from memento.runtime.supervisor import Replay
from memento.search.islands import ISOLATION, IslandSettings, IslandTally, by_confidence, in_turn, shares_of, spread
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.parts.foci import FociSettings
from memento.search.parts.speculation import SpeculationSettings
from memento.search.rollout_plan import FreshPlan
from memento.search.trials import is_same

from ..support.keeper_world import Repeating, play
from ..support.searches import PLAN, initial, seeds

counts = st.integers(2, 4)
dealings = st.sampled_from(("equal", "ucb"))
savings = st.tuples(st.booleans(), st.booleans(), st.booleans())
slots_of_islands = st.builds(
    GenerationBudget, generations=st.integers(0, 4), hill_climb=st.integers(4, 6), macro=st.integers(0, 4),
    crossover=st.integers(0, 4),
)
BUDGET = GenerationBudget(generations=5, hill_climb=4, macro=3, crossover=3)


class Redrawn(Repeating):
    """Many programs, whose fitness on fresh episodes is drawn again."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, programs=30)

    def answer(self, order: Order) -> Fact:
        fresh = isinstance(order, Roll) and parse(order.id).stage in FRESH
        return super().answer(replace(order, index=order.seed) if fresh else order)


def keeper_of(
    slots: GenerationBudget, seed: int, islands: int, *, saving: tuple[bool, bool, bool] = (True, True, False),
    dealing: str = "equal", **plan: Any,
):
    racing, duplicates, speculation = saving
    choices = PAPER.but(
        SpeculationSettings(speculation=speculation), FociSettings(macro_focus=True),
        IslandSettings(islands=islands, island_dealing=dealing),
    )
    rollouts = replace(PLAN, racing=racing, duplicates=duplicates, **plan)
    return KEEPERS["memento"](initial(seed), rollouts, slots, SearchOptions(seed=seed), choices)


def run(slots: GenerationBudget, seed: int, arrival: int, islands: int, **options: Any) -> list[Fact]:
    keeper = keeper_of(slots, seed, islands, **options)
    log, last = play(keeper, Redrawn(seed), random.Random(arrival).randrange)
    assert keeper.finished(last.state)
    return log


def of(log: list[Fact], *kinds: type) -> list:
    return [fact for fact in log if isinstance(fact, kinds)]


CONCLUSIONS = (
    CandidateAccepted, BranchEnded, IslandsChanged, Migrated, EliteConfirmed, EliteChanged, EliteChosen, SearchEnded
)


def verdicts(log: list[Fact]) -> list[str]:
    rejected = [fact.candidate for fact in of(log, CandidateRejected)]
    return sorted(map(repr, of(log, *CONCLUSIONS))) + sorted(rejected)


# ---------------------------------------------------------------------------------------------- dealing slots


@given(st.integers(0, 40), counts, st.integers(0, 5))
def test_equal_shares_differ_by_at_most_one_slot_and_each_island_gets_its_part_of_every_branch(
    slots: int, islands: int, generation: int
) -> None:
    first = generation % islands
    shares = in_turn(slots, islands, first)
    assert sum(shares) == slots
    assert max(shares) - min(shares) <= 1
    order = spread(shares, first)
    assert Counter(order) == Counter({place: count for place, count in enumerate(shares) if count})
    for cut in range(slots + 1):  # any branch that comes first
        begun = Counter(order[:cut])
        assert max(begun[place] for place in range(islands)) - min(begun[place] for place in range(islands)) <= 1


@given(slots_of_islands, st.lists(st.floats(0, 3), min_size=2, max_size=4), st.integers(1, 500))
def test_confidence_bounds_deal_every_slot_and_leave_no_island_without(
    slots: GenerationBudget, gains: list[float], episodes: int
) -> None:
    tallies = [IslandTally(fitness=0.0, gain=gain, episodes=episodes) for gain in gains]
    total = slots.hill_climb + slots.macro + slots.crossover
    shares = by_confidence(total, tallies, 3, 0)
    assert sum(shares) == total
    assert min(shares) >= 1
    best = max(range(len(gains)), key=lambda place: gains[place])
    assert shares[best] == max(shares)
    dealt = shares_of(slots, shares, 1)
    for name in ("hill_climb", "macro", "crossover"):
        assert sum(getattr(share, name) for share in dealt) == getattr(slots, name)


def test_an_island_that_gains_gets_more_and_one_that_was_seldom_tried_is_tried() -> None:
    gaining = [IslandTally(fitness=0.5, gain=gain, episodes=60) for gain in (0.0, 0.4, 0.0)]
    assert by_confidence(12, gaining, 3, 0)[1] > 6
    seldom = [IslandTally(fitness=0.5, gain=0.4, episodes=3000), IslandTally(fitness=0.5, gain=0.0, episodes=3)]
    assert by_confidence(4, seldom, 3, 0)[1] == 3
    fresh = [IslandTally(fitness=0.5)] * 3
    assert by_confidence(8, fresh, 3, 1) == in_turn(8, 3, 1) == (2, 3, 3)


def test_a_tally_counts_gains_relative_to_the_best_island_and_no_losses() -> None:
    tally = IslandTally(fitness=0.2).after(0.4, 0.8, 30).after(0.3, 0.8, 30)
    assert tally == IslandTally(fitness=0.3, gain=0.25, episodes=60)
    assert IslandTally(fitness=0.0).after(0.0, 0.0, 3).gain == 0.0


# ------------------------------------------------------------------------------------------------- whole searches


@settings(max_examples=30, deadline=None)
@given(slots_of_islands, seeds, seeds, seeds, counts, dealings, savings)
def test_no_saving_in_any_order_of_arrival_changes_a_result(
    slots: GenerationBudget, seed: int, one: int, other: int, islands: int, dealing: str,
    saving: tuple[bool, bool, bool],
) -> None:
    plain = run(slots, seed, one, islands, dealing=dealing, saving=(False, False, False))
    saved = run(slots, seed, other, islands, dealing=dealing, saving=saving)
    assert verdicts(saved) == verdicts(plain)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(seeds, seeds, seeds, counts, dealings, st.sampled_from((None, 150, 400)))
def test_challenges_and_the_choice_do_not_depend_on_the_order_of_arrival_and_keep_the_budget(
    seed: int, one: int, other: int, islands: int, dealing: str, episodes: int | None
) -> None:
    fresh = FreshPlan(seed=7, confirm=6, choice=24)
    options: dict[str, Any] = {"dealing": dealing, "episodes": episodes, "fresh": fresh}
    options["saving"] = (episodes is None, True, False)
    logs = [run(BUDGET, seed, arrival, islands, **options) for arrival in (one, other)]
    assert verdicts(logs[0]) == verdicts(logs[1])
    for log in logs:
        rolled = len(of(log, EpisodeEnded))
        assert episodes is None or rolled <= episodes
        for duel in of(log, EliteConfirmed):
            on = parse(duel.candidate).island
            assert on and parse(duel.elite).island in (0, on), "a challenge stays on its island"
        final = of(log, IslandsChanged)[-1]
        for choice in of(log, EliteChosen):
            assert choice.elite in final.elites
            assert len({one.candidate for one in choice.ranking} & set(final.elites)) >= 1


@settings(max_examples=30, deadline=None)
@given(slots_of_islands, seeds, seeds, counts, dealings, savings)
@example(GenerationBudget(generations=2, hill_climb=5, macro=0, crossover=3), 9979, 0, 4, "equal", (False,) * 3)
def test_every_slot_is_spent_once_and_the_elite_of_the_run_is_the_best_of_all_islands(
    slots: GenerationBudget, seed: int, arrival: int, islands: int, dealing: str, saving: tuple[bool, bool, bool]
) -> None:
    log = run(slots, seed, arrival, islands, dealing=dealing, saving=saving)
    made = {fact.candidate.id: fact.candidate for fact in of(log, CandidateScored)}
    spent = [fact.candidate.id for fact in of(log, CandidateScored)]
    assert len(set(spent)) == len(spent) == slots.generations * (slots.hill_climb + slots.macro + slots.crossover)
    of_place = Counter((parse(name).generation, parse(name).island) for name in spent)
    elites = of(log, EliteChanged)
    assert [elite.generation for elite in elites] == list(range(slots.generations + 1))
    for changed, elite in zip(of(log, IslandsChanged), elites[1:], strict=True):
        assert changed.generation == elite.generation
        assert changed.slots == tuple(of_place[changed.generation, place + 1] for place in range(islands))
        if elite.candidate not in changed.elites:     # an island has it again: the same program is no new elite
            assert any(is_same(made[elite.candidate], made[each]) for each in changed.elites if each in made)
        assert elite.fitness == max(changed.fitnesses)


@settings(max_examples=30, deadline=None)
@given(slots_of_islands, seeds, seeds, counts, dealings, savings, st.integers(0, 200))
def test_replaying_the_log_at_any_moment_gives_the_same_state(
    slots: GenerationBudget, seed: int, arrival: int, islands: int, dealing: str, saving: tuple[bool, bool, bool],
    cut: int,
) -> None:
    keeper = keeper_of(slots, seed, islands, dealing=dealing, saving=saving)
    log, last = play(keeper, Repeating(seed), random.Random(arrival).randrange, steps=cut)
    again = Replay(keeper_of(slots, seed, islands, dealing=dealing, saving=saving)).replay(log)
    assert again.state == last.state
    assert {order.id: order for order in again.orders} == {order.id: order for order in last.orders}
    assert again.facts == ()


@given(seeds, counts)
@settings(max_examples=20, deadline=None)
def test_every_island_begins_to_climb_at_once_with_foci_of_its_own(seed: int, islands: int) -> None:
    orders = keeper_of(BUDGET, seed, islands).start().orders
    climbs = [order.id for order in orders if isinstance(order, Propose) and order.operator is Operator.HILL_CLIMB]
    assert climbs == [f"i{place + 1}/g1/hill/0" for place in range(islands)]
    drawn = {parse(order.id).island: order.focus.seed for order in orders if isinstance(order, Propose) and order.focus}
    assert len(set(drawn.values())) == len(drawn) > 1


def test_one_island_is_the_search_without_islands() -> None:
    slots = GenerationBudget(generations=2, hill_climb=2, macro=1, crossover=1)
    assert type(keeper_of(slots, 3, 1)).__name__ == "EliteKeeper"
    assert not of(run(slots, 3, 3, 1), IslandsChanged, Migrated)


# ----------------------------------------------------------------------------------------------------- migration


def proposals(keeper: Any, world: Repeating, arrival: int) -> tuple[list[Fact], list[Propose]]:
    asked: list[Propose] = []

    class Watched(Redrawn):
        def answer(self, order):
            if isinstance(order, Propose):
                asked.append(order)
            return super().answer(order)

    log, _ = play(keeper, Watched(world.seed), random.Random(arrival).randrange)
    return log, asked


@pytest.mark.parametrize("islands", [2, 3])
def test_a_program_migrates_late_to_the_weakest_island_as_a_second_parent_with_its_last_edit_alone(
    islands: int,
) -> None:
    moves = 0
    for seed in range(12):
        log, asked = proposals(keeper_of(BUDGET, seed, islands, saving=(False, False, False)), Redrawn(seed), seed)
        changed = {fact.generation: fact for fact in of(log, IslandsChanged)}
        migrated = {(move.generation, move.target): move for move in of(log, Migrated)}
        for order in asked:
            on = parse(order.id).island
            foreign = [parent for parent in order.parents if parse(parent.id).island not in (0, on)]
            move = migrated.get((order.generation, on))
            assert not foreign or (move is not None and order.operator is Operator.CROSSOVER)
            for parent in foreign:
                assert parent == order.parents[1] and parent.id == move.candidate
                assert len(parent.lineage) == 1
            own = {rejection.candidate for rejection in (*order.rejections, *order.tried)}
            assert all(parse(name).island == on for name in own), "no memory migrates"
        for move in of(log, Migrated):
            moves += 1
            before = changed[move.generation - 1]
            assert before.generation >= ISOLATION * BUDGET.generations
            assert before.elites[move.source - 1] == move.candidate
            assert before.fitnesses[move.source - 1] == max(before.fitnesses)
            assert before.fitnesses[move.target - 1] == min(before.fitnesses) < max(before.fitnesses)
    assert moves
