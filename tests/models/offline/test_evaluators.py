"""The offline evaluator writer and judge, and the shelf's evaluators on recorded episodes."""

import ast
import json
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
from memento.agents.evaluator_evolver import measures_of
from memento.core.events import Judge, ProposeEvaluator
from memento.core.recording import Recording
from memento.core.values import EvaluatorCandidate, Examination, Program, Score
from memento.domains.hanoi_kinematic import DOMAIN
from memento.models.offline.edits import Workshop
from memento.models.offline.source import Edit, ParsedProgram

from .orders import SHELF, answer, program_of, roll, run_class, summary_of

pytestmark = pytest.mark.quick

# Alternatives by a part of their text: the initial program, one that lifts and misses, one that places cubes.
LIFTS = {"fingers": "Half strength", "find_holes": "world's y axis", "place_z": "A fixed height"}
PLACES = {"fingers": "Half strength", "grasp_z": "worked out", "observe": "Average each"}
SKILLS: tuple[dict[str, str], ...] = ({}, LIFTS, PLACES)


def episode(seed: int, skills: int) -> Recording:
    """A short episode of a program with some skills."""
    workshop = Workshop(SHELF)
    edits = tuple(
        Edit(name=name, summary=name, text=next(text for text in workshop.parts[name].alternatives if words in text))
        for name, words in SKILLS[skills].items()
    )
    program = Program(workshop.read(SHELF.initial.text).edited(edits, "test"))
    environment = DOMAIN.environment(DOMAIN.options({"horizon": 250, "randomisation": "light"}, preset="paper"))
    roll(environment, program, seed)
    return environment.recording()


@cache
def episodes() -> tuple[Recording, ...]:
    """Two episodes per level of skill."""
    return tuple(episode(seed, skills) for skills in range(len(SKILLS)) for seed in (0, 1))


def scored(program: Program) -> list[Score] | None:
    """The scores of all episodes and of truncated ones; None if one of them is invalid."""
    scores = []
    for recording in episodes():
        for part in (recording, recording.cut(0), recording.cut(1), recording.cut(recording.steps // 2)):
            try:
                with np.errstate(all="ignore"):
                    fitness, metrics = run_class(program, "Evaluator").evaluate(part.arrays())
            except (ValueError, IndexError, ZeroDivisionError):
                return None
            if type(fitness) is not float or not 0 <= fitness <= 1:
                return None
            json.dumps(metrics, allow_nan=False)
            if part is recording:
                scores.append(Score(fitness=fitness, metrics=metrics))
    return scores


def title(program: Program) -> str:
    return (ast.get_docstring(ast.parse(program.text)) or "").splitlines()[0]


@cache
def results() -> dict[str, list[Score] | None]:
    return {title(program): scored(program) for program in SHELF.evaluators}


def test_the_shelf_has_valid_and_invalid_evaluators():
    found = results()
    invalid = {name for name, scores in found.items() if scores is None}
    assert invalid == {"Add up what went well.", "Smooth motion of hand and cubes."}
    assert len(found) == 8


def levels(scores: list[Score] | None) -> list[float]:
    """The mean fitness of each level of skill."""
    assert scores is not None
    return [scores[k].fitness + scores[k + 1].fitness for k in range(0, len(scores), 2)]


def test_good_evaluators_rank_progress_as_the_reference_does_and_flat_ones_do_not():
    good = ("Credit for milestones, in the order of the task.", "A score of every step, summed up over the episode.",
            "Stages that build on one another.")
    for scores in (scored(DOMAIN.reference_evaluator()), *(results()[name] for name in good)):
        first, second, third = levels(scores)
        assert first < second < third
    assert len(set(levels(results()["Success or not."]))) == 1


def writer_order(slot: int, parent: EvaluatorCandidate | None = None) -> ProposeEvaluator:
    generation = 0 if parent is None else 1
    return ProposeEvaluator(id=f"eval/g{generation}/{slot}", generation=generation, slot=slot, parent=parent,
                            episodes=(), success_rate=0.0)


def entry(slot: int, program: Program, scores: list[Score]) -> EvaluatorCandidate:
    return EvaluatorCandidate(id=f"eval/g0/{slot}", generation=0, slot=slot, program=program,
                              examination=Examination(scores=tuple(scores)))


def test_the_first_pool_is_dealt_from_the_shelf_and_differs_from_run_to_run():
    pools = [[program_of(answer(writer_order(slot), run_seed=seed)) for slot in range(10)] for seed in (0, 1)]
    assert pools[0] != pools[1]
    assert len({title(Program(text)) for text in pools[0]}) == len(SHELF.evaluators)
    valid = [scored(Program(text)) is not None for text in pools[0]]
    assert 4 <= sum(valid) < 10


def test_later_evaluators_are_changed_parents_that_mostly_work():
    parent = entry(1, SHELF.evaluators[1], [])
    replies = [answer(writer_order(slot, parent)) for slot in range(10)]
    programs = [program_of(reply) for reply in replies]
    assert len(set(programs)) == 10
    assert all(ParsedProgram(text, 'Evaluator').history()[-1] == summary_of(reply)
               for reply, text in zip(replies, programs, strict=True))
    assert sum(scored(Program(text)) is not None for text in programs) >= 7


def test_every_reply_says_what_the_whole_evaluator_measures():
    parent = entry(1, SHELF.evaluators[1], [])
    said = [measures_of(answer(writer_order(slot, parent)).text) for slot in range(4)]
    assert all(each.startswith(title(SHELF.evaluators[1])) for each in said)
    assert len(set(said)) == 4      # their numbers differ


def pool() -> tuple[EvaluatorCandidate, ...]:
    valid = [(program, scores) for program in SHELF.evaluators if (scores := results()[title(program)]) is not None]
    return tuple(entry(slot, program, scores) for slot, (program, scores) in enumerate(valid))


def votes(entries: tuple[EvaluatorCandidate, ...], run_seed: int) -> Counter[int]:
    found = Counter()
    for seat in range(10):
        reply = answer(Judge(id=f"eval/g0/judge/{seat}", generation=0, seat=seat, pool=entries, success_rate=0.0),
                       run_seed=run_seed)
        verdict = json.loads(reply.text)
        assert isinstance(verdict["reason"], str) and verdict["reason"]
        found[verdict["choice"]] += 1
    return found


@pytest.mark.slow
def test_ten_judges_are_not_one_vote_and_do_not_choose_a_flat_evaluator():
    entries = pool()
    flat = next(item.slot for item in entries if item.program and "ATTEMPT" in item.program.text)
    counts = [votes(entries, run_seed) for run_seed in range(6)]
    assert all(set(count) <= {item.slot for item in entries} for count in counts)
    assert sum(len(count) > 1 for count in counts) >= 4
    assert all(count[flat] == 0 for count in counts)
    assert all(count.most_common(1)[0][0] in (0, 1, 2) for count in counts)


def test_a_judge_prefers_an_evaluator_that_tells_episodes_apart():
    distinct = [Score(fitness=value, metrics={"max_lift": value}) for value in (0.1, 0.3, 0.5)]
    same = [Score(fitness=0.3, metrics={"max_lift": value}) for value in (0.1, 0.3, 0.5)]
    text = SHELF.evaluators[0]
    count = votes((entry(3, text, same), entry(7, text, distinct)), 0)
    assert count[7] >= 9


@pytest.mark.parametrize("fitness", [math.nan, 0.5])
def test_a_judge_answers_even_on_poor_material(fitness):
    only = entry(4, SHELF.evaluators[0], [Score(fitness=fitness)])
    assert votes((only,), 0) == Counter({4: 10})
