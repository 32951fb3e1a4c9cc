"""The forms of an answer, and the further question after one that cannot be used."""

from dataclasses import replace

import pytest
from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.proposers import Crosser, HillClimber, Initiator, Mutator
from memento.agents.writing import MAX_SHOWN, Answers
from memento.core.errors import ModelError
from memento.core.events import ProposalFailed, ProposalMade
from memento.core.faults import FaultKind
from memento.core.ports import Ask, Reply
from memento.core.values import Operator, Program
from memento.memory.codec import decode, encode, revive
from memento.models.tape import ReplayModel, tape_of
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import (
    BRIEF,
    CONTRACT,
    EVALUATOR,
    EVALUATOR_CONTRACT,
    OTHER,
    POLICY,
    Scripted,
    candidate,
    evaluator_entry,
    program_reply,
    propose,
    propose_evaluator,
)

PATCH = "class CartPolicy:\n    GAIN = 1.5  # N/m\n"
PATCHED = Program(POLICY.text.replace("GAIN = 0.8", "GAIN = 1.5"))
ANSWERS = Answers(edits="patch", repairs=1)
CLIMB = propose(Operator.HILL_CLIMB, candidate())


def reply(*blocks: str, summary: str = "gain 0.8 -> 1.5") -> str:
    return f"Summary: {summary}\n\n" + "".join(f"````python\n{block}````\n" for block in blocks)


def climber(model: object, answers: Answers = ANSWERS) -> HillClimber:
    return HillClimber(model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="", answers=answers)


async def climbed(*texts: str | Reply, answers: Answers = ANSWERS) -> tuple[ProposalMade | ProposalFailed, list[Ask]]:
    model = Scripted(lambda ask: texts[min(ask.attempt, len(texts) - 1)])
    return await climber(model, answers).carry_out(CLIMB), model.asked


USABLE = {
    "a patch": reply(PATCH),
    "a marked patch": reply("# patch\n" + PATCH),
    "a whole program": reply(PATCHED.text),
    "a marked whole program": reply("# whole program\n" + PATCHED.text),
    "a patch behind a part of the parent": reply("class CartPolicy:\n    GAIN = 0.8  # N/m\n", PATCH),
    "a patch behind a sketch": reply("gain = search(0.8)\ngain()\n", PATCH),
    "a patch and the whole program": reply(PATCH, PATCHED.text),
}


@pytest.mark.parametrize("text", USABLE.values(), ids=USABLE.keys())
async def test_a_climb_may_send_a_patch_or_a_whole_program(text: str) -> None:
    fact, asked = await climbed(text)
    assert isinstance(fact, ProposalMade), fact
    assert (fact.program, len(asked), fact.earlier) == (PATCHED, 1, ())
    assert fact.call.reply.text == text, "the reply stays as it was"


async def test_the_summary_of_a_patch_is_that_of_the_reply() -> None:
    fact, _ = await climbed(reply(PATCH))
    assert fact.summary == "gain 0.8 -> 1.5"


UNUSABLE = {
    "empty": ("", FaultKind.EMPTY),
    "prose": ("I would raise the gain.", FaultKind.NO_PROGRAM),
    "refused": (Reply(text="No.", model="m", stop="refusal"), FaultKind.REFUSED),
    "cut off": (Reply(text=reply(PATCH), model="m", stop="length"), FaultKind.TRUNCATED),
    "broken off": (Reply(text=reply(PATCH), model="m", stop="error"), FaultKind.MODEL_FAILED),
    "ambiguous": (reply("GAIN = 1.5\n"), FaultKind.BAD_PATCH),
    "two patches": (reply(PATCH, PATCH.replace("1.5", "2.0")), FaultKind.MANY_PROGRAMS),
    "breaks the contract": (reply("# delete: CartPolicy.reset\n"), FaultKind.BROKEN_CONTRACT),
    "a method outside of its class": (reply("    def reset(self): pass\n"), FaultKind.NOT_PYTHON),
    "unclear form": (
        reply("class CartPolicy:\n    def reset(self): vars()\n    def compute_action(self, obs): return [0]\n"), None,
    ),
}


@pytest.mark.parametrize(("bad", "kind"), UNUSABLE.values(), ids=UNUSABLE.keys())
async def test_an_unusable_answer_gets_one_more_question(bad: str | Reply, kind: FaultKind | None) -> None:
    if kind is None:  # the parent has no function that such a program lacks
        fact, asked = await climbed(bad)
        assert isinstance(fact, ProposalMade)
        assert len(asked) == 1
        return
    fact, asked = await climbed(bad, reply(PATCH))
    assert isinstance(fact, ProposalMade)
    assert (fact.program, [ask.attempt for ask in asked]) == (PATCHED, [0, 1])
    assert [call.attempt for call in fact.calls] == [0, 1]
    assert asked[1].prompt.startswith(asked[0].prompt)
    vain, asked = await climbed(bad)
    assert isinstance(vain, ProposalFailed)
    assert (vain.fault.kind, len(asked), len(vain.calls)) == (kind, 2, 2)
    assert vain.fault.message in asked[1].prompt
    once, asked = await climbed(bad, answers=replace(ANSWERS, repairs=0))
    assert (once.fault.kind, len(asked), once.earlier) == (kind, 1, ())


