"""A run's record against its log."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import CandidateAccepted, CandidateRejected, CandidateScored, EliteChanged, EpisodeEnded
from memento.core.values import Operator, Program
from memento.evidence.descent import CandidateRow
from memento.evidence.findings import band, find, same_evaluators
from memento.evidence.loading import Evidence
from memento.evidence.records import count_repeats, says_the_same

from .logs import log, record

seeds = st.integers(0, 10**6)


def of(facts, kind):
    return [fact for fact in facts if isinstance(fact, kind)]


@settings(max_examples=20, deadline=None)
@given(seed=seeds, method=st.sampled_from(["memento", "random"]))
def test_a_record_says_what_the_log_says(seed, method):
    facts = log(method, seed=seed)
    found = record(facts)
    assert (found.method, found.seed, found.status) == (method, seed, "done")
    elites = of(facts, EliteChanged)
    assert [point.fitness for point in found.curve] == [fact.fitness for fact in elites]
    best = [point.best_fitness for point in found.curve]
    assert best == sorted(best)
    assert all(point.best_fitness >= point.fitness for point in found.curve)
    assert any(point.success == found.best_success for point in found.curve)
    scored = of(facts, CandidateScored)
    assert sum(count.slots for count in found.operators) == len(scored) == found.candidates
    assert sum(count.failed for count in found.operators) == found.failed
    assert sum(count.accepted for count in found.operators) == len(of(facts, CandidateAccepted))
    assert sum(count.rejected for count in found.operators) == len(of(facts, CandidateRejected))
    assert found.memory.rejections == len(of(facts, CandidateRejected))
    searched = {f.episode.seed for f in of(facts, EpisodeEnded) if not f.order.startswith("final/")}
    assert found.seen_seeds == searched == {1, 2, 3}


@settings(max_examples=20, deadline=None)
@given(seed=seeds, cut=st.floats(0, 1))
def test_any_beginning_of_a_run_has_a_record_and_a_finding(seed, cut):
    facts = log(seed=seed)
    found = record(facts[: int(cut * len(facts))])
    findings = find(Evidence(title="part", records=(found,)))
    assert len(findings.groups) == 1


def climb(slot, text, summary, *, accepted, generation=1):
    return CandidateRow(
        id=f"g{generation}/hill/{slot}", operator=Operator.HILL_CLIMB, generation=generation, slot=slot, parents=(),
        summary=summary, program=Program(text), fitness=0.5, success_rate=0.0, accepted=accepted,
    )


def test_repeats_are_counted_within_their_own_chain_and_only_of_what_was_rejected():
    rows = [
        climb(0, "a", "widen the grip", accepted=False),
        climb(1, "b", "lift higher before moving", accepted=True),
        climb(2, "a", "something else altogether", accepted=False),        # the program of slot 0
        climb(3, "c", "Widen  the grip.", accepted=False),                  # the words of slot 0
        climb(4, "b", "lift higher before moving", accepted=False),        # was accepted: repeats nothing
        climb(0, "a", "widen the grip", accepted=False, generation=2),     # another generation's memory
    ]
    found = count_repeats(rows, [])
    assert (found.climbs, found.same_program, found.near_summary) == (4, 1, 1)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Raise the gripper by 2 cm", "raise the gripper by 3 cm", True),
        ("Raise the gripper", "  raise   the GRIPPER ", True),
        ("Raise the gripper", "Turn the wrist", False),
        ("", "", False),
    ],
)
def test_near_duplicates_of_summaries(one, other, same):
    assert says_the_same(one, other) is same


def test_a_band_is_over_the_runs_that_got_there():
    points = band([[0.0, 0.5, 1.0], [0.2, 0.7]])
    assert [point.n for point in points] == [2, 2, 1]
    assert points[0].mean == pytest.approx(0.1)
    assert points[0].low == 0.0, "a band ends at 0"
    assert (points[2].low, points[2].high) == (1.0, 1.0)


def test_fitness_is_compared_only_under_the_same_evaluator():
    one, other = record(log(seed=3)), record(log("random", seed=3))
    apart = record(log(seed=4))
    assert same_evaluators([one, other])
    assert not same_evaluators([one, replace(other, version=2)]), "it moved"
    assert not same_evaluators([one, record([*log("random", seed=4)][:1] + log("random", seed=5)[1:]), apart])


def test_only_arms_under_the_same_evaluator_are_tested_by_their_own_fitness():
    records = []
    for seed in (1, 2, 3):
        for arm, method in (("memento", "memento"), ("random", "random"), ("other", "random")):
            one = replace(record(log(method, seed=seed), f"{arm}{seed}"), seed=seed, arm=arm)
            records.append(replace(one, evaluator=Program("another" if arm == "other" else f"E*{seed}")))
    [group] = find(Evidence(title="t", records=tuple(records))).groups
    assert not group.shared_evaluator
    assert {one.other for one in group.tests if one.quantity == "F"} == {"random"}
    assert {one.other for one in group.tests if one.quantity == "S"} == {"random", "other"}


def test_the_pairs_are_methods_by_seeds_by_generations_and_p_0():
    """As in the paper: 3 methods × 3 seeds × 6 generations are 54 pairs; here 2 × 3 × 4."""
    records = tuple(record(log(method, seed=seed), f"{method}{seed}") for method in ("memento", "random")
                    for seed in (1, 2, 3))
    [group] = find(Evidence(title="t", records=records)).groups
    assert group.correlation.n == len(group.pairs) == 2 * 3 * 4
