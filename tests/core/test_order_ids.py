"""The grammar of order ids: every generated id can be parsed, and text of any other form never raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core import order_ids
from memento.core.order_ids import OrderId, is_ahead, owner_of, parse, slot_of, split

pytestmark = pytest.mark.quick

numbers = st.integers(0, 10**6)
owners = st.one_of(
    st.builds(order_ids.initial, numbers),
    st.builds(order_ids.candidate, numbers, st.sampled_from(["hill", "macro", "cross", "random", "initial"]), numbers),
    st.builds(order_ids.candidate, numbers, st.sampled_from(["hill", "cross"]), numbers, island=st.integers(1, 64)),
    st.builds(order_ids.confirmation, numbers, st.sampled_from(["candidate", "elite"]), island=numbers),
    st.builds(order_ids.evaluator, numbers, numbers),
    st.builds(order_ids.judge, numbers, numbers),
    st.just(order_ids.fixed_evaluator()),
    st.builds(order_ids.zero_shot_evaluator, numbers),
    st.sampled_from([order_ids.final("initial"), order_ids.final("elite")]),
)
EXAMPLES = [
    ("init/0", OrderId(stage="initial", slot=0)),
    ("init/0/e3", OrderId(stage="initial", slot=0, episode=3)),
    ("g2/hill/7", OrderId(stage="search", generation=2, branch="hill", slot=7)),
    ("g2/macro/7/e3/score", OrderId(stage="search", generation=2, branch="macro", slot=7, episode=3, part="score")),
    ("g2/tune/0/v17", OrderId(stage="search", generation=2, branch="tune", slot=0, vector=17)),
    ("g2/tune/0/v17/e3", OrderId(stage="search", generation=2, branch="tune", slot=0, vector=17, episode=3)),
    ("g2/hill/7/ahead", OrderId(stage="search", generation=2, branch="hill", slot=7, part="ahead")),
    ("i2/g1/cross/0", OrderId(stage="search", generation=1, branch="cross", slot=0, island=2)),
    ("i12/g1/tune/0/v3/e1", OrderId(
        stage="search", generation=1, branch="tune", slot=0, vector=3, episode=1, island=12
    )),
    ("i2/confirm/g3/elite/e4", OrderId(stage="confirm", generation=3, branch="elite", episode=4, island=2)),
    ("i0/g1/hill/0", OrderId(stage="", branch="i0/g1/hill/0")),
    ("i1/i2/g1/hill/0", OrderId(stage="", branch="i1/i2/g1/hill/0")),
    ("i1/eval/g1/3", OrderId(stage="", branch="i1/eval/g1/3")),
    ("eval/g1/3/examine", OrderId(stage="evaluator", generation=1, slot=3, part="examine")),
    ("eval/g1/judge/4", OrderId(stage="evaluator", generation=1, branch="judge", slot=4)),
    ("eval/fixed/examine", OrderId(stage="evaluator", branch="fixed", part="examine")),
    ("eval/kept/2/examine", OrderId(stage="evaluator", branch="kept", slot=2, part="examine")),
    ("g2/macro/7/e3/move2", OrderId(stage="search", generation=2, branch="macro", slot=7, episode=3, part="move2")),
    ("eval/zero-shot/1", OrderId(stage="evaluator", branch="zero-shot", slot=1)),
    ("final/elite/e3", OrderId(stage="final", branch="elite", episode=3)),
]


@pytest.mark.parametrize(("text", "order"), EXAMPLES)
def test_every_form_is_parsed_and_written(text: str, order: OrderId) -> None:
    assert parse(text) == order
    assert str(order) == text


@given(owners, numbers)
def test_what_is_made_can_be_parsed(owner: OrderId, index: int) -> None:
    episode = owner.of_episode(index)
    name = str(owner)
    assert str(episode) == order_ids.episode_id(name, index)
    assert str(episode.score()) == order_ids.score_id(str(episode))
    assert str(owner.examine()) == order_ids.examine_id(name)
    assert str(owner.ahead()) == order_ids.ahead_id(name)
    assert (slot_of(name), slot_of(order_ids.ahead_id(name))) == (name, name)
    assert (is_ahead(name), is_ahead(order_ids.ahead_id(name))) == (False, True)
    for order in (owner, episode, episode.score(), owner.examine(), owner.ahead()):
        assert split(str(order)) == (name, order.episode, order.part)
        assert parse(str(order)) == order
        assert order.owner == owner
        assert owner_of(str(order)) == str(owner)


@given(st.one_of(st.text(), st.from_regex(r"(i\d/)?(g\d+|eval|init|final)(/[a-z0-9]{0,4}){0,5}", fullmatch=True)))
def test_any_text_comes_back_and_never_raises(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(text).owner.is_owner
    assert owner_of(text) == str(parse(text).owner)


@pytest.mark.parametrize(("text", "role"), [
    ("g1/macro/0", "proposer"), ("init/0", "proposer"), ("eval/g0/2", "evaluator-writer"),
    ("eval/zero-shot/0", "evaluator-writer"), ("eval/g0/judge/1", "judge"), ("eval/attack/0", "attacker"),
    ("eval/fix/1", "evaluator-writer"),
])
def test_the_role_of_an_order(text: str, role: str) -> None:
    assert parse(text).role == role
