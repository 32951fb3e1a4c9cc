"""The end of a conversation: what is left is stated, and without a submission its best draft is handed in."""

from dataclasses import replace

import pytest
from memento.agents.proposers import Aids, HillClimber
from memento.agents.stand_in import stand_in
from memento.agents.writing import Answers
from memento.core.errors import ModelError
from memento.core.events import ProposalFailed, ProposalMade, TurnTaken
from memento.core.faults import FaultKind
from memento.core.turns import BUDGET_LEFT, Conversation, Draft, Turn, without_budget
from memento.core.values import Document, Episode, Operator, Program
from memento.models.tape import same_prompt
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, CRASH, OTHER, POLICY, Scripted, candidate, program_reply, propose

BETTER = Program(POLICY.text.replace("GAIN = 0.8", "GAIN = 0.9"))
WORSE = Program(POLICY.text.replace("GAIN = 0.8", "GAIN = 0.7"))
SPACED = Program(POLICY.text + "\n\n")


def draft(program: Program, fitness: float, *, faulty: bool = False) -> Draft:
    episode = Episode(index=0, seed=1, steps=7, ended_by="horizon", success=False, fault=CRASH if faulty else None)
    return Draft(program=program, episode=episode, fitness=fitness)


def so_far(*drafts: Draft, turns_left: int = 0) -> Conversation:
    turns = tuple(Turn(said="Tool: try_program", answer="tried") for _ in drafts)
    return Conversation(
        turns=turns, drafts=drafts, turns_left=turns_left, practice=3, practice_left=2, practice_cpu_s=12.34
    )


async def last(conversation: Conversation, *replies: str, repairs: int = 0, budget: str = ""):
    """The fact of the next reply in this conversation, and the prompts."""
    model = Scripted(lambda ask: replies[min(ask.attempt, len(replies) - 1)])
    climber = HillClimber(
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="",
        answers=Answers(edits="patch", repairs=repairs), aids=Aids(budget=lambda: budget),
        practice_cpu="9 s of CPU time",
    )
    fact = await climber.carry_out(replace(propose(Operator.HILL_CLIMB, candidate()), conversation=conversation))
    return fact, [ask.prompt for ask in model.asked]


DRAFTS = {
    "the best": ((draft(WORSE, 0.2), draft(BETTER, 0.6), draft(OTHER, 0.5)), 2),
    "the last of equal ones": ((draft(WORSE, 0.6), draft(BETTER, 0.6)), 2),
    "by its mean": ((draft(BETTER, 0.9), draft(WORSE, 0.6), draft(BETTER, 0.1)), 2),
    "a fault counts less than nothing": ((draft(WORSE, 0.0), draft(BETTER, 0.0, faulty=True)), 1),
    "a fault in one of its episodes": ((draft(BETTER, 1.0), draft(WORSE, 0.1), draft(BETTER, 0.0, faulty=True)), 2),
    "else the last one": ((draft(WORSE, 0.0, faulty=True), draft(BETTER, 0.0, faulty=True)), 2),
    "never a parent": ((draft(POLICY, 1.0), draft(SPACED, 1.0), draft(WORSE, 0.1)), 3),
    "none": ((draft(POLICY, 1.0),), None),
}


@pytest.mark.parametrize(("drafts", "number"), DRAFTS.values(), ids=DRAFTS.keys())
def test_which_draft_stands_in(drafts: tuple[Draft, ...], number: int | None) -> None:
    found = stand_in(drafts, [POLICY])
    assert (None if found is None else found.number) == number


UNUSABLE = {
    "prose": "I give up.",
    "a call of a tool": "Tool: look_closer\nRecording: draft 1\n",
    "one more draft": f"Tool: try_program\n\n````python\n# whole program\n{OTHER.text}````\n",
    "an unknown tool": "Tool: fly\n",
    "a draft that does not exist": "Tool: submit\nDraft: 9\n",
    "no Python": "Summary: x\n\n```python\nclass (\n```\n",
    "nothing": "",
}


@pytest.mark.parametrize("text", UNUSABLE.values(), ids=UNUSABLE.keys())
@pytest.mark.parametrize("repairs", [0, 1])
async def test_a_conversation_without_a_submission_hands_its_best_draft_in(text: str, repairs: int) -> None:
    fact, prompts = await last(so_far(draft(WORSE, 0.2), draft(BETTER, 0.6)), text, repairs=repairs)
    assert isinstance(fact, ProposalMade), fact
    assert fact.program == BETTER and fact.practised == 2
    assert fact.summary.startswith("draft 2 of a conversation that ended without a submission")
    assert len(fact.earlier) == len(prompts) - 1, "every answer that was paid for is on record"
    assert "draft 2 is submitted as it is: the best in practice so far, f_e = 0.6000." in prompts[0]


async def test_a_draft_is_submitted_with_the_changes_of_a_patch() -> None:
    patch = "```python\n# patch\nclass CartPolicy:\n    GAIN = 1.2\n```\n"
    fact, _ = await last(so_far(draft(WORSE, 0.2), draft(OTHER, 0.6)), f"Tool: submit\nDraft: 1\nSummary: s\n\n{patch}")
    assert isinstance(fact, ProposalMade)
    assert "GAIN = 1.2" in fact.program.text and "class Cart" in fact.program.text and fact.summary == "s"
    assert fact.program.text.splitlines()[-3:] == WORSE.text.splitlines()[-3:]


async def test_a_submission_a_failed_call_and_a_conversation_without_drafts() -> None:
    drafts = so_far(draft(BETTER, 0.6))
    fact, _ = await last(drafts, program_reply())
    assert isinstance(fact, ProposalMade) and fact.program == OTHER, "a submission counts, whatever practice said"
    fact, _ = await last(so_far(draft(POLICY, 0.9)), UNUSABLE["one more draft"])
    assert isinstance(fact, ProposalMade) and fact.program == OTHER, "the last program that the model sent"
    fact, prompts = await last(so_far(), "I give up.")
    assert isinstance(fact, ProposalFailed) and "If you submit nothing, this proposal is lost." in prompts[0]

    def fails(_: object) -> str:
        raise ModelError("the service is gone")

    climber = HillClimber(model=Scripted(fails), prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="")
    fact = await climber.carry_out(replace(propose(Operator.HILL_CLIMB, candidate()), conversation=drafts))
    assert isinstance(fact, ProposalFailed) and fact.fault.kind is FaultKind.MODEL_FAILED


async def test_each_turn_states_what_is_left_and_a_replay_needs_no_budget() -> None:
    conversation = so_far(draft(BETTER, 0.6), turns_left=3)
    fact, (prompt,) = await last(conversation, "Tool: fly\n", budget="12 calls, 34 s")
    assert isinstance(fact, TurnTaken)
    end = prompt.rpartition("## Now")[2]
    assert end.split("\n\n", 1)[1] == (
        "Left: 3 tool calls, 2 practice episodes. The tools have used 12 s of CPU time so far. Reply with one tool "
        "call, or submit. If the calls end and you submit nothing, draft 1 is submitted as it is: the best in practice "
        f"so far, f_e = 0.6000.\n{BUDGET_LEFT}12 calls, 34 s.\n"
    )
    assert "the same number is the same episode again. Each may use 9 s of CPU time." in prompt
    _, (later,) = await last(conversation, "Tool: fly\n")
    assert later == without_budget(prompt) != prompt
    assert same_prompt(Document(prompt), later) and not same_prompt(Document(prompt), later.replace("12 s", "13 s"))
