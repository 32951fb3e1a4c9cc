"""The panels: within their size whatever happened, and a lane for every branch."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import EliteChanged, Fact, ProposalMade, RunStarted, StageEntered
from memento.core.values import Call, Document, Operator, Program
from memento.memory.run_view import view_of_facts
from memento.tui.snapshot import RunSnapshot
from memento.tui.watch import panels
from memento.tui.watch.screens.log import words_of

from ...support.strategies import PATIENT
from ...support.strategies import facts as any_facts
from .recording import BEGAN

CALL = Call(model="m", prompt=Document("?"), reply=Document("!"))


def made(order: str) -> ProposalMade:
    return ProposalMade(order=order, program=Program("x"), summary="s", call=CALL)


def seen(facts: list[Fact]) -> RunSnapshot:
    view = view_of_facts(facts)
    return RunSnapshot(run=view.status, slots=view.slots, live=True, reading=False)


@pytest.mark.slow
@settings(PATIENT, max_examples=40)
@given(st.lists(any_facts, max_size=20), st.integers(40, 130), st.integers(3, 40))
def test_any_facts_can_be_drawn(facts: list[Fact], width: int, height: int) -> None:
    snapshot = seen(facts)
    for name in ("slots", "fitness", "elites", "memory", "workers", "spending"):
        drawn = getattr(panels, f"draw_{name}")(snapshot, width=width, height=height, now=BEGAN)
        assert len(drawn.plain.split("\n")) <= height
        assert max(line.cell_length for line in drawn.split("\n")) <= width
    for fact in facts:
        assert "\n" not in words_of(fact)


def test_a_branch_for_any_word_has_one_lane_and_an_unknown_branch_its_own() -> None:
    def lanes(method: str, *orders: str) -> list[str]:
        words = {"method": method, "generations": 2, "k": 3, "k_hc": 2, "k_macro": 1, "k_cross": 1, "n_roll": 2}
        elite = EliteChanged(generation=0, candidate="init/0", origin=Operator.INITIAL, fitness=0.1, success_rate=0.0)
        facts = [RunStarted(settings=words, versions={}), StageEntered(stage="search"), elite, *map(made, orders)]
        return panels.draw_slots(seen(facts), width=80, height=5, now=BEGAN).plain.split("\n")

    assert lanes("revolve", "g1/macro/0", "g1/cross/2")[0].split()[:4] == ["islands", "p", "·", "p"]
    shown = [line.split()[:3] for line in lanes("memento", "g1/hill/0", "g1/isle/1")]
    assert shown[0] == ["climb", "p", "·"]
    assert ["isle", "·", "p"] in shown
