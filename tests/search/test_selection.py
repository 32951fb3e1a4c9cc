"""The parents of crossovers differ where they can, by structure or by a front; and a memory knows what has changed."""

import random
from dataclasses import replace
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import CandidateRejected, CandidateScored, Fact, Propose
from memento.core.programs.program_text import digest, structure
from memento.core.values import Ancestor, CandidateState, Operator, Program, Score
from memento.search.branches.climb import Chain, HillClimb
from memento.search.branches.macro import MacroMutation
from memento.search.branches.tune.branch import Tune, TunePlan
from memento.search.memento import memento
from memento.search.options import Choices, GenerationBudget, SearchOptions
from memento.search.parts.front import Front, FrontPartners, front_with
from memento.search.parts.long_memory import MarkedMemory
from memento.search.parts.memory import Memory, MemorySettings, Rejections
from memento.search.parts.partners import Guest, Partners, PartnerSettings
from memento.search.parts.varied import KEPT, OtherStructures, VariedPartners
from memento.search.setting_groups import PartSettings
from memento.search.state import Search
from memento.search.trials import Trials

from ..support.keeper_world import Repeating, play
from ..support.searches import PLAN, initial, make, seeds

pytestmark = pytest.mark.quick

WALK = Program("GAIN = 0.4\nLOW = -1.0\n\n\ndef go(x):\n    return GAIN * x\n")
TUNED = Program("GAIN = -0.7\nLOW = 1\n\n\ndef go(x):\n    # the same\n    return GAIN * x\n")
OTHER = Program("def go(x):\n    return 1 if x > 0 else 2\n")
FIRST = replace(initial(1), id="init/0", program=Program("first = 1\n"), fitness=0.3)
EDIT = Ancestor(id=FIRST.id, operator=Operator.INITIAL, summary="", before=(), fitness=0.3)


def made(name: str, program: Program, fitness: float, operator: Operator = Operator.MACRO) -> CandidateState:
    generation = int(name[1])
    return replace(
        FIRST, id=name, program=program, fitness=fitness, operator=operator, generation=generation, lineage=(EDIT,)
    )


ELITE = made("g1/hill/0", WALK, 0.7)
TUNE = made("g2/tune/0", TUNED, 0.72, Operator.TUNE)
MACRO = made("g2/macro/0", OTHER, 0.68)


BRANCHES = MacroMutation(1), Tune(TunePlan(slots=1, episodes=9, generations=3), seed=0)


def searching(
    *slots: CandidateState | None, elite: CandidateState = ELITE, current: CandidateState | None = None,
    others: tuple[CandidateState, ...] = (), front: tuple[CandidateState, ...] = (),
) -> Search:
    """A generation with these slots of macro-mutation and tuning."""
    found: dict[Operator, tuple[CandidateState | None, ...]] = {Operator.MACRO: (), Operator.TUNE: ()}
    for one in slots:
        operator = Operator.MACRO if one is None else one.operator
        found[operator] = (*found[operator], one)
    state = Search(generation=2, elite=elite, trials=Trials(plan=PLAN, open={}), slots=found)
    for part in (Guest(), Rejections(), OtherStructures(programs=others), Front(programs=front)):
        state = state.with_slice(part)
    return state.with_slice(Chain(current=current or elite))


def second(state: Search, *, measured: bool = True) -> CandidateState:
    return VariedPartners(BRANCHES, measured=measured, shows=False).second(state)


def test_a_structure_is_that_of_the_code_without_its_numbers() -> None:
    assert structure(WALK) == structure(TUNED) != structure(OTHER)
    assert digest(WALK) != digest(TUNED)
    assert structure(Program("X = 'a'\n")) != structure(Program("X = 'b'\n"))
    assert structure(Program("not python")) != structure(Program("nor this"))


def test_a_tuned_copy_gives_way_to_a_program_of_another_structure_that_is_nearly_as_fit() -> None:
    assert second(searching(MACRO, TUNE)) == MACRO
    assert second(searching(MACRO, TUNE), measured=False) == TUNE  # racing may have pruned the macro-mutation
    assert second(searching(replace(MACRO, fitness=0.3), TUNE)) == TUNE


def test_a_partner_that_is_better_in_an_episode_comes_before_a_fitter_one_that_is_in_none() -> None:
    def scored(one: CandidateState, *fitnesses: float) -> CandidateState:
        return replace(one, scores=tuple(Score(fitness=each) for each in fitnesses))

    first = scored(made("g2/hill/0", WALK, 0.7), 0.7, 0.7)
    worse = scored(MACRO, 0.7, 0.66)
    mixed = scored(made("g2/macro/1", Program("def go(x):\n    return [x]\n"), 0.65), 0.4, 0.9)
    assert second(searching(worse, mixed, current=first)) == mixed
    assert second(searching(worse, scored(mixed, 0.4, 0.7009), current=first)) == worse, "noise is no reason"
    usual = scored(TUNE, 0.2, 0.9)
    assert second(searching(worse, usual, current=first)).id == usual.id


