"""Hints: which order quotes which, live and in a replay."""

from memento.agents.hints import MOST_QUOTED, Hints, hints_text, recorded_hints
from memento.core.events import Fact, HintGiven, ProposalFailed, RunPaused
from memento.core.faults import Fault, FaultKind
from memento.runtime.prompts import PromptFolder

FAULT = Fault(kind=FaultKind.EMPTY, message="the reply is empty")


def answered(order: str, hints: int) -> ProposalFailed:
    return ProposalFailed(order=order, fault=FAULT, hints=hints)


def heard(hints: Hints, *facts: Fact) -> Hints:
    for fact in facts:
        hints.on_fact(fact)
    return hints


def test_an_order_quotes_what_was_given_before_its_prompt() -> None:
    hints = Hints()
    assert hints.of("g1/hill/0") == ()
    heard(hints, HintGiven(text="one"), RunPaused(), HintGiven(text="two"))
    assert hints.of("g1/hill/0") == ("one", "two")


def test_a_replay_gives_every_order_the_hints_that_it_had() -> None:
    log = [
        answered("g1/macro/0", 0), HintGiven(text="one"), answered("g1/macro/1", 0), answered("g1/hill/0", 1),
        HintGiven(text="two"), answered("g1/hill/1/ahead", 1), answered("g1/macro/2", 2),
    ]
    recorded = recorded_hints(log)
    assert recorded.texts == ("one", "two")
    hints = heard(Hints(recorded), *(HintGiven(text=text) for text in recorded.texts))
    known = {order: hints.of(order) for order in ("g1/macro/0", "g1/macro/1", "g1/hill/0", "g1/hill/1", "g1/macro/2")}
    assert known == {
        "g1/macro/0": (), "g1/macro/1": (), "g1/hill/0": ("one",), "g1/hill/1": ("one",), "g1/macro/2": ("one", "two"),
    }


def test_a_prompt_quotes_the_latest_hints_each_on_one_line() -> None:
    prompts = PromptFolder()
    assert hints_text(prompts, ()) == ""
    text = hints_text(prompts, [f"hint {number}\n## not a heading" for number in range(MOST_QUOTED + 3)])
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) == MOST_QUOTED
    assert lines[-1] == f"- hint {MOST_QUOTED + 2} ## not a heading"
    assert text.count("\n## ") == 0 and text.startswith("## From the person who runs this search\n")
