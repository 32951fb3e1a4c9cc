"""Proposals as conversations: what practice showed decides what is tried next, kept and submitted."""

import random
from dataclasses import replace

from memento.core.turns import Conversation, Draft
from memento.core.values import Episode, EpisodeNotes, Operator, Program, Score
from memento.models.offline.edits import Workshop
from memento.models.offline.repairing import ENOUGH, HASTE, PATIENCE, bench_of, edits_against, next_turn

from .orders import SHELF, candidate, proposal

P0 = SHELF.initial.text
WORKSHOP = Workshop(SHELF)


def draft(text: str, *, number: int = 0, fitness: float = 0.2, steps: int = 90, **signs: float) -> Draft:
    notes = EpisodeNotes(report=signs)
    episode = Episode(index=number, seed=number, steps=steps, ended_by="horizon", success=False, notes=notes)
    return Draft(program=Program(text), episode=episode, fitness=fitness)


def turn(*drafts: Draft, seed: int = 0, left: int = 9, parent: str = P0, scores: tuple[Score, ...] = ()):
    conversation = Conversation(turns_left=left, practice_left=left, practice=ENOUGH, drafts=drafts)
    order = proposal(Operator.HILL_CLIMB, replace(candidate(parent), scores=scores))
    return next_turn(replace(order, conversation=conversation), WORKSHOP, random.Random(seed), first=3)


def test_a_climb_first_practises_its_parent():
    text, _, number = turn()
    assert (text, number) == (P0, 3)


def test_an_edit_is_meant_against_what_the_report_says_and_tried_in_the_same_episode():
    edited = set()
    for seed in range(8):
        text, _, number = turn(draft(P0, number=5, not_closed=1.0), seed=seed)
        source = WORKSHOP.read(text)
        edited |= {part.name for part in SHELF.parts
                   if part.kind == "method" and source.shape(part.name) != WORKSHOP.read(P0).shape(part.name)}
        assert number == 5 and text != P0
    against = {part.name for part in SHELF.parts if "not_closed" in part.signs}
    assert edited and edited <= against


def test_what_is_worse_is_not_kept_and_what_is_better_is():
    text, _, _ = turn(draft(P0, number=5, not_closed=1.0))
    worse = bench_of((draft(P0, not_closed=1.0), draft(text, fitness=0.1, not_closed=1.0)), WORKSHOP)
    better = bench_of((draft(P0, not_closed=1.0), draft(text, fitness=0.4, cube_astray=1.0)), WORKSHOP)
    assert worse.text == P0 and worse.failures[0]
    assert better.text == text and not better.failures


def test_an_edit_without_effect_is_kept_after_a_failure_and_not_after_a_success():
    failure, success = draft(P0, not_closed=1.0), draft(P0, fitness=1.0, not_closed=1.0)
    text, _, _ = turn(failure)
    assert bench_of((failure, draft(text, not_closed=1.0)), WORKSHOP).text == text
    assert bench_of((success, draft(text, fitness=1.0, not_closed=1.0)), WORKSHOP).text == P0


def test_an_edit_that_ends_the_trouble_that_came_first_is_kept_unless_the_episode_ended_sooner():
    failure = draft(P0, not_closed=1.0, beside_hole=0.5)
    text, _, _ = turn(failure)
    others = [draft(text, fitness=0.19, nothing_grasped=1.0, late_descend=1.0),
              draft(text, fitness=0.19, not_closed=1.0, buried=1.0), draft(text, fitness=0.19, steps=9, buried=0.5)]
    assert [bench_of((failure, other), WORKSHOP).text == text for other in others] == [True, False, False]


def test_what_succeeded_elsewhere_is_given_up_for_a_clear_gain_alone():
    failure, success = draft(P0, number=1, not_closed=1.0), draft(P0, number=2, fitness=1.0)
    text, _, _ = turn(failure)
    for fitness, kept in ((0.2, False), (0.4, True)):
        drafts = (success, failure, draft(text, number=1, fitness=fitness))
        assert (bench_of(drafts, WORKSHOP).text == text) is kept


def test_a_success_with_trouble_is_repaired_after_failures_and_with_less_patience():
    failure, success = draft(P0, number=1, not_closed=1.0), draft(P0, number=2, fitness=1.0, not_closed=1.0)
    text, _, number = turn(success)
    assert text != P0 and number == 2
    text, _, number = turn(success, failure)
    assert text != P0 and number == 1
    vain = [draft(turn(success, seed=seed)[0], number=2, fitness=0.9, not_closed=1.0) for seed in range(HASTE)]
    text, _, number = turn(success, *vain)
    assert text == P0 and number not in (1, 2)


def test_what_was_kept_by_mistake_can_be_undone():
    swap = next(edit for part, edits in WORKSHOP.swaps(WORKSHOP.read(P0)) for edit in edits if part.name == "fingers")
    source = WORKSHOP.read(WORKSHOP.read(P0).edited((swap,), "test"))
    (first,) = (part.alternatives[0] for part in SHELF.parts if part.name == "fingers")
    weights = {edit.text: weight for edit, weight in edits_against({"not_closed": 1.0}, source, WORKSHOP)}
    assert 0 < weights[first] < max(weights.values())


def test_no_program_is_tried_twice():
    drafts = [draft(P0, not_closed=1.0)]
    for seed in range(PATIENCE - 1):
        text, _, _ = turn(*drafts, seed=seed)
        assert text not in {each.program.text for each in drafts}
        drafts.append(draft(text, fitness=0.0, not_closed=1.0))


def test_a_parent_without_a_flaw_is_practised_elsewhere_and_submitted_as_it_is():
    perfect = [draft(P0, number=number, fitness=1.0) for number in range(ENOUGH)]
    _, _, number = turn(*perfect[:4])
    assert number not in range(4) and number is not None
    text, _, number = turn(*perfect, scores=(Score(fitness=1.0),))
    assert (text, number) == (P0, None)


def test_a_conversation_that_has_to_end_submits_what_it_kept():
    text, _, _ = turn(draft(P0, not_closed=1.0))
    said, _, number = turn(draft(P0, not_closed=1.0), draft(text, fitness=0.4), left=0)
    assert (said, number) == (text, None)
