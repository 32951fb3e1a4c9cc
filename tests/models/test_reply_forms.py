"""A reply, a refusal, a cut and a repair through the real clients over sockets, whole and streamed."""

import pytest
from memento.agents.proposers import HillClimber
from memento.agents.writing import Answers
from memento.core.events import ProposalFailed, ProposalMade
from memento.core.faults import FaultKind
from memento.core.values import Operator, Program
from memento.models import close_model
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CONTRACT, POLICY, candidate, propose
from ..support.services import Act, serving
from .asking import DIALECT, KINDS, client

PATCHED = Program(POLICY.text.replace("GAIN = 0.8", "GAIN = 1.5"))
CLIMB = propose(Operator.HILL_CLIMB, candidate())


def block(code: str, language: str = "python") -> str:
    return f"````{language}\n{code}````\n"


SUMMARY = "I raise the gain.\n\nSummary: gain 0.8 -> 1.5\n\n"
PATCH = SUMMARY + block("# patch\nclass CartPolicy:\n    GAIN = 1.5  # N/m\n")
AMBIGUOUS = SUMMARY + block("GAIN = 1.5\n")

# What is read of a text is the same for every service: tests/agents/test_reply.py has all forms of it.
FORMS: dict[str, tuple[tuple[Act, ...], FaultKind | None]] = {
    "patch": ((Act(text=PATCH),), None),
    "refused": ((Act(finish="refusal"),) * 2, FaultKind.REFUSED),
    "cut off": ((Act(text=PATCH, finish="length"),) * 2, FaultKind.TRUNCATED),
    "repaired": ((Act(text=AMBIGUOUS), Act(text=PATCH)), None),
}


@pytest.mark.parametrize("stream", [pytest.param(False, marks=pytest.mark.slow), True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_every_form_of_a_reply(kind: str, stream: bool) -> None:
    for name, (acts, fault) in FORMS.items():
        async with serving(*acts, dialect=DIALECT[kind]) as service:
            model = client(kind, service.url, stream=stream)
            climber = HillClimber(
                model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="",
                answers=Answers(edits="patch", repairs=1),
            )
            fact = await climber.carry_out(CLIMB)
            await close_model(model)
        calls = fact.calls
        assert len(service.asked) == len(calls) == len(acts), name
        assert [call.attempt for call in calls] == list(range(len(acts))), name
        if fault is None:
            assert isinstance(fact, ProposalMade), (name, fact)
            assert fact.program == PATCHED, name
        else:
            assert isinstance(fact, ProposalFailed), name
            assert fact.fault.kind is fault, (name, fact.fault)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_an_empty_reply_spends_the_slot(kind: str, stream: bool) -> None:
    """A client may repeat a request for an empty reply by itself; whatever it does, the slot is spent once."""
    async with serving(Act(text=""), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        climber = HillClimber(
            model=model, prompts=PromptFolder(), brief=BRIEF, contract=CONTRACT, limits="",
            answers=Answers(edits="patch", repairs=1),
        )
        fact = await climber.carry_out(CLIMB)
        await close_model(model)
    assert isinstance(fact, ProposalFailed)
    assert fact.fault.kind is FaultKind.EMPTY
    assert len(fact.calls) == 2