def test_an_earlier_program_of_another_structure_is_not_forgotten() -> None:
    earlier = replace(MACRO, id="g1/macro/0", generation=1)
    assert second(searching(None, TUNE, others=(earlier,))) == earlier
    descended = replace(ELITE, lineage=(EDIT, replace(EDIT, id=earlier.id)))
    assert second(searching(None, TUNE, others=(earlier,), current=descended)) == TUNE


def test_the_same_program_is_a_parent_twice_only_where_none_differs() -> None:
    alike = made("g2/macro/0", Program(f"# a comment\n{WALK.text}"), 0.7)
    assert second(searching(alike)) == ELITE
    assert second(searching(alike, replace(TUNE, fitness=0.7))).id == TUNE.id
    climbed = replace(ELITE, id="g2/hill/0", program=OTHER, lineage=(EDIT, replace(EDIT, id=ELITE.id)))
    assert second(searching(None, current=climbed)) == ELITE


@pytest.mark.parametrize(("setting", "partner"), [("paper", "g2/macro/0"), ("varied", ELITE.id)])
def test_the_papers_pair_is_that_of_both_branches_though_they_end_with_one_program(setting: str, partner: str) -> None:
    climbed = made("g2/hill/0", OTHER, 0.8, Operator.HILL_CLIMB)
    slots = GenerationBudget(generations=2, hill_climb=1, macro=1, crossover=1)
    method = memento(slots, SearchOptions(), PLAN, Choices(PartnerSettings(partners=setting)))
    [part] = [each for each in method.parts if isinstance(each, Partners)]
    pair = part.pair(searching(made("g2/macro/0", OTHER, 0.8), current=climbed))
    assert [one.id for one in pair] == [climbed.id, partner]


@pytest.mark.parametrize("count", [2, 9])
def test_one_program_of_each_structure_is_remembered(count: int) -> None:
    found = [made(f"g1/macro/{n}", Program(f"def f_{n}():\n    return {n}\n"), 0.1 * n) for n in range(count)]
    numbers = made("g2/macro/0", Program(f"def f_{count - 1}():\n    return 77\n"), 0.05)
    partners = VariedPartners(BRANCHES, measured=True, shows=False)
    ended = partners.at_end(searching(), [*found, numbers, ELITE, replace(MACRO, episodes=MACRO.episodes[:1])])
    kept = [one.id for one in ended.slice(OtherStructures).programs]
    assert kept == [f"g1/macro/{n}" for n in reversed(range(count))][:KEPT]


# ---------------------------------------------------------------------------------------------------------- the front


def seen(name: str, *fitnesses: float) -> CandidateState:
    scores = tuple(Score(fitness=fitness) for fitness in fitnesses)
    text = Program(f"def go(x):\n    return {name!r}\n")
    return replace(made(name, text, sum(fitnesses) / len(fitnesses)), scores=scores, episodes=FIRST.episodes)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.5, 1.0])] * 3), min_size=1, max_size=8), st.randoms())
def test_a_front_has_the_best_program_of_each_episode_in_any_order_of_arrival(
    rows: list[tuple[float, ...]], draw: random.Random
) -> None:
    programs = [seen(f"g1/macro/{place}", *row) for place, row in enumerate(rows)]
    elite = seen("g0/macro/0", 0.0, 0.0, 0.0)
    fronts = []
    for _ in range(2):
        state, front = searching(elite=elite), ()
        for one in draw.sample(programs, len(programs)):
            front = front_with(state, front, one)
        fronts.append(front)
    assert fronts[0] == fronts[1]
    assert 1 <= len(fronts[0]) <= 3
    for place in range(3):
        best = max(row[place] for row in (*rows, (0.0, 0.0, 0.0)))
        assert best == max(one.scores[place].fitness for one in fronts[0])


def test_the_partner_of_a_front_is_the_program_that_adds_most() -> None:
    first, weak = seen("g2/hill/0", 0.6, 0.6, 0.1), seen("g1/macro/1", 0.0, 0.0, 0.9)
    same = replace(weak, id="g2/macro/0", program=first.program)
    partners = FrontPartners(VariedPartners(BRANCHES, measured=True, shows=False))
    others = first, seen("g1/macro/0", 0.7, 0.7, 0.0), weak, same
    assert partners.second(searching(elite=first, front=others)) == weak
    assert partners.second(searching(elite=first, front=(first, same))) == first


