"""A policy's times, and the counts of a budget of episodes and of confirmations, from the facts of a run."""

from pathlib import Path

from memento.cli.show_run import describe_run
from memento.core.events import (
    DuplicateFound,
    EliteChanged,
    EliteConfirmed,
    EpisodeEnded,
    Fact,
    RolledAhead,
    RunStarted,
)
from memento.core.values import CallTimes, Episode, EpisodeNotes, Operator
from memento.memory.pace import Pace, SlowCandidates, pace_of, slow_candidates, start_up_s
from memento.memory.run_view import view_of_facts


def ended(order: str, median_ms: float | None, *, wall_s: float = 1.0) -> Fact:
    times = None if median_ms is None else CallTimes(
        median_ms=median_ms, p99_ms=3 * median_ms, most_ms=9.0, start_ms=9.0
    )
    return EpisodeEnded(order=order, episode=Episode(
        index=0, seed=1, steps=2, ended_by="horizon", success=False, wall_s=wall_s, notes=EpisodeNotes(times=times),
    ))


def changed(candidate: str, generation: int) -> Fact:
    return EliteChanged(
        generation=generation, candidate=candidate, origin=Operator.MACRO, fitness=0.5, success_rate=0.0
    )


def verdict(generation: int, *, confirmed: bool) -> Fact:
    return EliteConfirmed(
        generation=generation, candidate="g1/macro/0", elite="init/0", episodes=2, candidate_fitness=0.5,
        elite_fitness=0.4, confirmed=confirmed,
    )


FACTS = (
    RunStarted(settings={"budget_episodes": 9, "confirm_episodes": 2, "method": "memento"}, versions={}),
    ended("init/0/e0", 1.0), changed("init/0", 0),
    ended("g1/macro/0/e0", 2.0, wall_s=3.0), ended("g1/macro/0/e1", 4.0), ended("g1/macro/0/e2", None),
    DuplicateFound(candidate="g1/macro/1", of="g1/macro/0", episodes=3),
    ended("confirm/g1/candidate/e0", 100.0), ended("confirm/g1/elite/e0", 100.0),
    verdict(1, confirmed=True), changed("g1/macro/0", 1), verdict(2, confirmed=False), ended("final/elite/e0", 7.0),
)


def rolled(order: str, median_ms: float, steps: int) -> Fact:
    times = CallTimes(median_ms=median_ms, p99_ms=median_ms, most_ms=median_ms, start_ms=500.0)
    return EpisodeEnded(order=order, episode=Episode(
        index=0, seed=1, steps=steps, ended_by="horizon", success=False, wall_s=1.0, notes=EpisodeNotes(times=times),
    ))


def test_candidates_that_need_far_more_time_than_others_are_named(tmp_path: Path) -> None:
    facts = [changed("init/0", 0)]
    facts += [rolled(f"g1/macro/{place}/e0", 1.0, 500) for place in range(4)]       # 1 s an episode
    facts += [rolled("g1/hill/0/e0", 10.0, 1000), rolled("g1/hill/0/e1", 10.0, 500)]   # 10.5 s and 5.5 s
    facts += [rolled("g1/hill/1/e0", 2.0, 1000)]        # 2.5 s: slower, but not slow
    view = view_of_facts(facts)
    slow = slow_candidates(view.slots)
    assert slow == SlowCandidates(each_s={"g1/hill/0": 8.0}, usual_s=1.0, share=16 / 22.5)
    text = "\n".join(describe_run(view, folder=tmp_path, live=False, width=100))
    assert "1 slow candidate took 71 % of the policies' CPU time; an episode takes" in text
    assert "g1/hill/0 8 s; candidates mostly 1 s" in text
    quick = view_of_facts([rolled(f"g1/macro/{place}/e0", 0.01 * 9**place, 100) for place in range(3)])
    assert not slow_candidates(quick.slots).each_s, "nobody waits for what takes less than a second"
    assert slow_candidates(view_of_facts([]).slots) == SlowCandidates()


def test_the_pace_of_a_policy_and_of_a_duplicate() -> None:
    slots = view_of_facts(FACTS).slots
    pace = Pace(median_ms=3.0, p99_ms=12.0, episode_s=5 / 3)
    assert pace_of(slots, "g1/macro/0") == pace_of(slots, "g1/macro/1") == pace
    assert pace_of(slots, "g9/hill/0") is None
    assert not [key for key in slots.candidates if key.startswith("confirm/")], "no candidates of the search"


def test_the_start_of_simulators_is_apart_from_the_time_of_an_episode() -> None:
    facts = [RunStarted(settings={"workers": 2}, versions={}), changed("init/0", 0)]
    facts += [ended(f"init/0/e{place}", 1.0, wall_s=wall_s) for place, wall_s in enumerate((154.0, 154.0, 1.5))]
    facts += [ended(f"g1/macro/{place}/e0", 1.0, wall_s=1.0) for place in range(9)]
    view = view_of_facts(facts)
    pace = pace_of(view.slots, "init/0")
    assert pace is not None and pace.episode_s == 1.5
    assert start_up_s(view.slots, 2) == 306.0
    slow = view_of_facts([*facts, *[ended("g1/hill/0/e0", 1.0, wall_s=20.0)] * 3])
    steady = pace_of(slow.slots, "g1/hill/0")
    assert steady is not None and steady.episode_s == 20.0, "all of its episodes are slow"
    text = "\n".join(describe_run(view, folder=Path("runs/a"), live=False, width=400))
    assert "1.5 s an episode" in text


def test_the_counts_and_their_words() -> None:
    view = view_of_facts(FACTS)
    status = view.status
    assert (status.episodes, status.search_episodes, status.confirmations, status.refuted) == (7, 6, 2, 1)
    text = "\n".join(describe_run(view, folder=Path("runs/a"), live=False, width=100))
    assert "6 of the 9 that the search may run" in text
    assert "1 of 2 challengers became the elite, on at most 2 fresh episodes" in text
    assert "3 ms a call, 99 % 12 ms" in text
    assert "; 1.7 s an episode" in text and "; 1 s an episode" in text


def test_what_idle_workers_rolled_out_ahead_and_what_of_it_was_for_nothing() -> None:
    first = RolledAhead(episodes=12, used=0, aborted=3, worker_s=40.0, used_s=0.0)
    second = RolledAhead(episodes=6, used=10, aborted=0, worker_s=20.0, used_s=35.0)
    view = view_of_facts([*FACTS, first, second])
    assert (view.status.ahead, view.status.ahead_used) == (18, 10)
    assert view.status.search_episodes == view_of_facts(FACTS).status.search_episodes, "they count when ordered"
    text = " ".join(" ".join(describe_run(view, folder=Path("runs/a"), live=False, width=100)).split())
    assert "idle workers rolled 18 episodes out ahead in 1 min 00 s, 10 were used, 25.0 s were for nothing" in text
    without = describe_run(view_of_facts(FACTS), folder=Path("runs/a"), live=False, width=400)
    assert "out ahead" not in "\n".join(without)
