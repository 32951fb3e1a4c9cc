"""The kitchen's shelf: every alternative fits its place, the initial program fails, a good choice succeeds."""

import json
from typing import Any

import pytest
from memento.core.ports import ShelfPart
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen import procedural as generated
from memento.models.offline.edits import Workshop
from memento.models.offline.source import Edit, alternative_of, fits

from .kitchens import environment, play, policy_class

SHELF = DOMAIN.shelf()
METHODS = [part for part in SHELF.parts if part.kind == "method"]
CONSTANTS = [part for part in SHELF.parts if part.kind == "constant"]
# One good choice, identified by a part of each alternative's text.
GOOD = {
    "seek": "that was never visited", "first_way": "every cell free", "peek": "After so many steps",
    "next_goal": "Whichever of Apple", "tidy": "Where it can be done", "way_to": "nearest good cell",
    "aim": "to the object's height", "spoiled": "Where it failed", "unstick": "Look down",
}
GOOD_CONSTANTS = {"SEARCH_TILT": "30", "GLANCE_EVERY": "3", "PATIENCE": "60", "NEAR_M": "1.1"}


def program(methods: dict[str, str], constants: dict[str, str]) -> str:
    workshop = Workshop(SHELF)
    source = workshop.read(SHELF.initial.text)
    edits = [
        Edit(name=name, summary=name, text=next(text for text in workshop.parts[name].alternatives if words in text))
        for name, words in methods.items()
    ]
    edits += [Edit(name=name, text=text, summary=name) for name, text in constants.items()]
    return source.edited(tuple(edits), "test")


def test_the_initial_program_is_made_of_the_first_alternatives() -> None:
    source = Workshop(SHELF).read(SHELF.initial.text)
    for part in METHODS:
        assert source.shape(part.name) == alternative_of(part.alternatives[0]).shape
    for part in CONSTANTS:
        assert source.constants[part.name].text == part.alternatives[0]


@pytest.mark.parametrize("part", METHODS, ids=lambda part: part.name)
def test_every_alternative_is_valid_python_in_its_place(part: ShelfPart) -> None:
    workshop = Workshop(SHELF)
    source = workshop.read(SHELF.initial.text)
    env = environment(generated.load("Kitchen1"), horizon=40)
    shapes = set()
    for text in part.alternatives:
        alternative = alternative_of(text)
        assert alternative.name == part.name
        assert fits(alternative, source, {})        # no name of the template is missing
        assert len(alternative.title) <= 110        # summaries stay whole in prompts
        edited = source.edited((Edit(name=part.name, text=text, summary="test"),), "test")
        play(env, policy_class(edited)(seed=0), index=0)
        good = program({**GOOD, part.name: text}, GOOD_CONSTANTS)
        play(env, policy_class(good)(seed=0), index=0)
        shapes.add(alternative.shape)
    assert len(shapes) == len(part.alternatives) >= 2


@pytest.mark.parametrize("part", CONSTANTS, ids=lambda part: part.name)
def test_constants_lie_in_their_range(part: ShelfPart) -> None:
    values = [float(text) for text in part.alternatives]
    assert part.low is not None and part.high is not None
    assert all(part.low <= value <= part.high for value in values)
    assert len(set(values)) == len(values) >= 2


def test_parts_name_metrics_of_the_reference_evaluator() -> None:
    space: dict[str, Any] = {"__name__": "program"}
    exec(DOMAIN.reference_evaluator().text, space)
    env = environment(generated.load("Kitchen1"), horizon=3)
    play(env, policy_class(SHELF.initial.text)(seed=0), index=0)
    _, metrics = space["Evaluator"]().evaluate(env.recording().arrays())
    assert {name for part in SHELF.parts for name in part.metrics} <= metrics.keys()


@pytest.mark.slow
def test_the_initial_program_fails_everywhere() -> None:
    for number in range(1, 7):
        env = environment(generated.load(f"Kitchen{number}"))
        assert play(env, policy_class(SHELF.initial.text)(seed=0), index=0) == "horizon"


@pytest.mark.slow
def test_a_good_choice_of_parts_succeeds() -> None:
    text = program(GOOD, GOOD_CONSTANTS)
    ends = [
        play(environment(generated.load(f"Kitchen{number}")), policy_class(text)(seed=0), index=0)
        for number in (1, 2, 4, 5, 6)
    ]
    assert ends.count("success") >= 4, ends


def test_its_evaluators_are_of_mixed_quality() -> None:
    recordings = []
    for text in (SHELF.initial.text, program(GOOD, GOOD_CONSTANTS)):
        env = environment(generated.load("Kitchen1"))
        play(env, policy_class(text)(seed=0), index=0)
        recording = env.recording()
        recordings += [recording, recording.cut(0), recording.cut(1), recording.cut(recording.steps // 2)]
    valid = right = 0
    for evaluator in SHELF.evaluators:
        space: dict[str, Any] = {"__name__": "program"}
        exec(evaluator.text, space)
        try:
            results = [space["Evaluator"]().evaluate(recording.arrays()) for recording in recordings]
        except ZeroDivisionError:
            continue
        json.dumps([metrics for _, metrics in results], allow_nan=False)
        if all(0.0 <= fitness <= 1.0 for fitness, _ in results):
            valid += 1
            right += results[4][0] > results[0][0]      # a solved episode scores above a failed one
    assert 4 <= right < valid < len(SHELF.evaluators)
