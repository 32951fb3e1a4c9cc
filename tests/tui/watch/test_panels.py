"""The panels: within their size whatever happened, and a lane for every branch."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import EliteChanged, Fact, ProposalMade, RunStarted, StageEntered
from memento.core.values import Call, Document, MethodBranch, Operator, Program
from memento.memory.run_view import view_of_facts
from memento.memory.slots import Slot
from memento.tui.snapshot import RunSnapshot
from memento.tui.watch import panels
from memento.tui.watch.braille import Curve, draw_curves, round_range
from memento.tui.watch.screens.lineage import tree_of
from memento.tui.watch.screens.log import words_of
from memento.tui.words import LEGEND

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
    for name in ("now", "slots", "fitness", "elites", "memory", "workers", "spending"):
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


def test_a_chain_of_only_children_does_not_leave_the_screen() -> None:
    def slot(name: str, *parents: str) -> Slot:
        return Slot(id=name, parents=parents)

    chain = [slot("init/0"), *(slot(f"g{each}/hill/0", f"g{each - 1}/hill/0" if each > 1 else "init/0")
                               for each in range(1, 40))]
    lines = tree_of({each.id: each for each in chain})
    assert [line.slot.id for line in lines] == [each.id for each in chain]
    assert {line.lead for line in lines} == {"", "↓ "}
    forked = tree_of({each.id: each for each in (*chain[:3], slot("a", "g2/hill/0"), slot("b", "g2/hill/0"),
                                                 slot("c", "a"))})
    assert [line.lead for line in forked] == ["", "↓ ", "↓ ", "├─ ", "│  ↓ ", "└─ "]


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_axis_goes_from_one_round_number_to_another_and_wastes_little(one: float, other: float) -> None:
    least, most = min(one, other), max(one, other)
    low, high = round_range(least, most)
    assert low <= least + 1e-9 and most - 1e-9 <= high
    assert high - low <= 2.5 * max(most - least, 0.02)
    assert float(f"{low:.3g}") == pytest.approx(low, abs=1e-9)


def test_the_curves_have_numbers_below_and_beside() -> None:
    drawn = draw_curves([Curve(values=[0.07, 0.2, 0.3])], width=40, height=8, low=0.0, high=1.0, x_label="candidate")
    lines = drawn.plain.split("\n")
    assert len(lines) == 8
    assert lines[0].split("│")[0].strip() == "0.3" and lines[-2].split("│")[0].strip() == "0.05"
    assert lines[-1].split() == ["0", "candidate", "2"]


def test_the_legend_has_as_many_lines_as_the_width_needs() -> None:
    words = {"method": "memento", "generations": 2, "k": 3, "k_hc": 2, "k_macro": 1, "k_cross": 1, "n_roll": 2}
    elite = EliteChanged(generation=0, candidate="init/0", origin=Operator.INITIAL, fitness=0.1, success_rate=0.0)
    view = seen([RunStarted(settings=words, versions={}), StageEntered(stage="search"), elite])
    for width in (60, 90, 200):
        drawn = panels.draw_slots(view, width=width, height=20, now=BEGAN).plain
        assert all(each in drawn for each in LEGEND), width


def test_who_comes_back_sees_how_to_continue_what_changed_and_what_is_wrong() -> None:
    words = {"method": "memento", "generations": 2, "k": 3, "k_hc": 2, "k_macro": 1, "k_cross": 1, "n_roll": 2}
    elite = EliteChanged(generation=0, candidate="init/0", origin=Operator.INITIAL, fitness=0.1, success_rate=0.0)
    view = seen([RunStarted(settings=words, versions={}), StageEntered(stage="search"), elite])
    killed = replace(view, live=False, folder=Path("runs/first"))
    drawn = panels.draw_now(killed, width=100, height=5, now=BEGAN).plain
    assert "killed: memento resume first continues it" in drawn
    assert "init/0  F 0.100" in drawn and "nothing is better than p_0 yet" in drawn
    assert "NOT ISOLATED" in drawn, "no layer was active"
    damaged = replace(view, trouble="the log is damaged")
    assert "the log is damaged" in panels.draw_now(damaged, width=100, height=5, now=BEGAN).plain


def test_a_log_that_says_any_number_of_slots_costs_no_memory() -> None:
    branch = MethodBranch(label="climb", word="hill", what="", short="", slots=2**62, operators=(Operator.HILL_CLIMB,))
    begun = RunStarted(settings={"method": "memento"}, versions={}, branches=(branch,))
    elite = EliteChanged(generation=0, candidate="init/0", origin=Operator.INITIAL, fitness=0.1, success_rate=0.0)
    facts = [begun, StageEntered(stage="search"), elite, made("g1/hill/0")]
    assert panels.draw_slots(seen(facts), width=80, height=5, now=BEGAN).plain.startswith("climb")
