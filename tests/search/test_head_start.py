"""A head start: the same run in any order of arrival, every slot once, and nothing left open."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    CandidateScored,
    EliteChanged,
    ProposalFailed,
    ProposalMade,
    RunStarted,
    SpeculationEnded,
    StageEntered,
)
from memento.core.order_ids import parse, slot_of
from memento.memory.run_view import view_of_facts
from memento.runtime.supervisor import Replay
from memento.search.branches.wide import WidthSettings
from memento.search.head_start import HeadStartSettings
from memento.search.options import GenerationBudget
from memento.search.parts.memory import MemorySettings

from ..support.keeper_world import Noting, Repeating, play
from ..support.searches import budgets, make, of, seeds

pytestmark = pytest.mark.quick

EARLY = HeadStartSettings(head_start=True)
SLOTS = GenerationBudget(generations=4, hill_climb=4, macro=3, crossover=2)


@settings(max_examples=60, deadline=None)
@given(budgets, st.integers(1, 3), seeds, seeds, seeds, st.booleans(), st.booleans(), st.booleans())
def test_any_order_of_answers_gives_the_same_run(
    slots: GenerationBudget, width: int, seed: int, one: int, other: int, full: bool, racing: bool, speculation: bool
) -> None:
    def played(arrival: int) -> tuple[list[str], dict[str, tuple[object, ...]], Counter[str]]:
        memory = MemorySettings(memory_detail="full" if full else "summary")
        saving = (racing, False, speculation and not full)
        keeper = make("memento", slots, seed, saving, WidthSettings(climb_width=width), memory, EARLY)
        world = Noting(seed)
        log, last = play(keeper, world, random.Random(arrival).randrange)
        assert keeper.finished(last.state) and not last.orders, "nothing is left open"
        ended = of(log, SpeculationEnded)
        lost = {fact.order for fact in ended if not fact.kept}
        spent = Counter(fact.candidate.id for fact in of(log, CandidateScored))
        assert set(spent.values()) <= {1}
        used = [slot_of(fact.order) for fact in log
                if isinstance(fact, ProposalMade | ProposalFailed) and fact.order not in lost]
        assert Counter(used) == spent, "every slot is answered once"
        told = {name: what for name, what in world.shown.items() if name not in lost}
        return [repr(fact) for fact in of(log, EliteChanged)], told, spent

    (elites, told, spent), (again, heard, count) = played(one), played(other)
    assert elites == again and spent == count
    if not racing and not speculation:
        assert told == heard


def test_it_asks_of_the_leader_and_keeps_what_it_asked_of_the_elite() -> None:
    kept, lost = 0, 0
    for seed in range(12):
        world = Noting(seed)
        log, _ = play(make("memento", SLOTS, seed, (False, False, False), EARLY), world, lambda n: 0)
        elites = {fact.generation: fact.candidate for fact in of(log, EliteChanged)}
        for fact in of(log, SpeculationEnded):
            elite = elites[parse(fact.slot).generation - 1]
            if fact.order in world.shown:
                assert fact.kept is (world.shown[fact.order][0] == [elite])
            kept, lost = kept + fact.kept, lost + (not fact.kept)
        view = view_of_facts([RunStarted(settings={}, versions={}, sandbox=()), StageEntered(stage="search"), *log])
        scored = {fact.candidate.id for fact in of(log, CandidateScored)}
        assert scored <= view.slots.candidates.keys()
    assert kept and lost


@pytest.mark.parametrize("cut", [5, 25, 45, 80, 120])
def test_a_replay_of_its_log_gives_the_same_state_and_orders(cut: int) -> None:
    def keeper():
        return make("memento", SLOTS, 3, (False, False, False), EARLY, WidthSettings(climb_width=2))

    log, last = play(keeper(), Repeating(3), random.Random(cut).randrange, steps=cut)
    again = Replay(keeper()).replay(log)
    assert again.state == last.state
    assert {order.id for order in again.orders} == {order.id for order in last.orders}
