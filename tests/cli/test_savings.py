"""What is shown of duplicates and of speculative climbs: counts, the story, single candidates, the screen."""

import random
from dataclasses import replace
from pathlib import Path

from memento.agents.keepers.by_method import KEEPERS
from memento.agents.keepers.memento import Slots
from memento.agents.keepers.options import SearchOptions
from memento.agents.keepers.sequencer import RunPlan, Sequencer
from memento.cli.show_candidate import look_up, tell_item
from memento.cli.show_run import Standing, tell_story
from memento.core.events import (
    DuplicateFound,
    Fact,
    ProposalMade,
    RunStarted,
    SpeculationEnded,
)
from memento.core.values import Program
from memento.memory.queries import list_candidates, order_of_slots, sources_of, summarise
from memento.tui.lines import lines_of
from memento.tui.live.slots import Live, begun, heed
from memento.tui.view import View

from ..support.keeper_world import Repeating, play

N_ROLL = 3
PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=Slots(generations=3, hill_climb=4, macro=3, crossover=2),
    search_seeds=tuple(range(N_ROLL)),
    final_seeds=(),
    racing=True,
    duplicates=True,
    options=SearchOptions(speculation=True),
    initial=Program("program = 0\n"),
    evaluator=Program("E"),
    reference=None,
)
SETTINGS = {
    "domain": "toy", "method": "memento", "generations": 3, "k_hc": 4, "k_macro": 3, "k_cross": 2, "n_roll": N_ROLL,
}


def told(seed: int = 2) -> list[Fact]:
    log, last = play(Sequencer(PLAN), Repeating(seed, failure_rate=0.1, levels=8), random.Random(seed).randrange)
    assert not last.orders
    return [RunStarted(settings=SETTINGS, versions={}), *log]


def of(facts: list[Fact], kind: type) -> list:
    return [fact for fact in facts if isinstance(fact, kind)]


def test_every_episode_is_run_or_saved_and_each_saving_is_owed_to_something() -> None:
    for seed in range(6):
        facts = told(seed)
        summary = summarise(facts)
        ahead = order_of_slots(facts)
        proposed = {fact.order for fact in of(facts, ProposalMade)}
        programs = [row for row in list_candidates(facts) if ahead.get(row.id, row.id) in proposed]
        assert summary.episodes_run + summary.episodes_saved == N_ROLL * (1 + len(programs))
        assert summary.duplicates == len(of(facts, DuplicateFound)) > 0
        assert 0 < summary.saved_by_duplicates <= summary.episodes_saved
        assert summary.asked_ahead == len(of(facts, SpeculationEnded)) > 0
        assert summary.kept_ahead == len(ahead)


def test_a_duplicate_is_shown_with_the_episodes_of_the_other() -> None:
    facts = told()
    rows = {row.id: row for row in list_candidates(facts)}
    found = next(fact for fact in of(facts, DuplicateFound) if rows[fact.candidate].fitness is not None)
    assert rows[found.candidate].duplicate_of == found.of
    assert rows[found.candidate].episodes < N_ROLL
    assert sources_of(facts)[found.candidate][-1] == found.of
    item = look_up(facts, found.candidate)
    assert f"the same program as {found.of}: it has the episodes of that one" in item.head
    assert [episode.index for episode, _ in item.episodes] == list(range(N_ROLL))
    assert all(score is not None or episode.fault is not None for episode, score in item.episodes)
    assert any("episodes" in line for line in tell_item(item, parts=()))


def test_a_climb_that_was_asked_ahead_is_shown_with_its_prompt() -> None:
    facts = told()
    slot, order = next(iter(order_of_slots(facts).items()))
    assert [row.order for row in look_up(facts, slot).calls] == [order]


def test_the_story_says_what_was_saved_and_asked_ahead() -> None:
    facts = told()
    summary = summarise(facts)
    lines = [*tell_story(facts, Standing(folder=Path("runs/a"), live=False), width=120)]
    said = "\n".join(lines)
    assert f"{summary.episodes_saved} saved ({summary.saved_by_duplicates} by {summary.duplicates} duplicate" in said
    assert f"climbs asked ahead, {summary.kept_ahead} kept" in said
    found = of(facts, DuplicateFound)[0]
    assert lines_of(found, View(settings=SETTINGS), now_s=None) == (
        f"   {found.candidate}: the same program as {found.of}, not rolled out again",
    )


def test_the_screen_shows_a_slot_asked_ahead_until_it_is_withdrawn() -> None:
    live = begun(Live(), "g1/hill/1/ahead")
    assert live.slots["g1/hill/1"].state == "asked"
    kept = SpeculationEnded(order="g1/hill/1/ahead", slot="g1/hill/1", kept=True, answered=False)
    assert heed(live, kept, now_s=0.0).slots["g1/hill/1"].state == "asked"
    assert "g1/hill/1" not in heed(live, replace(kept, kept=False), now_s=0.0).slots
