"""The Hanoi shelf: every alternative fits its place, the initial program fails, random programs run and fail."""

import pytest
from memento.core.values import Operator, Program
from memento.domains.hanoi_kinematic import DOMAIN
from memento.models.offline.edits import Workshop
from memento.models.offline.source import Edit, ParsedProgram, alternative_of, fits

from .orders import SHELF, answer, program_of, proposal, roll, run_class

METHODS = [part for part in SHELF.parts if part.kind == "method"]
CONSTANTS = [part for part in SHELF.parts if part.kind == "constant"]


def test_the_initial_program_is_made_of_the_first_alternatives():
    source = ParsedProgram(SHELF.initial.text, "FrankaPolicy")
    for part in METHODS:
        assert source.shape(part.name) == alternative_of(part.alternatives[0]).shape
    for part in CONSTANTS:
        assert source.constants[part.name].text == part.alternatives[0]


@pytest.mark.parametrize("part", METHODS, ids=lambda part: part.name)
def test_every_alternative_is_valid_python_in_its_place(part):
    workshop = Workshop(SHELF)
    source = workshop.read(SHELF.initial.text)
    shapes = set()
    for text in part.alternatives:
        alternative = alternative_of(text)
        assert alternative.name == part.name
        assert fits(alternative, source, {})        # nothing of the frame is missing
        assert len(alternative.title) <= 110        # summaries stay whole in prompts
        program = source.edited((Edit(name=part.name, text=text, summary="test"),), "test")
        assert workshop.read(program).shape(part.name) == alternative.shape
        run_class(Program(program), "FrankaPolicy").reset()
        shapes.add(alternative.shape)
    assert len(shapes) == len(part.alternatives) >= 2


@pytest.mark.parametrize("part", CONSTANTS, ids=lambda part: part.name)
def test_constants_lie_in_their_range(part):
    values = [float(text) for text in part.alternatives]
    assert part.low is not None and part.high is not None
    assert all(part.low <= value <= part.high for value in values)
    assert len(set(values)) == len(values) >= 2


def test_parts_name_metrics_of_the_reference_evaluator():
    text = (DOMAIN.reference_evaluator() or Program("")).text
    for name in {name for part in SHELF.parts for name in part.metrics}:
        kind, _, phase = name.partition("_")
        assert kind in ("max", "final")
        assert f'"{phase}"' in text or f'"{name}"' in text


def test_the_initial_program_fails_everywhere():
    environment = DOMAIN.environment(DOMAIN.options({}, preset="paper"))
    for seed in range(3):
        assert roll(environment, SHELF.initial, seed) in ("horizon", "illegal")
        assert not environment.success()


def test_random_programs_run_and_fail():
    environment = DOMAIN.environment(DOMAIN.options({"horizon": 300}, preset="paper"))
    for slot in range(1, 21):
        program = Program(program_of(answer(proposal(Operator.INITIAL, slot=slot))))
        roll(environment, program, slot)
        assert not environment.success()
