"""What the views say of a run whose evaluator moved: F of one version only, and which recordings stay."""

from dataclasses import replace

from memento.core.events import ArchiveChanged, EliteChanged, EliteConfirmed, EvaluatorMoved, InitialChosen
from memento.core.recording_file import trajectory_key
from memento.core.values import EvaluatorCandidate, Program
from memento.evidence.records import curve_of
from memento.memory.contenders import contenders
from memento.memory.evaluator_pools import list_pools, moved_words
from memento.memory.retention_policy import RetentionPolicy
from memento.memory.run_view import gain_of, view_of_facts

from ..support.recorded_facts import START, elite, episode, scored

SUCCESSOR = EvaluatorCandidate(id="eval/g2/1", generation=2, slot=1, program=Program("E2"))
MOVED = EvaluatorMoved(
    generation=1, version=2, moved=True, chosen=SUCCESSOR, pairs=9, wrong_before=2, wrong_after=1, recordings=4,
    elite="g1/macro/0", fitness=0.2, candidates=("init/0", "g1/macro/0"), fitnesses=(0.05, 0.2),
)
REFUSED = EvaluatorMoved(
    generation=1, version=1, moved=False, chosen=SUCCESSOR, reason="it fails on 1 recording", elite="g1/macro/0",
    fitness=0.8,
)
FIRST = InitialChosen(order="init/0", program=Program("p = 0"))
FACTS = [
    FIRST, replace(elite("init/0", 0), fitness=0.4), scored("g1/macro/1", fitness=0.7),
    scored("g1/macro/0", fitness=0.8), replace(elite("g1/macro/0"), fitness=0.8),
    EliteConfirmed(
        generation=1, candidate="g1/macro/0", elite="init/0", episodes=3, candidate_fitness=0.7, elite_fitness=0.3,
        confirmed=True,
    ),
]
NEXT = replace(elite("g2/macro/0", 2), fitness=0.3, version=2)


def test_p_0_and_the_elite_have_their_fitness_from_the_evaluator_in_use() -> None:
    run = view_of_facts([*FACTS, MOVED]).status
    assert run.elite is not None and run.first_elite is not None
    assert (run.version, run.moves, run.elite.fitness, run.elite.version) == (2, 1, 0.2, 2)
    assert (run.first_elite.fitness, run.first_elite.version) == (0.05, 2)
    kept = view_of_facts([*FACTS, REFUSED]).status
    assert kept.elite is not None and (kept.version, kept.moves, kept.elite.fitness) == (1, 1, 0.8)


def test_slots_say_which_version_their_fitness_is_by_and_curves_begin_again() -> None:
    slots = view_of_facts([*FACTS, MOVED]).slots
    found = {name: (slot.fitness, slot.version) for name, slot in slots.candidates.items()}
    assert found == {"init/0": (0.05, 2), "g1/macro/1": (0.7, 1), "g1/macro/0": (0.2, 2)}
    assert not slots.seen and not slots.comparable and [point.fitness for point in slots.points] == [0.2]
    later = view_of_facts([*FACTS, MOVED, replace(scored("g2/macro/0", 2, 0.3)), NEXT]).slots
    assert later.comparable == [NEXT]
    assert gain_of(NEXT, FACTS[-2]) is None     # type: ignore[arg-type]
    assert gain_of(NEXT, replace(NEXT, fitness=0.2)) is not None
    kept = view_of_facts([*FACTS, REFUSED]).slots
    assert kept.seen and len(kept.comparable) == 2


def test_the_best_of_a_curve_begins_again_with_another_version() -> None:
    elites = [fact for fact in [*FACTS, NEXT] if isinstance(fact, EliteChanged)]
    assert [(point.best_fitness, point.version) for point in curve_of(elites)] == [(0.4, 1), (0.8, 1), (0.3, 2)]


def test_programs_are_ranked_by_the_evaluator_in_use() -> None:
    facts = [*FACTS, MOVED, scored("g2/macro/0", 2, 0.3), NEXT]
    assert [one.candidate for one in contenders(facts, most=3)] == ["init/0", "g1/macro/0", "g2/macro/0"]
    known = {one.candidate: one.fitness for one in contenders(facts, most=9)}
    assert known == {"init/0": 0.05, "g1/macro/0": 0.2, "g2/macro/0": 0.3}


def test_a_move_stands_with_its_pool_in_a_line() -> None:
    assert [pool.moved for pool in list_pools([MOVED])] == [MOVED]
    assert moved_words(MOVED) == (
        "version 2: eval/g2/1; of 9 certain pairs 2 -> 1 are ranked wrongly; 4 recordings scored again"
    )
    assert moved_words(REFUSED) == "stays at version 1: it fails on 1 recording"


def test_recordings_of_what_is_remembered_stay() -> None:
    policy = RetentionPolicy(moving=True)
    names = [f"g1/macro/{n}" for n in range(3)]
    for fact in (*START, *(episode(f"{name}/e0", trajectory_key(f"{name}/e0")) for name in names), *map(scored, names)):
        policy.apply(fact)
    assert policy.give_up() is None, "each may be remembered"
    policy.apply(ArchiveChanged(generation=1, candidates=("init/0", *names[:2])))
    assert policy.apply(elite("g1/macro/1")).dropped == (trajectory_key("g1/macro/2/e0"),)
    assert policy.give_up() is None
    policy.apply(ArchiveChanged(generation=2, candidates=("init/0", "g1/macro/1")))
    policy.apply(elite("g1/macro/1", 2))
    assert policy.give_up() == trajectory_key("g1/macro/0/e0"), "it is forgotten"
