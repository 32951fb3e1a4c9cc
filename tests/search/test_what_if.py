"""A what-if begins in the recorded state, and its draws are what they are in any order of arrival."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.agents.memory_text import rejections_list
from memento.core.events import (
    CandidateScored,
    DuplicateFound,
    EpisodeEnded,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    Roll,
)
from memento.core.faults import Fault, FaultKind
from memento.core.keeper import Decision
from memento.core.order_ids import draw_id, owner_of, parse, slot_of, split
from memento.core.values import CandidateState, Operator, Program
from memento.runtime.supervisor import Replay
from memento.search.conversing import ConversationTerms, Conversing
from memento.search.options import GenerationBudget
from memento.search.what_if import DrawsKeeper, DrawsState, OrderBefore, shown_less

from ..support.keeper_world import CALL, Repeating, World, play
from ..support.searches import FULL, PLAN, budgets, initial, make, seeds

FAULT = Fault(kind=FaultKind.NOT_PYTHON, message="no")
savings = st.tuples(st.booleans(), st.booleans(), st.booleans())


class Asked(Repeating):
    """Notes the order behind every answer."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.orders: dict[str, Propose] = {}

    def answer(self, order: Order) -> Fact:
        if isinstance(order, Propose):
            self.orders[order.id] = order
        return super().answer(order)


@settings(max_examples=20)
@given(budgets, seeds, st.integers(0, 10**6), savings, st.booleans())
def test_the_log_gives_every_order_back_as_it_was(
    slots: GenerationBudget, seed: int, arrival: int, saving: tuple[bool, bool, bool], full: bool
) -> None:
    world, chosen = Asked(seed), [FULL] if full else []
    log, _ = play(make("memento", slots, seed, saving, *chosen), world, random.Random(arrival).randrange)
    settled = [fact.candidate.id for fact in log if isinstance(fact, CandidateScored)]
    for place, fact in enumerate(log):
        if not isinstance(fact, CandidateScored):
            continue
        before = OrderBefore(make("memento", slots, seed, saving, *chosen), fact.candidate.id)
        Replay(before).replay(log[: place + 1])
        assert before.order is not None
        assert before.order == world.orders[before.order.id]
        assert slot_of(before.order.id) == fact.candidate.id
        known = {*before.known.programs.values()}
        assert known <= {*settled} and fact.candidate.id not in known
        assert before.known.rejected <= {*settled}


def order(seed: int, operator: Operator = Operator.MACRO, **fields: object) -> Propose:
    return Propose(
        id="g2/macro/1", operator=operator, generation=2, slot=1, parents=(initial(seed),), **fields    # type: ignore[arg-type]
    )


def drawn(keeper: object, seed: int, arrival: int) -> tuple[list[Fact], Decision[DrawsState]]:
    log, last = play(keeper, Repeating(seed, programs=3), random.Random(arrival).randrange)     # type: ignore[arg-type]
    return log, last


