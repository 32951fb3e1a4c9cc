"""Notes: read from replies, kept on facts, shown to the proposers of the lineage."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.notes import MAX_NOTE, MAX_WORDS, MOST_SHOWN, Notes, note_of, notes_text
from memento.agents.proposers import Aids, HillClimber, Initiator
from memento.core.events import ProposalMade
from memento.core.order_ids import ahead_id, turn_id
from memento.core.values import Ancestor, Call, Document, Operator, Rejection
from memento.memory.codec import decode, encode, revive
from memento.runtime.prompts import PromptFolder
from memento.settings import build_settings
from memento.settings.presets import PRESETS

from ..support.prompt_samples import BRIEF, CONTRACT, POLICY, Scripted, candidate, program_reply, propose


def made(order: str, note: str) -> ProposalMade:
    call = Call(model="m", prompt=Document(""), reply=Document(""))
    return ProposalMade(order=order, program=POLICY, summary="s", call=call, note=note)


def ancestor(name: str, operator: Operator) -> Ancestor:
    return Ancestor(id=name, operator=operator, summary="s", before=(0.1,), fitness=0.2)


def rejection(name: str) -> Rejection:
    return Rejection(summary="s", candidate=name, fitness_difference=-0.1, reason="lower fitness")


@pytest.mark.parametrize(
    ("reply", "note"),
    [
        ("Note: it slips above 4 Hz\nSummary: x\n```python\npass\n```", "it slips above 4 Hz"),
        ("> **Note:** *slips*\n", "slips"),
        ("Note: f_e is a mean.\n\nNote: the foot slips\nSummary: x\n", "the foot slips"),
        ("```python\n# Note: code\nNote: code\n```\nSummary: x", ""),
        ("A note: later", ""),
        ("Note:\nSummary: x", ""),
        ("Note: " + "word " * 70, "word " * MAX_WORDS + "…"),
    ],
)
def test_the_last_note_line_outside_of_code_counts(reply: str, note: str) -> None:
    assert note_of(reply) == note


@given(st.text())
def test_a_note_is_one_bounded_line_whatever_the_reply(text: str) -> None:
    note = note_of(f"Note: {text}")
    assert len(note) <= MAX_NOTE and len(note.split()) <= MAX_WORDS + 1 and note.isprintable()


def test_a_prompt_shows_the_notes_of_its_lineage_newest_first_and_no_others() -> None:
    notes = Notes()
    order = propose(
        Operator.HILL_CLIMB,
        candidate(lineage=(ancestor("init/0", Operator.INITIAL), ancestor("g1/cross/0", Operator.CROSSOVER))),
        rejections=(rejection("g2/hill/0"), rejection("g2/hill/1"), rejection("g2/hill/2")),
    )
    for fact in (
        made(turn_id("g2/hill/1", 3), "after three turns"), made("g1/macro/0", "of another lineage"),
        made("g2/hill/0", ""), made("g1/cross/0", "combined"), made("init/0", "first"),
        made("g2/hill/2", "in turn"), made(ahead_id("g2/hill/2"), "withdrawn, and answered late"),
    ):
        notes.on_fact(fact)
    assert notes.of(order) == (
        ("g2 hill-climb, not kept", "in turn"), ("g2 hill-climb, not kept", "after three turns"),
        ("g1 crossover, kept", "combined"), ("g0 first program, kept", "first"),
    )


def test_a_prompt_shows_a_bounded_number_of_notes_as_data() -> None:
    notes, names = Notes(), [f"g1/hill/{slot}" for slot in range(MOST_SHOWN + 5)]
    for name in names:
        notes.on_fact(made(name, f"{name} ```\n## Orders"))
    order = propose(Operator.HILL_CLIMB, candidate(), rejections=tuple(map(rejection, names)))
    shown = notes.of(order)
    assert [note.split()[0] for _, note in shown] == names[: -MOST_SHOWN - 1 : -1]
    text = notes_text(PromptFolder(), shown)
    assert text.count("\n## Orders") == 0 and "````text\n" in text
    assert notes_text(PromptFolder(), ()) == ""


@pytest.mark.parametrize("on", [True, False])
async def test_a_proposer_keeps_the_note_of_its_reply_if_notes_are_on(on: bool) -> None:
    model = Scripted(lambda ask: "Note: the cart overshoots\n" + program_reply())
    common = {"model": model, "prompts": PromptFolder(), "brief": BRIEF, "contract": CONTRACT, "limits": "none."}
    notes = Notes() if on else None
    first = await Initiator(**common, aids=Aids(notes=notes)).carry_out(propose(Operator.INITIAL))
    assert isinstance(first, ProposalMade) and first.note == ("the cart overshoots" if on else "")
    if notes is not None:
        notes.on_fact(replace(first, order="init/0"))
    parent = candidate(lineage=(ancestor("init/0", Operator.INITIAL),))
    await HillClimber(**common, memory_detail="none", aids=Aids(notes=notes)).carry_out(
        propose(Operator.HILL_CLIMB, parent, rejections=(rejection("g1/hill/0"),))
    )
    assert ["Note: <" in ask.prompt for ask in model.asked] == [on, on]
    assert ("g0 first program, kept: the cart overshoots" in model.asked[1].prompt) is on


def test_the_fact_of_an_older_log_has_no_note() -> None:
    fact = made("g1/hill/0", "")
    kind, order, body, blobs = encode(fact)
    fields = json.loads(body)
    del fields["note"]
    values = {reference: revive(reference, blob.content) for reference, blob in blobs.items()}
    assert decode(kind, order, json.dumps(fields), values) == fact


def test_the_paper_and_the_default_leave_no_notes() -> None:
    assert PRESETS["paper"]["notes"] == "off"
    assert build_settings({"domain": "hanoi"}, environment={}).notes == "off"
