"""What prompts say where the evaluator moved: its version, edits of earlier ones, and of whom the recordings are."""

from dataclasses import replace

from memento.agents.evaluator_evolver import success_in_words
from memento.agents.memory_text import history, rejections_list
from memento.agents.proposers import HillClimber
from memento.core.values import Operator, Rejection, Verdict
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, LINEAGE, Scripted, candidate, program_reply, propose

LOST = Rejection(
    summary="gain up", candidate="g1/hill/4", fitness_difference=None, reason="lower fitness", verdict=Verdict.REPLACED
)


async def prompt_of(version: int, **settings: object) -> str:
    model = Scripted(lambda _: program_reply())
    texts = {"prompts": PromptFolder(), "brief": BRIEF, "limits": "1 s a call."}
    climber = HillClimber(model=model, contract=CONTRACT, **texts, **settings)
    await climber.carry_out(propose(Operator.HILL_CLIMB, replace(candidate(), version=version)))
    return model.asked[0].prompt


async def test_prompts_name_the_version_of_the_evaluator_once_it_moved() -> None:
    for feedback in ("stories", "metrics"):
        assert "version 2 of the evaluator" in await prompt_of(2, feedback=feedback)
        assert "of the evaluator: it took over" not in await prompt_of(1, feedback=feedback)


def test_an_edit_that_an_earlier_evaluator_rejected_may_be_tried_again() -> None:
    assert rejections_list([LOST], full=True) == (
        "1. gain up -- rejected by an earlier evaluator: it may be worth another try"
    )
    changed = replace(LOST, changed=("GAIN",))
    assert "[rejected by an earlier evaluator before GAIN changed:" in rejections_list([changed], full=True)


def test_a_history_shows_no_fitness_of_an_earlier_version() -> None:
    later = replace(LINEAGE[2], version=2)
    lines = history(replace(candidate(lineage=(*LINEAGE[:2], later)), version=2)).splitlines()
    assert all("kept by an earlier evaluator" in line and "F 0" not in line for line in lines[:2])
    assert "kept by" not in lines[2] and "F 0" in lines[2]


def test_writers_and_judges_know_which_recordings_are_of_later_programs() -> None:
    assert "later" not in success_in_words(0.5, 8)
    assert "From episode 5 on they are of later programs" in success_in_words(0.5, 8, 3)
    assert "From episode 5 on" in success_in_words(None, 8, 3)