class Watched(Repeating):
    """Remembers every proposal that was answered, as its prompt depends on it."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.asked: list[Propose] = []

    def _propose(self, order, draw):
        self.asked.append(order)
        fact = super()._propose(order, draw)
        marks = [rejection.changed for rejection in order.rejections]
        return replace(fact, summary=f"{fact.summary} {crc32(repr(marks).encode()) % 97}") if any(marks) else fact


FRONT = PartnerSettings(partners="front")
SLOTS = GenerationBudget(generations=3, hill_climb=3, macro=2, crossover=2)


def watched(
    seed: int, arrival: int, saving: tuple[bool, bool, bool], *chosen: PartSettings
) -> tuple[list[Fact], Watched]:
    keeper, world = make("memento", SLOTS, seed, saving, *chosen), Watched(seed)
    log, last = play(keeper, world, random.Random(arrival).randrange)
    assert keeper.finished(last.state)
    return log, world


def crossed(world: Watched) -> list[tuple[str, ...]]:
    return sorted(
        (order.id, order.parents[0].id, order.parents[1].id, str(order.from_front))
        for order in world.asked if order.operator is Operator.CROSSOVER
    )


@settings(max_examples=30, deadline=None)
@given(seeds, seeds, seeds, st.booleans())
def test_with_a_front_nothing_is_pruned_and_parents_do_not_depend_on_the_order_of_arrival(
    seed: int, one: int, other: int, duplicates: bool
) -> None:
    log, world = watched(seed, one, (True, duplicates, False), FRONT)
    _, again = watched(seed, other, (False, False, False), FRONT)
    assert crossed(world) == crossed(again)
    found = {fact.candidate.id: fact.candidate for fact in log if isinstance(fact, CandidateScored)}
    assert all(candidate.bound is None for candidate in found.values())
    for order in world.asked:
        if order.from_front:
            first, second = order.parents
            assert digest(first.program) != digest(second.program)
            assert len(second.scores) == len(PLAN.seeds)


def test_a_front_gives_a_second_program_where_both_branches_end_with_one() -> None:
    twice, fronted = 0, 0
    for seed in range(15):
        _, plain = watched(seed, seed, (False, False, False))
        _, world = watched(seed, seed, (False, False, False), FRONT)
        twice += sum(
            digest(order.parents[0].program) == digest(order.parents[1].program)
            for order in plain.asked if order.operator is Operator.CROSSOVER
        )
        fronted += sum(order.from_front for order in world.asked)
    assert twice and fronted


# ------------------------------------------------------------------------------- what has changed since a rejection

TWO = Program(
    "GAIN = 1\n\n\nclass Policy:\n    def act(self):\n        return GAIN\n\n    def see(self):\n        pass\n"
)


def edited(name: str, old: str, new: str, fitness: float) -> CandidateState:
    return made(name, Program(TWO.text.replace(old, new)), fitness, Operator.HILL_CLIMB)


def test_a_rejected_edit_knows_which_of_its_parts_an_accepted_edit_changed() -> None:
    base = made("g1/hill/0", TWO, 0.5, Operator.HILL_CLIMB)
    climb, state = HillClimb(9, MarkedMemory(Memory())), searching(elite=base)
    state, (fact,) = climb.take(state, edited("g2/hill/0", "return GAIN", "return 2 * GAIN", 0.4))
    state, _ = climb.take(state, edited("g2/hill/1", "GAIN = 1", "GAIN = 3", 0.4))
    assert [edit.touched for edit in state.slice(Rejections).edits] == [("Policy.act",), ("GAIN",)]
    assert isinstance(fact, CandidateRejected) and not fact.rejection.touched, "the log has what it had"
    state, _ = climb.take(state, edited("g2/hill/2", "pass", "return 1", 0.6))
    assert [edit.changed for edit in state.slice(Rejections).edits] == [(), ()]
    state, _ = climb.take(state, edited("g2/hill/3", "return GAIN", "return GAIN + 1", 0.7))
    assert [edit.changed for edit in state.slice(Rejections).edits] == [("Policy.act",), ()]
    plain = HillClimb(9, Memory()).take(searching(elite=base), edited("g2/hill/0", "return GAIN", "return 2", 0.4))[0]
    assert plain.slice(Rejections).edits[0].touched == ()


@settings(max_examples=30, deadline=None)
@given(seeds, seeds, seeds, st.booleans())
def test_what_prompts_say_of_changes_does_not_depend_on_the_order_of_arrival(
    seed: int, one: int, other: int, full: bool
) -> None:
    memory = MemorySettings(memory_detail="full" if full else "summary", memory_scope="until-changed")
    seen_by = [
        {
            order.id.removesuffix("/ahead"): [(one.summary, one.changed) for one in order.rejections]
            for order in watched(seed, arrival, saving, memory)[1].asked
        }
        for arrival, saving in ((one, (False, False, False)), (other, (True, True, True)))
    ]
    assert seen_by[0] == seen_by[1]


def test_later_generations_are_told_what_the_elite_changed() -> None:
    memory = MemorySettings(memory_detail="summary", memory_scope="until-changed")
    marked = [
        rejection
        for seed in range(8)
        for order in watched(seed, seed, (False, False, False), memory)[1].asked
        for rejection in order.rejections if rejection.changed
    ]
    assert marked
    assert all(set(rejection.changed) <= set(rejection.touched) for rejection in marked)
