"""Episodes of known order in a kitchen: the stages of the planner, and how the reference evaluator ranks them."""

from itertools import islice

import numpy as np
import pytest
from memento.core.evaluator_tests import evaluator_tests_of
from memento.core.probes import staged_order
from memento.core.values import Episode, Probe, Score
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen.known_episodes import BREAD, DONE, HELD, OFF, ON, PLACED, UNDONE


@pytest.mark.slow
@pytest.mark.parametrize("scene", ["Kitchen1", "Kitchen3"])
def test_the_stages_are_on_record_and_the_reference_evaluator_ranks_them(scene: str) -> None:
    options = DOMAIN.options({"scenes": [scene]}, preset="paper")
    made = list(DOMAIN.known_episodes(options, seed=4))
    assert [each.name for each in made] == [HELD, PLACED, ON, BREAD, DONE, UNDONE, OFF]
    assert [each.name for each in made if each.success] == [DONE]
    assert all(each.ended_by == ("success" if each.success else "done") for each in made)
    probes = [
        Probe(name=each.name, below=each.below, episode=Episode(
            index=0, seed=4, steps=each.recording.steps, ended_by=each.ended_by, success=each.success
        )) for each in made
    ]
    space: dict = {}
    exec(DOMAIN.reference_evaluator().text, space)
    scores = [Score(fitness=space["Evaluator"]().evaluate(each.recording.arrays())[0]) for each in made]
    tests = evaluator_tests_of((), (), probes, scores)
    assert len(staged_order((), probes)) >= 10 and tests.pairs >= 12
    assert tests.inversions == 0, dict(zip((each.name for each in made), scores, strict=True))
    again = next(islice(DOMAIN.known_episodes(options, seed=4), 1)).recording
    assert all(np.array_equal(rows, made[0].recording.states[name]) for name, rows in again.states.items())
