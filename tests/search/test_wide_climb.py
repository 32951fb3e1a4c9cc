"""Wide climbs: the same run in any order of arrival, budgets hold, and a width of 1 is the paper's climb."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    Fact,
    ProposalFailed,
    ProposalMade,
)
from memento.core.methods import METHODS, climb_width, replies_in_turn
from memento.core.order_ids import parse
from memento.core.values import Operator
from memento.search.branches.climb import HillClimb
from memento.search.branches.wide import WideClimb, WidthSettings
from memento.search.elite_keeper import EliteKeeper, MemeticMethod
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import PLAIN, GenerationBudget
from memento.search.parts.memory import Memory, MemorySettings, Rejections

from ..conformance.method import MethodContract
from ..support.keeper_world import Noting, Repeating, play
from ..support.searches import PLAN, budgets, initial, make, of, seeds

pytestmark = pytest.mark.quick

FULL = MemorySettings(memory_detail="full")
widths = st.integers(2, 5)


def verdicts(log: list[Fact]) -> list[str]:
    rejected = sorted(f"rejected {fact.candidate}" for fact in of(log, CandidateRejected))
    return rejected + [repr(fact) for fact in log if isinstance(fact, CandidateAccepted | EliteChanged)]


@settings(max_examples=60, deadline=None)
@given(budgets, widths, seeds, seeds, seeds, st.booleans(), st.booleans(), st.booleans())
def test_any_order_of_answers_gives_the_same_run_and_the_same_prompts(
    slots: GenerationBudget, width: int, seed: int, one: int, other: int, full: bool, racing: bool, duplicates: bool
) -> None:
    def played(arrival: int, saving: tuple[bool, bool, bool]) -> tuple[list[str], dict[str, tuple[object, ...]]]:
        memory = FULL if full else MemorySettings(memory_detail="summary")
        keeper, world = make("memento", slots, seed, saving, WidthSettings(climb_width=width), memory), Noting(seed)
        log, last = play(keeper, world, random.Random(arrival).randrange)
        assert keeper.finished(last.state) and not last.orders
        return verdicts(log), world.shown

    (first, told), (second, again) = played(one, (False, False, False)), played(other, (racing, duplicates, False))
    assert sorted(first) == sorted(second)
    assert told == again or not full, "with a full memory no prompt depends on what racing saved"
    assert told.keys() == again.keys()


@settings(max_examples=40, deadline=None)
@given(budgets, widths, seeds, seeds)
def test_a_step_edits_one_program_keeps_its_best_and_tells_each_edit_its_place(
    slots: GenerationBudget, width: int, seed: int, arrival: int
) -> None:
    world = Noting(seed)
    keeper = make("memento", slots, seed, (False, False, False), WidthSettings(climb_width=width), FULL)
    log, _ = play(keeper, world, random.Random(arrival).randrange)
    climbs = {fact.candidate.id: fact.candidate for fact in of(log, CandidateScored)
              if fact.candidate.operator is Operator.HILL_CLIMB}
    taken = {fact.candidate for fact in of(log, CandidateAccepted)}
    answers = (fact.order or "" for fact in log if isinstance(fact, ProposalMade | ProposalFailed))
    asked = [order for order in answers if order in climbs]
    assert sorted(asked) == sorted(climbs), "every slot is asked for once"
    assert taken | {fact.candidate for fact in of(log, CandidateRejected)} == climbs.keys()
    steps: dict[tuple[int, int], list[str]] = {}
    for name, one in climbs.items():
        steps.setdefault((one.generation, one.slot // width), []).append(name)
    for names in steps.values():
        assert len({str(world.shown[name][:3]) for name in names}) == 1, "one program, one memory"
        kept = [climbs[name] for name in names if name in taken]
        sound = [climbs[name].fitness for name in names if climbs[name].fault is None]
        assert len(kept) <= 1
        assert all(one.fitness == max(sound) for one in kept)
        places = [focus.place for name in names if (focus := world.shown[name][3])]
        assert sorted(places) == (list(range(len(names))) if len(names) > 1 else [])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), seeds, seeds, st.booleans())
def test_a_width_of_one_decides_as_the_climb_of_the_paper(count: int, seed: int, arrival: int, racing: bool) -> None:
    def played(wide: bool) -> tuple[list[Fact], dict[str, tuple[object, ...]]]:
        memory, world = Memory(), Noting(seed)
        climb = WideClimb(count, memory, width=1, seed=seed) if wide else HillClimb(count, memory)
        method = MemeticMethod(generations=2, branches=(climb,), parts=(memory,), races=racing)
        keeper = EliteKeeper(initial=initial(seed), plan=replace(PLAN, racing=racing), method=method)
        return play(keeper, world, random.Random(arrival).randrange)[0], world.shown

    assert played(wide=True) == played(wide=False)


def test_an_edit_that_is_the_accepted_program_is_not_remembered_as_rejected() -> None:
    slots = GenerationBudget(generations=1, hill_climb=4, macro=0, crossover=0)
    keeper = KEEPERS["memento"](initial(0), PLAN, slots, PLAIN, PAPER.but(WidthSettings(climb_width=4)))
    for seed in range(40):
        log, last = play(keeper, Repeating(seed, programs=2, failure_rate=0.0), lambda n: 0)
        texts = {fact.order: fact.program.text for fact in of(log, ProposalMade)}
        taken = {texts[fact.candidate] for fact in of(log, CandidateAccepted)}
        edits = last.state.slice(Rejections).edits
        assert not taken & {texts[edit.candidate] for edit in edits}
        if taken and len(edits) < 3:
            return
    raise AssertionError("no world had a step in which two edits were the same accepted program")


def wide_memento(one, plan, slots, options, choices):
    wide = PAPER.but(WidthSettings(climb_width=3), FULL)
    return KEEPERS["memento"](one, plan, replace(slots, hill_climb=5), options, wide)


class TestWideMemento(MethodContract):
    """What every method owes, a budget of episodes among it."""

    method = replace(METHODS["memento"], name="wide:MEMENTO", keeper=wide_memento)
    settings = {"method": "memento", "k_hc": 5, "k_macro": 2, "k_cross": 2}

    def test_its_ids_are_those_of_slots(self) -> None:
        log, _ = play(self.keeper(), Repeating(2), lambda n: 0)
        climbs = [parse(fact.candidate.id) for fact in of(log, CandidateScored) if "/hill/" in fact.candidate.id]
        assert sorted((each.generation, each.slot) for each in climbs) == [(g, s) for g in (1, 2, 3) for s in range(5)]


@pytest.mark.parametrize(("at_once", "width", "waits"), [(1, 1, 11), (4, 2, 6), (8, 4, 4), (16, 5, 3), (64, 5, 3)])
def test_the_calls_at_once_decide_the_width_and_so_how_long_a_generation_waits(
    at_once: int, width: int, waits: int
) -> None:
    paper = {"method": "memento", "k_hc": 10, "k_macro": 10, "k_cross": 4, "islands": 1}
    assert climb_width(paper, at_once) == width
    assert replies_in_turn({**paper, "climb_width": width}) == waits
    assert replies_in_turn({**paper, "method": "random", "k": 24}) == 1
