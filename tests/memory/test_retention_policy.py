"""Which recordings of a run are kept, and which are deleted first, from scripted facts."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    ConstantsTried,
    DuplicateFound,
    EliteConfirmed,
    Fact,
    IslandsChanged,
    ToolAnswered,
    TwinTried,
)
from memento.core.recording_file import trajectory_key
from memento.core.turns import Passage
from memento.memory.retention_policy import NOTHING, RetentionPolicy

from ..support.recorded_facts import CRASH, START, elite, episode, scored
from ..support.strategies import PATIENT


def applied(policy: RetentionPolicy, *facts: Fact) -> tuple[set[str], set[str]]:
    """The recordings that these facts drop and shorten."""
    changes = [policy.apply(fact) for fact in facts]
    return {key for each in changes for key in each.dropped}, {key for each in changes for key in each.shortened}


def given_up(policy: RetentionPolicy) -> list[str]:
    found = []
    while (key := policy.give_up()) is not None:
        found.append(key)
    return found


def test_the_losers_of_a_finished_generation_go() -> None:
    policy = RetentionPolicy()
    facts = [*START, *(episode(f"g1/macro/{n}/e0") for n in range(3)), *(scored(f"g1/macro/{n}") for n in range(3))]
    assert applied(policy, *facts) == (set(), set())
    change = policy.apply(elite("g1/macro/1"))
    assert set(change.dropped) == {"g1/macro/0/e0", "g1/macro/2/e0"}
    assert set(change.over) == {"g1/macro/0", "g1/macro/2"}
    assert given_up(policy) == [], "T_0 and the present elite are needed"


def test_tried_constants_and_episodes_on_a_twin_go_at_once() -> None:
    policy = RetentionPolicy(keep_all=True)
    tried = ConstantsTried(order="g1/tune/0/v3", point=(0.5,), fitnesses=(0.1, 0.2))
    assert applied(policy, tried)[0] == {trajectory_key(f"g1/tune/0/v3/e{index}") for index in range(2)}
    twin = TwinTried(order="g1/macro/0/gate1", fitness=0.5, steps=3, ended_by="horizon")
    assert applied(policy, twin)[0] == {trajectory_key("g1/macro/0/gate1")}
    assert applied(policy, replace(tried, order=None), replace(twin, order=None)) == (set(), set())


def test_a_practice_episode_of_a_loser_goes_whole_although_a_fault_ended_it() -> None:
    policy = RetentionPolicy()
    tried = episode("g1/macro/0/tool1", fault=CRASH).episode
    practice = ToolAnswered(order="g1/macro/0/tool1", answer=Passage("x"), episode=tried)
    facts = [*START, practice, episode("g1/macro/0/e0"), scored("g1/macro/0"), elite("init/0")]
    assert applied(policy, *facts) == ({"g1/macro/0/tool1", "g1/macro/0/e0"}, set())


def test_a_loser_that_a_fault_ended_is_shortened() -> None:
    policy = RetentionPolicy()
    facts = [*START, episode("g1/macro/0/e0", fault=CRASH), episode("g1/macro/0/e1"), scored("g1/macro/0")]
    assert applied(policy, *facts, elite("init/0")) == ({"g1/macro/0/e1"}, {"g1/macro/0/e0"})
    assert given_up(policy) == ["g1/macro/0/e0"]


def test_nothing_goes_where_all_is_to_be_kept_and_the_limit_takes_losers_first() -> None:
    policy = RetentionPolicy(keep_all=True)
    facts = [*START, episode("g1/macro/0/e0"), episode("g1/macro/1/e0"), scored("g1/macro/0"), scored("g1/macro/1")]
    assert applied(policy, *facts, elite("g1/macro/1")) == (set(), set())
    assert applied(policy, episode("g2/macro/0/e0"), scored("g2/macro/0", 2), elite("g2/macro/0", 2)) == (set(), set())
    assert given_up(policy) == ["g1/macro/0/e0", "g1/macro/1/e0"]


def test_the_episodes_of_a_confirmation_go_when_it_is_decided() -> None:
    policy, everything = RetentionPolicy(), RetentionPolicy(keep_all=True)
    open_ones = [*START, episode("confirm/g1/candidate/e0"), episode("confirm/g1/elite/e0", fault=CRASH)]
    decided = EliteConfirmed(
        generation=1, candidate="g1/hill/0", elite="init/0", episodes=1, candidate_fitness=0.5, elite_fitness=0.0,
        confirmed=True,
    )
    assert applied(policy, *open_ones) == (set(), set())
    assert given_up(policy) == [], "an evaluator may still have to read them"
    assert applied(policy, decided) == ({"confirm/g1/candidate/e0", "confirm/g1/elite/e0"}, set())
    assert applied(everything, *open_ones, decided) == (set(), set())
    assert given_up(everything) == ["confirm/g1/candidate/e0", "confirm/g1/elite/e0"]


def test_the_elites_of_all_islands_stay_while_they_are_parents_and_a_challenge_ends_on_its_island_alone() -> None:
    policy = RetentionPolicy()
    names = [f"i{island}/g1/macro/0" for island in (1, 2)]
    facts = [*START, *(episode(f"{name}/e0") for name in names), *(scored(name) for name in names)]
    facts += [episode("i1/confirm/g1/candidate/e0"), episode("i2/confirm/g1/candidate/e0")]
    decided = EliteConfirmed(
        generation=1, candidate=names[0], elite="init/0", episodes=1, candidate_fitness=0.5, elite_fitness=0.0,
        confirmed=True,
    )
    assert applied(policy, *facts, decided) == ({"i1/confirm/g1/candidate/e0"}, set())
    applied(policy, replace(decided, candidate=names[1]))
    both = IslandsChanged(generation=1, elites=tuple(names), fitnesses=(0.5, 0.4), slots=(1, 1))
    assert applied(policy, both, elite(names[0])) == (set(), set())
    assert given_up(policy) == []
    later = IslandsChanged(generation=2, elites=(names[0], names[0]), fitnesses=(0.5, 0.5), slots=(1, 1))
    assert applied(policy, later, elite(names[0], 2)) == (set(), set())
    assert given_up(policy) == [f"{names[1]}/e0"], "of an earlier elite"


def test_past_elites_stay_and_final_episodes_are_needed() -> None:
    policy = RetentionPolicy()
    facts = [
        *START, episode("g1/hill/0/e0"), scored("g1/hill/0"), elite("g1/hill/0"), episode("g2/hill/0/e0"),
        scored("g2/hill/0", 2), elite("g2/hill/0", 2), episode("final/elite/e0"), episode("final/initial/e0"),
    ]
    assert applied(policy, *facts) == (set(), set())
    assert given_up(policy) == ["g1/hill/0/e0"]


def test_what_is_not_scored_is_needed_and_the_least_fit_goes_first() -> None:
    policy = RetentionPolicy()
    facts = [*START, *(episode(f"g1/macro/{n}/e0") for n in range(4))]
    facts += [scored("g1/macro/0", fitness=0.5), scored("g1/macro/1", fitness=0.1), scored("g1/macro/3", fitness=0.9)]
    assert applied(policy, *facts) == (set(), set())
    assert given_up(policy) == ["g1/macro/1/e0", "g1/macro/0/e0", "g1/macro/3/e0"]


def test_ends_go_before_elites_and_the_oldest_first() -> None:
    policy = RetentionPolicy()
    for generation in (1, 2, 3):
        name, failed = f"g{generation}/hill/0", f"g{generation}/macro/0"
        for fact in (
            episode(f"{name}/e0"), scored(name, generation), episode(f"{failed}/e0", fault=CRASH),
            scored(failed, generation), elite(name, generation),
        ):
            policy.apply(fact)
    ends = [f"g{generation}/macro/0/e0" for generation in (1, 2, 3)]
    assert given_up(policy) == [*ends, "g1/hill/0/e0", "g2/hill/0/e0"]


def test_an_unscored_candidate_and_the_next_generation_stay() -> None:
    facts = [*START, episode("g1/macro/0/e0"), elite("init/0"), episode("g2/macro/0/e0"), scored("g2/macro/0", 2)]
    assert applied(RetentionPolicy(), *facts) == (set(), set())


def test_a_recording_shared_with_the_elite_stays() -> None:
    facts = [
        *START, episode("g1/hill/0/e0", "shared"), scored("g1/hill/0"), episode("g1/macro/0/e0", "shared"),
        scored("g1/macro/0"), elite("g1/macro/0"),
    ]
    assert applied(RetentionPolicy(), *facts) == (set(), set())


def test_what_an_elite_duplicates_stays_until_another_is_the_elite() -> None:
    policy = RetentionPolicy()
    facts = [
        *START, episode("g1/macro/0/e0"), scored("g1/macro/0"), DuplicateFound(candidate="g1/macro/1", of="g1/macro/0"),
        scored("g1/macro/1"), elite("g1/macro/1"),
    ]
    assert applied(policy, *facts) == (set(), set())
    assert given_up(policy) == []
    assert applied(policy, episode("g2/macro/0/e0"), scored("g2/macro/0", 2), elite("g2/macro/0", 2)) == (set(), set())
    assert given_up(policy) == ["g1/macro/0/e0"]


def test_a_fact_without_a_recording_is_nothing() -> None:
    assert RetentionPolicy().apply(scored("g1/macro/0")) is NOTHING


@settings(PATIENT, max_examples=60)
@given(seed=st.integers(0, 10**6), generations=st.integers(1, 4), slots=st.integers(1, 5), keep_all=st.booleans())
def test_every_recording_has_one_fate_and_what_is_needed_has_none(
    seed: int, generations: int, slots: int, keep_all: bool
) -> None:
    draw, policy, fate = random.Random(seed), RetentionPolicy(keep_all=keep_all), []
    for fact in START:
        policy.apply(fact)
    best, whole = "init/0", []
    for generation in range(1, generations + 1):
        names = [f"g{generation}/macro/{slot}" for slot in range(slots)]
        for name in names:
            whole.append(f"{name}/e0")
            policy.apply(episode(f"{name}/e0", fault=CRASH if draw.random() < 0.3 else None))
            policy.apply(scored(name, generation, draw.random()))
        best = draw.choice([*names, best])
        change = policy.apply(elite(best, generation))
        assert not (keep_all and (change.dropped or change.shortened))
        fate += change.dropped
    fate += given_up(policy)
    assert sorted(fate) == sorted(set(whole) - {f"{best}/e0"})
    assert given_up(policy) == []
