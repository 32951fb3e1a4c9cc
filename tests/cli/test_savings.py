"""Duplicates and speculative climbs in `show` and on the screen: counts, the story, single candidates."""

import random
from dataclasses import replace
from pathlib import Path

from memento.cli.show_candidate import describe_record
from memento.cli.show_run import describe_run
from memento.core.events import (
    DuplicateFound,
    Fact,
    ProposalMade,
    RunStarted,
    SpeculationEnded,
)
from memento.core.text import plural
from memento.core.values import Program
from memento.memory.lookup import Policy, look_up
from memento.memory.run_view import view_of_facts
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import GenerationBudget
from memento.search.parts.speculation import SpeculationSettings
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer
from memento.tui.lines import lines_of
from memento.tui.live_view import LiveView
from memento.tui.snapshot import RunSnapshot, search_slots

from ..support.keeper_world import Repeating, play

N_ROLL = 3
PLAN = RunPlan(
    method=KEEPERS["memento"],
    slots=GenerationBudget(generations=3, hill_climb=4, macro=3, crossover=2),
    search=RolloutPlan(
        split="search", seeds=tuple(range(N_ROLL)), evaluator=Program("E"), racing=True, duplicates=True
    ),
    final_seeds=(),
    choices=PAPER.but(SpeculationSettings(speculation=True)),
    initial=Program("program = 0\n"),
    reference=None,
)
SETTINGS = {
    "domain": "toy", "method": "memento", "generations": 3, "k_hc": 4, "k_macro": 3, "k_cross": 2, "n_roll": N_ROLL,
}


def log(seed: int = 2) -> list[Fact]:
    log, last = play(Sequencer(PLAN), Repeating(seed, failure_rate=0.1, levels=8), random.Random(seed).randrange)
    assert not last.orders
    return [RunStarted(settings=SETTINGS, versions={}), *log]


def of(facts: list[Fact], kind: type) -> list:
    return [fact for fact in facts if isinstance(fact, kind)]


def test_every_episode_is_run_or_saved_and_each_saving_is_owed_to_something() -> None:
    for seed in range(6):
        facts = log(seed)
        view = view_of_facts(facts)
        status = view.status
        ahead = order_of_slots(facts)
        proposed = {fact.order for fact in of(facts, ProposalMade)}
        settled = [slot.id for slot in view.slots.candidates.values() if slot.settled]
        programs = [key for key in settled if ahead.get(key, key) in proposed]
        assert status.episodes + status.episodes_saved == N_ROLL * (1 + len(programs))
        assert status.duplicates == len(of(facts, DuplicateFound)) > 0
        assert 0 < status.saved_by_duplicates <= status.episodes_saved
        assert status.speculative == len(of(facts, SpeculationEnded)) > 0
        assert status.speculative_kept == len(ahead)


def order_of_slots(facts: list[Fact]) -> dict[str, str]:
    """The speculative orders that were kept, by slot."""
    return {fact.slot: str(fact.order) for fact in of(facts, SpeculationEnded) if fact.kept}


def stored(folder: Path, facts: list[Fact]) -> RunStore:
    store = RunStore.create(folder / "a", clock=SystemClock())
    store.append(facts)
    return store


def test_a_duplicate_is_shown_with_the_episodes_of_the_other(tmp_path: Path) -> None:
    facts = log()
    slots = view_of_facts(facts).slots.candidates
    found = next(fact for fact in of(facts, DuplicateFound) if slots[fact.candidate].fitness is not None)
    assert slots[found.candidate].same_as == found.of
    assert slots[found.candidate].rolled < N_ROLL
    with stored(tmp_path, facts) as store:
        record = look_up(store, found.candidate)
    assert isinstance(record, Policy)
    assert record.duplicate_of == found.of
    lines = [*describe_record(record, None, parts=())]
    assert f"  the same program as {found.of}: it shares that program's episodes" in lines
    assert [episode.index for episode, _ in record.episodes if episode is not None] == list(range(N_ROLL))
    assert all(score is not None or episode.fault is not None for episode, score in record.episodes)
    assert "episodes" in lines


def test_a_speculative_climb_is_shown_with_its_prompt(tmp_path: Path) -> None:
    facts = log()
    slot, order = next(iter(order_of_slots(facts).items()))
    with stored(tmp_path, facts) as store:
        assert [row.order for row in look_up(store, slot).calls] == [order]


def test_the_story_says_what_was_saved_and_speculative() -> None:
    facts = log()
    view = view_of_facts(facts)
    status = view.status
    text = "\n".join(describe_run(view, folder=Path("runs/a"), live=False, width=120))
    assert f"{status.episodes_saved} saved ({status.saved_by_duplicates} by {status.duplicates} duplicate" in text
    assert status.speculative and status.speculative_kept
    assert f"{plural(status.speculative, 'speculative climb')}, {status.speculative_kept} kept" in text
    found = of(facts, DuplicateFound)[0]
    assert lines_of(found, view, now=None) == (
        f"   {found.candidate}: the same program as {found.of}, whose F it has",
    )


def test_the_screen_shows_a_speculative_slot_until_it_is_withdrawn() -> None:
    live = LiveView()

    def states() -> dict[str, str]:
        slots, note = live.view.slots, live.under_way.note(0.0)
        return {slot.id: slot.state for slot in search_slots(RunSnapshot(slots=slots, note=note))}

    live.under_way.begin("g1/hill/1/ahead", 0.0)
    assert states() == {"g1/hill/1": "asked"}
    kept = SpeculationEnded(order="g1/hill/1/ahead", slot="g1/hill/1", kept=True, answered=False)
    live.on_fact(kept, 0.0)
    assert states() == {"g1/hill/1": "asked"}
    live.on_fact(replace(kept, kept=False), 0.0)
    assert states() == {}
