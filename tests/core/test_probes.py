"""Probes: which pairs of recordings have a known order, and which of them an evaluator ranks wrongly."""

from hypothesis import given
from hypothesis import strategies as st
from memento.core.faults import Fault, FaultKind
from memento.core.probes import CUT, MOST_STEPS, cuts_of, known_order, length_of, violations
from memento.core.values import Episode, Probe, Score


def episode(
    index: int = 0, *, steps: int = 100, success: bool = False, ended_by: str = "horizon", fault: Fault | None = None
) -> Episode:
    return Episode(
        index=index, seed=1, steps=steps, ended_by="success" if success else ended_by, success=success, fault=fault,
        trajectory=f"init_0_e{index}",
    )


def probe(name: str, *below: str, success: bool = False, ended_by: str = "horizon") -> Probe:
    return Probe(name=name, episode=episode(success=success, ended_by=ended_by), below=below)


CHAIN = (probe("idle", "one"), probe("one", "two"), probe("two", "three"), probe("three", success=True))
CRASH = Fault(kind=FaultKind.CRASHED, message="raised")


def test_order_follows_from_what_probes_say() -> None:
    assert set(known_order((), CHAIN[:3])) == {("one", "idle"), ("two", "idle"), ("two", "one")}


def test_a_success_is_worth_more_than_any_failure_that_is_known_to_be_one() -> None:
    rollouts = (episode(0, success=True), episode(1), episode(2, fault=CRASH))
    cut_of_failure = probe("episode 1, first 50 %", ended_by=CUT)
    random = probe("random actions")
    assert set(known_order(rollouts, (cut_of_failure, random))) == {
        ("episode 0", "episode 1"), ("episode 0", "random actions"),
    }, "a fault has f_e = 0 in any case, and success may have held in the cut"


def test_the_beginning_of_a_success_is_worth_less_than_the_whole() -> None:
    short, long = episode(0, steps=40, success=True), episode(1, steps=80)
    cuts = cuts_of((short, episode(2, steps=60), long))
    assert [(cut.name, cut.steps, cut.below) for cut in cuts] == [
        ("episode 0, first 25 %", 10, ("episode 0",)), ("episode 0, first 50 %", 20, ("episode 0",)),
        ("episode 0, first 75 %", 30, ("episode 0",)),
        ("episode 1, first 25 %", 20, ()), ("episode 1, first 50 %", 40, ()), ("episode 1, first 75 %", 60, ()),
    ]
    made = tuple(probe(cut.name, *cut.below, ended_by=CUT) for cut in cuts)
    order = known_order((short, long), made)
    assert ("episode 0", "episode 0, first 75 %") in order
    assert not any("episode 1, first" in name for pair in order for name in pair)


def test_rollouts_without_steps_or_recording_have_no_cuts() -> None:
    assert cuts_of(()) == ()
    assert cuts_of((episode(steps=0),)) == ()
    assert [cut.steps for cut in cuts_of((episode(steps=2),))] == [1]
    assert [cut.steps for cut in cuts_of((episode(steps=1),))] == []


def test_an_idle_episode_is_as_long_as_the_median_rollout() -> None:
    assert length_of([episode(steps=steps) for steps in (3, 9, 50)]) == 9
    assert (length_of([]), length_of([episode(steps=0)]), length_of([episode(steps=10**6)])) == (1, 1, MOST_STEPS)


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=4, max_size=4))
def test_a_violation_is_a_pair_in_which_the_better_one_does_not_score_more(fitness: list[float]) -> None:
    scores = tuple(Score(fitness=value) for value in fitness)
    found = violations((), (), CHAIN, scores)
    wrong = {(b, w) for b in range(4) for w in range(b) if not fitness[b] > fitness[w]}
    names = [each.name for each in CHAIN]
    assert {(each.better, each.worse) for each in found} == {(names[b], names[w]) for b, w in wrong}
    assert all(each.better_fitness <= each.worse_fitness for each in found)


def test_probes_that_name_each_other_end() -> None:
    assert known_order((), (probe("a", "b"), probe("b", "a"))) == (("a", "b"), ("b", "a"))
