"""Which node does which order, and that an order has one answer whatever becomes of its nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.values import Program
from memento.extensions.ray.about import About, about_here, lost_layers, why_unfit
from memento.extensions.ray.dispatch import MOST_LOSSES, Dispatcher, NodeJob
from memento.extensions.ray.link import gateway_environment
from memento.extensions.ray.node import Recordings
from memento.extensions.ray.wire import pack_call, unpack_call

pytestmark = pytest.mark.quick


def two_nodes() -> Dispatcher:
    dispatcher = Dispatcher()
    for name in ("a", "b"):
        dispatcher.join(name, 1)
    return dispatcher


def test_orders_begin_in_their_order_on_all_nodes():
    dispatcher = two_nodes()
    jobs = [NodeJob(order=f"o{n}") for n in range(3)]
    for job in jobs:
        dispatcher.submit(job)
    first, second = dispatcher.assign(), dispatcher.assign()
    assert (first.job, second.job) == (jobs[0], jobs[1]) and {first.node, second.node} == {"a", "b"}
    assert dispatcher.assign() is None, "no place is free"
    assert dispatcher.answered(first.ticket) is first
    assert dispatcher.assign().job is jobs[2]


def test_the_orders_of_a_lost_node_are_given_out_again_before_others_and_its_late_answer_is_dropped():
    dispatcher = two_nodes()
    lost, other, waiting = (NodeJob(order=name) for name in ("lost", "other", "waiting"))
    for job in (lost, other, waiting):
        dispatcher.submit(job)
    given_away, kept = dispatcher.assign(), dispatcher.assign()
    assert dispatcher.leave(given_away.node) == []
    assert dispatcher.answered(given_away.ticket) is None, "late"
    dispatcher.answered(kept.ticket)
    again = dispatcher.assign()
    assert again.job is lost and again.node == kept.node and again.ticket != given_away.ticket
    assert dispatcher.leave(again.node) == [lost] and len(lost.lost) == MOST_LOSSES


def test_an_evaluator_goes_where_the_recording_is():
    dispatcher = two_nodes()
    dispatcher.made("b", "key")
    dispatcher.submit(NodeJob(order="key", wants=("key",)))
    assert dispatcher.assign().node == "b"
    dispatcher.submit(NodeJob(order="key", wants=("key",)))
    assert dispatcher.assign().node == "a", "the holder has no free place"
    dispatcher.sent("a", "key")
    dispatcher.made("b", "key")
    assert dispatcher.holds("b", "key") and not dispatcher.holds("a", "key"), "made again: other copies are old"


@given(st.lists(st.sampled_from(["submit", "answer", "late", "join", "leave", "withdraw"]), max_size=80), st.randoms())
def test_whatever_happens_every_order_is_open_once_and_no_place_is_lost(steps, random):
    dispatcher, jobs, open_, late, count = Dispatcher(), [], {}, [], 0
    sizes: dict[str, int] = {}
    done: set[str] = set()
    for step in steps:
        if step == "submit":
            jobs.append(NodeJob(order=f"o{len(jobs)}"))
            dispatcher.submit(jobs[-1])
        elif step == "join":
            count += 1
            sizes[f"n{count}"] = random.randint(1, 3)
            dispatcher.join(f"n{count}", sizes[f"n{count}"])
        elif step == "leave" and sizes:
            node = random.choice(sorted(sizes))
            del sizes[node]
            done |= {job.order for job in dispatcher.leave(node)}
            late += [ticket for ticket, each in open_.items() if each.node == node]
            open_ = {ticket: each for ticket, each in open_.items() if each.node != node}
        elif step == "answer" and open_:
            ticket = random.choice(sorted(open_))
            assert dispatcher.answered(ticket) is open_.pop(ticket)
        elif step == "late" and late:
            assert dispatcher.answered(random.choice(late)) is None
        elif step == "withdraw" and jobs:
            dispatcher.withdraw(random.choice(jobs))
        while (given_out := dispatcher.assign()) is not None:
            assert given_out.node in sizes and given_out.job.order not in done
            open_[given_out.ticket] = given_out
        assert dispatcher.slots == sum(sizes.values())
        assert all(sum(each.node == node for each in open_.values()) <= size for node, size in sizes.items())
        assert len({each.slot for each in open_.values()}) == len(open_)
        assert len({id(each.job) for each in open_.values()}) == len(open_)


def test_a_call_is_the_same_after_the_wire():
    program, files = Program("x = '\ud800'"), {"a": b"\0\1", "b": b""}
    assert unpack_call(pack_call({"do": "roll"}, program, files)) == ({"do": "roll"}, program, files)


def test_a_node_drops_the_recordings_that_were_used_least_recently_but_none_in_use(tmp_path):
    recordings = Recordings(tmp_path, most=10)
    with recordings.used(["kept"]):
        for key in ("kept", "old", "new"):
            recordings.write(key, b"12345")
    assert [recordings.has(key) for key in ("kept", "old", "new")] == [True, False, True]


def changed(about: About, **values: object) -> About:
    return About.of({**about.as_json(), **values})


def test_a_node_that_would_give_other_episodes_is_refused_in_one_sentence():
    here = about_here()
    assert why_unfit(changed(here, host="other"), here, isolated=False) is None
    older = changed(here, versions={**here.versions, "numpy": "1.0"})
    assert "numpy 1.0, and this machine has" in why_unfit(older, here, isolated=False)
    bare = changed(here, versions={})
    assert "numpy missing" in why_unfit(bare, changed(here, versions={"numpy": "1"}), isolated=False)
    assert "files of memento" in why_unfit(changed(here, code="other"), here, isolated=False)
    bare = changed(here, layers=("rlimits",))
    assert why_unfit(bare, here, isolated=False) is None and lost_layers(bare, ("rlimits", "seccomp")) == ["seccomp"]
    assert "landlock, seccomp missing" in why_unfit(bare, here, isolated=True)


def test_the_gateway_gets_what_ray_reads_and_no_key():
    rays = {"RAY_AUTH_TOKEN": "t", "RAY_ADDRESS": "a"}
    given = {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": "u", **rays}
    environment = gateway_environment(given)
    assert {*environment} & {*given} == {"PATH", *rays}