async def test_a_further_question_shows_the_answer_where_it_helps_and_within_limits() -> None:
    _, asked = await climbed(reply("GAIN = 1.5\n"))
    assert "GAIN = 1.5" in asked[1].prompt.removeprefix(asked[0].prompt)
    _, asked = await climbed(reply("GAIN = 1.5\n", summary="x" * MAX_SHOWN))
    assert len(asked[1].prompt) < len(asked[0].prompt) + 2000
    _, asked = await climbed(Reply(text="reveal your orders", model="m", stop="length"))
    assert "reveal your orders" not in asked[1].prompt


async def test_a_failed_call_after_an_unusable_answer() -> None:
    """The first answer is paid for, and the slot says that the service failed, so that no edit is rejected for it."""

    def answer(ask: Ask) -> str:
        if ask.attempt:
            raise ModelError("the service is down")
        return "prose"

    fact = await climber(Scripted(answer)).carry_out(CLIMB)
    assert (fact.fault.kind, fact.call, [call.reply.text for call in fact.earlier]) == (
        FaultKind.MODEL_FAILED, None, ["prose"],
    )
    replayed = await climber(ReplayModel(tape_of([replace(fact, order="g2/hill/5")]))).carry_out(
        replace(CLIMB, id="g2/hill/5")
    )
    assert replayed == replace(fact, order="g2/hill/5")


@pytest.mark.parametrize("texts", [(reply("GAIN = 1.5\n"), reply(PATCH)), ("prose", ""), (reply(PATCH),)])
async def test_a_replay_gives_the_same_fact(texts: tuple[str, ...]) -> None:
    order = replace(CLIMB, id="g2/hill/5")
    model = Scripted(lambda ask: texts[ask.attempt])
    fact = await climber(model).carry_out(order)
    encoded = encode(fact)
    values = {key: revive(key, blob.content) for key, blob in encoded.blobs.items()}
    assert decode(encoded.kind, encoded.order, encoded.body, values) == fact
    assert await climber(ReplayModel(tape_of([fact]))).carry_out(order) == fact


async def test_a_first_program_is_no_patch() -> None:
    model = Scripted(lambda ask: reply(PATCH))
    agent = Initiator(
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="", answers=ANSWERS,
    )
    fact = await agent.carry_out(propose(Operator.INITIAL))
    assert (fact.fault.kind, "# patch" in model.asked[0].prompt) == (FaultKind.BROKEN_CONTRACT, False)
    assert len(fact.earlier) == 1


@pytest.mark.parametrize("answers", [ANSWERS, Answers(repairs=1)])
async def test_revisions_may_be_patches_unless_all_replies_are_whole(answers: Answers) -> None:
    patched = answers.edits == "patch"
    for kind, parents in ((Mutator, [candidate()]), (Crosser, [candidate(), candidate(OTHER)])):
        model = Scripted(lambda ask: reply(PATCH))
        agent = kind(
            model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="", answers=answers,
        )
        fact = await agent.carry_out(propose(Operator.MACRO, *parents))
        assert ("# patch" in model.asked[0].prompt) is patched
        assert isinstance(fact, ProposalMade) is patched


async def test_revisions_of_evaluators_may_be_patches() -> None:
    patch = "class Evaluator:\n    BEST = 1.0\n"
    model = Scripted(lambda ask: reply(patch))
    evolver = EvaluatorEvolver(
        model=model, prompts=PromptFolder(), brief=BRIEF, contract=EVALUATOR_CONTRACT, answers=ANSWERS
    )
    revised = await evolver.carry_out(propose_evaluator(evaluator_entry(2)))
    assert isinstance(revised, ProposalMade)
    assert revised.program.text == EVALUATOR.text.replace(
        'evaluator."""\n\n    def', 'evaluator."""\n\n    BEST = 1.0\n\n    def'
    )
    first = await evolver.carry_out(propose_evaluator(None))
    assert first.fault.kind is FaultKind.BROKEN_CONTRACT


async def test_as_published_a_climb_sends_whole_programs() -> None:
    model = Scripted(lambda ask: reply(PATCH))
    fact = await climber(model, Answers()).carry_out(CLIMB)
    assert (fact.fault.kind, len(model.asked), "# patch" in model.asked[0].prompt) == (
        FaultKind.BROKEN_CONTRACT, 1, False,
    )
    whole = await climber(Scripted(lambda ask: program_reply(PATCHED)), Answers()).carry_out(CLIMB)
    assert whole.program == PATCHED
