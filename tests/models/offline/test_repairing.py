"""Proposals as conversations: what practice showed decides what is tried next, kept and submitted."""

import random
from dataclasses import replace

from memento.core.turns import Conversation, Draft
from memento.core.values import Episode, EpisodeNotes, Operator, Program, Score
from memento.models.offline.edits import Workshop
from memento.models.offline.repairing import ENOUGH, PATIENCE, bench_of, next_turn

from .orders import SHELF, candidate, proposal

P0 = SHELF.initial.text
WORKSHOP = Workshop(SHELF)


def draft(text: str, *, number: int = 0, fitness: float = 0.2, **signs: float) -> Draft:
    notes = EpisodeNotes(report=signs)
    episode = Episode(index=number, seed=number, steps=9, ended_by="horizon", success=False, notes=notes)
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
