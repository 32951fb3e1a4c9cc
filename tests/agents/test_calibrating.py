"""Replies that hold values of constants, and what a calibration makes of them."""

import pytest
from memento.agents.calibrating import Calibrator, in_words, read_values
from memento.agents.writing import Answers
from memento.core.errors import UsageError
from memento.core.events import ProposalFailed, ProposalMade
from memento.core.faults import Fault, FaultKind
from memento.core.ports import Reply, Rig
from memento.core.programs.calibration import constants_to_calibrate
from memento.core.values import Operator, Program
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, POLICY, Scripted, candidate, propose

PROGRAM = Program("LIFT = 0.02\nSTEPS = 25\nSLOW = True\nODD = 3\nNAMED = 1.5  # tune: 1..2\n")
BOUNDS = {"LIFT": (0.0, 0.1), "STEPS": (5.0, 60.0), "SLOW": (0.0, 1.0)}
CONSTANTS = constants_to_calibrate(PROGRAM, BOUNDS)
RIG = Rig(description="A track.", bounds={"GAIN": (0.1, 2.0)}, one_at_a_time=True)


def reply(text: str, stop: str = "end") -> Reply:
    return Reply(text=text, model="scripted", stop=stop)


@pytest.mark.parametrize(("text", "values"), [
    ('{"LIFT": 0.05}', (0.05, 25.0, 1.0)),
    ('Raise it.\nSummary: higher\n\n```json\n{"LIFT": 0.1, "STEPS": 40, "SLOW": false}\n```\n', (0.1, 40.0, 0.0)),
    ('First {"LIFT": 9}, no: {"STEPS": 30.0}', (0.02, 30.0, 1.0)),
    ("{}", (0.02, 25.0, 1.0)),
    ('{"LIFT": 0.0123456789}', (0.0123457, 25.0, 1.0)),
])
def test_the_last_object_of_a_reply_counts(text: str, values: tuple[float, ...]) -> None:
    assert read_values(reply(text), CONSTANTS) == values


@pytest.mark.parametrize(("text", "why"), [
    ("LIFT should be 0.05", "no JSON object"),
    ('{"LIFT": 0.2}', "LIFT must be a number from 0 to 0.1, not 0.2"),
    ('{"LIFT": NaN}', "LIFT must be a number"),
    ('{"LIFT": "0.05"}', "LIFT must be a number"),
    ('{"LIFT": true}', "LIFT must be a number"),
    ('{"STEPS": 10.5}', "STEPS must be a whole number from 5 to 60"),
    ('{"STEPS": 1e400}', "STEPS must be a whole number"),
    ('{"SLOW": 2}', "SLOW must be true or false"),
    ('{"lift": 0.05}', "'lift', which is none of LIFT, STEPS, SLOW"),
    ('{"NAMED": 1.2}', "'NAMED'"),
])
def test_unusable_values_are_refused_with_the_reason(text: str, why: str) -> None:
    fault = read_values(reply(text), CONSTANTS)
    assert isinstance(fault, Fault) and fault.kind is FaultKind.BAD_VALUES and why in fault.message


def test_a_reply_that_was_cut_off_is_not_read() -> None:
    fault = read_values(reply('{"LIFT": 0.05}', stop="length"), CONSTANTS)
    assert isinstance(fault, Fault) and "not complete" in fault.message


def test_the_changes_in_words() -> None:
    assert in_words(CONSTANTS, (0.05, 25.0, 0.0)) == "LIFT 0.02 → 0.05, SLOW True → False"
    assert in_words(CONSTANTS, (0.02, 25.0, 1.0)) == "nothing changed"


def test_without_bounds_the_ranges_that_the_program_names_count() -> None:
    assert [(each.name, each.low, each.high) for each in constants_to_calibrate(PROGRAM, {})] == [("NAMED", 1.0, 2.0)]


@pytest.mark.parametrize(("program", "bounds", "why"), [
    (PROGRAM, {"GRIP": (0.0, 1.0)}, "no constant 'GRIP' to calibrate; it has LIFT, NAMED, SLOW, STEPS"),
    (Program("LIFT = 0.02\n"), {}, r"\[calibration.bounds\]"),
])
def test_nothing_to_calibrate_is_refused(program: Program, bounds: dict, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        constants_to_calibrate(program, bounds)


async def test_an_unusable_reply_is_asked_again_and_the_values_are_put_into_the_program() -> None:
    answers = iter(['{"GAIN": 7}', 'Summary: faster\n\n```json\n{"GAIN": 1.25}\n```'])
    model = Scripted(lambda ask: next(answers))
    kept: list[str] = []
    calibrator = Calibrator(
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, rig=RIG,
        answers=Answers(repairs=1, keep=lambda fact: kept.append(fact.reason)),
    )
    fact = await calibrator.carry_out(propose(Operator.CALIBRATE, candidate()))
    assert isinstance(fact, ProposalMade)
    assert fact.program.text == POLICY.text.replace("GAIN = 0.8", "GAIN = 1.25")
    assert fact.summary == "GAIN 0.8 → 1.25; faster" and len(fact.earlier) == 1
    assert kept == ["GAIN must be a number from 0.1 to 2, not 7"]
    assert "GAIN must be a number" in model.asked[1].prompt


async def test_without_further_questions_the_step_is_spent() -> None:
    calibrator = Calibrator(
        model=Scripted(lambda ask: "no"), prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, rig=RIG,
    )
    fact = await calibrator.carry_out(propose(Operator.CALIBRATE, candidate()))
    assert isinstance(fact, ProposalFailed) and fact.fault.kind is FaultKind.BAD_VALUES
