"""An operator of which this version knows only the word has its place in every view, and none calls it another one."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from memento.cli.show_run import describe_run
from memento.core.events import Fact
from memento.evidence.csv_files import write_csv
from memento.evidence.loading import Evidence
from memento.evidence.page import PageOrigin, render
from memento.memory.codec import decode, encode, revive
from memento.memory.contenders import contenders
from memento.memory.run_view import RunView
from memento.tui.fact_words import fact_words
from memento.tui.lines import lines_of
from memento.tui.snapshot import RunSnapshot, search_lanes
from memento.tui.watch.pages import PAGES

from ..evidence.logs import log, record, store
from .watch.watching import press, text_of, watching

FRAME = PageOrigin(made="2026-11-21 03:00 UTC", version="0.1.0", command="memento report", expected_layers=())
WORD = "simplify"


def with_word(facts: Iterable[Fact]) -> list[Fact]:
    """The same run with crossovers made by an operator that nobody knows."""
    found = []
    for fact in facts:
        kind, order, body, blobs = encode(fact)
        values = {key: revive(key, blob.content) for key, blob in blobs.items()}
        body = body.replace('"crossover"', f'"{WORD}"').replace("/cross/", f"/{WORD}/")
        found.append(decode(kind, order and order.replace("/cross/", f"/{WORD}/"), body, values))
    return found


FACTS = with_word(log(seed=8))


def test_lines_and_words_name_it() -> None:
    view, lines = RunView(), []
    for at, fact in enumerate(FACTS):
        view.apply(fact, float(at))
        lines += [*lines_of(fact, view, now=float(at)), fact_words(fact)]
    made = [line for line in lines if WORD in line]
    assert any(line.split()[1:2] == [WORD] for line in made), "the line of a candidate"
    assert not [line for line in lines if "cross" in line and "crossover" not in line], "no candidate is a crossover"
    shown = "\n".join(describe_run(view, folder=Path("a"), live=False, width=120))
    assert WORD in shown and "climb" in shown


def test_its_slots_have_a_row() -> None:
    view = RunView()
    for fact in FACTS:
        view.apply(fact, 0.0)
    slots = [slot for slot in view.slots.candidates.values() if slot.generation == 1]
    lanes = {lane.label: lane for lane in search_lanes(RunSnapshot(folder=Path("a"), run=view.status), slots)}
    assert len(lanes[WORD].slots) == 2 and not lanes["cross"].slots


def test_a_report_and_its_tables_have_it(tmp_path: Path) -> None:
    evidence = Evidence(title="a run", records=(record(FACTS),))
    page = render(evidence, FRAME)
    assert WORD in page
    [operators] = [path for path in write_csv(evidence, tmp_path) if path.stem == "operators"]
    assert WORD in operators.read_text() and "crossover" not in operators.read_text()


def test_its_programs_are_ranked() -> None:
    found = {each.candidate: each.operator for each in contenders(FACTS, most=100)}
    assert {operator for name, operator in found.items() if f"/{WORD}/" in name} == {WORD}


@pytest.mark.slow
async def test_every_page_of_the_terminal_program_shows_the_run(tmp_path: Path) -> None:
    store(tmp_path / "a", FACTS)
    async with watching(tmp_path / "a") as pilot:
        for page in PAGES:
            await press(pilot, page.key)
            assert page.label in text_of(pilot)
        await press(pilot, "2")
        assert WORD in text_of(pilot)