@settings(max_examples=20)
@given(seeds, st.integers(1, 6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_draws_do_not_depend_on_the_order_of_arrival(seed: int, draws: int, one: int, other: int) -> None:
    keeper = DrawsKeeper(order=order(seed), plan=replace(PLAN, racing=True), draws=draws)
    found = []
    for arrival in (one, other):
        log, last = drawn(keeper, seed, arrival)
        assert keeper.finished(last.state) and not last.orders
        assert {*last.state.settled} == {draw_id("g2/macro/1", number) for number in range(draws)}
        assert len([fact for fact in log if isinstance(fact, CandidateScored)]) == draws
        assert all(each.bound is None for each in last.state.settled.values()), "nothing is raced"
        found.append(last.state.settled)
        rolled = {owner_of(fact.order or "") for fact in log if isinstance(fact, EpisodeEnded)}
        again = {fact.candidate for fact in log if isinstance(fact, DuplicateFound)}
        assert not rolled & again or draws > 1
    assert found[0] == found[1]
    for each in found[0].values():
        assert (each.operator, each.generation, each.parents) == (Operator.MACRO, 2, ("init/0",))
        if each.fault is None:
            assert [episode.seed for episode in each.episodes] == [*PLAN.seeds]


@settings(max_examples=20)
@given(seeds, st.integers(1, 4), st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 60))
def test_a_log_goes_on_where_it_ended_also_with_more_draws(
    seed: int, draws: int, more: int, arrival: int, cut: int
) -> None:
    log, _ = drawn(DrawsKeeper(order=order(seed), plan=PLAN, draws=draws), seed, arrival)
    keeper = DrawsKeeper(order=order(seed), plan=PLAN, draws=draws + more)
    kept = log[: min(cut, len(log))]
    found = Replay(keeper).replay(kept)
    world, state, waiting = Repeating(seed, programs=3), found.state, [*found.orders]
    while waiting:
        decision = keeper.decide(state, world.answer(waiting.pop()))
        state, waiting = decision.state, [*waiting, *decision.orders]
    whole = drawn(keeper, seed, arrival)[1].state
    assert keeper.finished(state)
    assert state.settled == whole.settled


def test_a_draw_with_the_code_of_the_parent_is_not_rolled_out() -> None:
    parent = initial(1)
    keeper = DrawsKeeper(order=order(1), plan=PLAN, draws=1)
    [asked] = keeper.start().orders
    same = ProposalMade(order=asked.id, program=parent.program, summary="nothing", call=CALL)
    decision = keeper.decide(keeper.start().state, same)
    assert not [each for each in decision.orders if isinstance(each, Roll)]
    [candidate] = decision.state.settled.values()
    assert (candidate.fitness, candidate.fault) == (parent.fitness, None)
    failed = ProposalFailed(order=asked.id, fault=FAULT)
    assert keeper.decide(keeper.start().state, failed).state.settled[asked.id].fault == FAULT
    other = ProposalMade(order="g2/macro/1", program=parent.program, summary="", call=CALL)
    assert keeper.decide(keeper.start().state, other) == Decision(state=keeper.start().state)


def test_draws_play_the_episodes_of_the_plan_under_their_numbers() -> None:
    """The number decides, too, what an episode is, such as its kitchen; those that joined a search have later ones."""
    keeper = DrawsKeeper(order=order(1), plan=replace(PLAN, numbers=(0, 1, 7)), draws=1)
    begun = keeper.start()
    [asked] = begun.orders
    made = ProposalMade(order=asked.id, program=Program("other = 1\n"), summary="", call=CALL)
    rolls = [each for each in keeper.decide(begun.state, made).orders if isinstance(each, Roll)]
    assert [(roll.index, roll.seed) for roll in rolls] == [(0, 11), (1, 12), (7, 13)]
    assert [roll.id for roll in rolls] == [f"{asked.id}/e{number}" for number in (0, 1, 7)]


def test_draws_can_be_conversations() -> None:
    assert PLAN.evaluator is not None
    terms = ConversationTerms(turns=2, practice_episodes=2, seeds=(1, 2, 3))
    keeper = Conversing(DrawsKeeper(order=order(3), plan=PLAN, draws=4), terms, PLAN.evaluator)
    log, last = play(keeper, World(3), random.Random(1).randrange)
    assert keeper.finished(last.state)
    asked = [fact.order for fact in log if isinstance(fact, ProposalMade | ProposalFailed)]
    assert any("/turn" in str(name) for name in asked), "some answers came after a tool"
    settled: dict[str, CandidateState] = last.state.inner.settled
    assert len(settled) == 4


@pytest.mark.parametrize("rest", ["", "/e3", "/e3/score", "/turn2", "/tool1"])
def test_the_id_of_a_draw_owns_its_orders_and_is_no_candidate_of_a_run(rest: str) -> None:
    name = draw_id("g2/macro/1", 3)
    assert owner_of(name + rest) == name
    assert split(name + rest)[0] == name
    assert parse(name + rest).stage == ""
    assert parse(name + rest).role == "proposer"


@settings(max_examples=20)
@given(budgets, seeds, st.integers(0, 10**6), st.booleans())
def test_a_smaller_memory_is_that_of_a_search_which_had_no_other(
    slots: GenerationBudget, seed: int, arrival: int, duplicates: bool
) -> None:
    """What the keeper of a run with a full memory ordered, cut, shows what a keeper with a smaller one would show."""
    saving = (False, duplicates, False)
    log, _ = play(make("memento", slots, seed, saving, FULL), World(seed), random.Random(arrival).randrange)
    for place, fact in enumerate(log):
        if not isinstance(fact, CandidateScored):
            continue
        found = []
        for full in (True, False):
            before = OrderBefore(make("memento", slots, seed, saving, *([FULL] if full else [])), fact.candidate.id)
            Replay(before).replay(log[: place + 1])
            assert before.order is not None
            found.append(shown_less(before.order) if full else before.order)
        one, other = found
        assert replace(one, rejections=()) == replace(other, rejections=())
        assert rejections_list(one.rejections) == rejections_list(other.rejections)
