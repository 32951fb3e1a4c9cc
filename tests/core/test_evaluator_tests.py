"""Tests of evaluators on probes: an ideal evaluator passes, and each kind of error is found."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from memento.core.evaluator_choice import leading, open_to_votes
from memento.core.evaluator_tests import evaluator_tests_of
from memento.core.faults import Fault, FaultKind
from memento.core.probes import cuts_of, known_order, rungs_of, sources_of
from memento.core.values import Episode, EvaluatorCandidate, Examination, Probe, Score


def episode(index: int, *, success: bool, steps: int = 40, ended_by: str = "") -> Episode:
    return Episode(
        index=index, seed=index, steps=steps, ended_by=ended_by or ("success" if success else "horizon"),
        success=success, trajectory=f"e{index}",
    )


T_0 = (episode(0, success=True, steps=60), episode(1, success=False), episode(2, success=True, steps=50))
PROBES = (
    *(Probe(name=cut.name, episode=episode(0, success=False, ended_by="cut"), below=cut.below) for cut in cuts_of(T_0)),
    *(Probe(name=f"staged {n}", episode=episode(0, success=False), below=(f"staged {n + 1}",) if n < 2 else ())
      for n in range(3)),
    *(Probe(name=rung.name, episode=episode(0, success=False), source=rung.source, ladder=rung.ladder, rung=rung.rung)
      for rung in rungs_of(T_0)),
    *(Probe(name=f"{source.name}, waiting first", source=source.name, episode=episode(0, success=source.success))
      for source in sources_of(T_0)),
)
NAMES = [f"episode {each.index}" for each in T_0] + [probe.name for probe in PROBES]


def worth(name: str) -> float:
    """A fitness that agrees with every order."""
    if name.startswith("staged"):
        return 0.1 + 0.05 * int(name[-1])
    level = {"episode 0": 1.0, "episode 2": 1.0, "episode 1": 0.5}[name[:9]]
    rungs = (" 10 %", " 30 %", " 100 %", ", late")
    place = next((n for n, end in enumerate(rungs, start=1) if name.endswith(end)), 0)
    return level - 0.6 * (level == 1.0 and place > 0) - 0.05 * place if "first " not in name else level * 0.4


def result(**other: float):
    scores = {name: Score(fitness=other.get(name, worth(name))) for name in NAMES}
    return evaluator_tests_of(T_0, [scores[name] for name in NAMES[:3]], PROBES, [scores[name] for name in NAMES[3:]])


def test_an_evaluator_that_agrees_with_every_order_passes() -> None:
    tests = result()
    assert tests.pairs == len(known_order(T_0, PROBES)) > 20
    assert (tests.inversions, tests.tau, tests.broken_invariances, tests.flaw) == (0, 1.0, 0, "")
    assert all(ladder.inversions == 0 and ladder.tau == 1.0 for ladder in tests.ladders)
    assert (tests.successes, tests.saturated, tests.failures) == (2, 2, 1 + 3 + 10)
    assert len(tests.invariances) == 2


def test_each_error_is_found_where_it_is() -> None:
    tests = result(**{"staged 0": 0.2, "staged 1": 0.2, "staged 2": 0.2})
    assert [(each.name, each.inversions) for each in tests.ladders if each.inversions] == [
        ("certain by how they were made", 3)    # three that are alike
    ]
    tests = result(**{"episode 1": 1.0})
    assert next(each for each in tests.ladders if each.name == "successes above failures").inversions == 2
    tests = result(**{"episode 1, random actions 30 %": 0.47})
    ladder = next(each for each in tests.ladders if each.name == "episode 1, random actions")
    assert (ladder.certain, ladder.inversions, ladder.pairs) == (False, 1, 6)
    assert tests.inversions == 0    # the order of that ladder is expected, not certain
    tests = result(**{"episode 2, waiting first": 0.9})
    assert [each.name for each in tests.invariances if each.is_moved] == ["episode 2, waiting first"]


@given(st.floats(0.0, 1.0))
def test_the_same_fitness_for_every_failure_is_a_flaw(level: float) -> None:
    failures = {name: level for name in NAMES if name not in ("episode 0", "episode 2")}
    tests = result(**failures)
    assert "all 14 failures the same fitness" in tests.flaw
    assert tests.ties == 14 * 13 // 2


def entry(slot: int, *, valid: bool = True, **other: float) -> EvaluatorCandidate:
    fault = None if valid else Fault(kind=FaultKind.INVALID_RESULT, message="NaN")
    found = Examination(fault=fault, tests=result(**other) if valid else None)
    return EvaluatorCandidate(id=f"eval/g0/{slot}", generation=0, slot=slot, program=None, examination=found)


def test_a_flaw_is_out_before_the_votes_unless_all_have_one() -> None:
    flat = {name: 0.0 for name in NAMES if name not in ("episode 0", "episode 2")}
    wrong = {"staged 0": 0.5}
    pool = [entry(0, **flat), entry(1, **wrong), entry(2), entry(3, valid=False), entry(4)]
    assert [each.slot for each in open_to_votes(pool)] == [1, 2, 4]
    assert [each.slot for each in leading(pool)] == [2, 4]
    assert [each.slot for each in open_to_votes([entry(0, **flat), entry(1, valid=False)])] == [0]
    untested = [replace(each, examination=Examination()) for each in pool[:2]]
    assert leading(untested) == open_to_votes(untested) == tuple(untested)


def test_ladders_begin_with_two_rollouts_at_most_and_have_ten_rungs() -> None:
    many = tuple(episode(index, success=index % 3 == 0, steps=10 + index) for index in range(9))
    rungs = rungs_of(many)
    assert {rung.source for rung in rungs} == {"episode 0", "episode 8"}
    assert len(rungs) == len({rung.name for rung in rungs}) == 10
    assert rungs_of((episode(0, success=True, steps=1),)) == ()
