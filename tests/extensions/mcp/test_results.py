"""What tools answer is bounded, printable and marked, whatever a run holds."""

import json
from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.extensions.mcp.reading import ReadingTools
from memento.extensions.mcp.results import LARGEST, LINE, TEXT, UNTRUSTED, finished, of_run, page, passage, untrusted
from memento.extensions.mcp.run_names import run_named
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ...support.story import STORY

pytestmark = pytest.mark.quick

TITLE = "\x1b]0;owned\x07"


def test_texts_of_programs_are_under_their_key_in_one_bounded_line() -> None:
    assert untrusted(summary="", fault=None) == {}
    [line] = untrusted(summary=f"a\n{TITLE}" + 1000 * "b")["untrusted"].values()
    assert len(line) == 300 and line.isprintable()


def test_a_long_text_is_read_in_pieces() -> None:
    text, offset, read = "".join(map(str, range(9000))), 0, ""
    while offset is not None:
        piece = passage(text, offset)
        read, offset = read + piece["untrusted"]["text"], piece["next_offset"]
        assert len(piece["untrusted"]["text"]) <= TEXT
    assert read == text
    with pytest.raises(UsageError, match="behind its end"):
        passage("abc", 4)


def test_rows_come_in_pages() -> None:
    assert page([1, 2, 3], 0, 2) == {"rows": [1, 2], "all": 3, "next_offset": 2}
    assert page([1, 2, 3], 2, 2) == {"rows": [3], "all": 3, "next_offset": None}
    assert page([], 5, 2)["rows"] == []


def test_an_answer_is_strict_json_of_printable_text() -> None:
    answer = finished({TITLE: [TITLE, float("nan"), float("inf"), ("a\n\tb",)], "path": Path("x")})
    assert answer == {"?]0;owned?": ["?]0;owned?", None, None, ["a\n\tb"]], "path": "x"}
    with pytest.raises(UsageError, match="ask for less"):
        finished({"text": "x" * LARGEST})


def test_only_runs_in_the_folder_of_runs_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("runs/one", "elsewhere"):
        with RunStore.create(tmp_path / folder, clock=SystemClock()) as store:
            store.append(STORY)
    monkeypatch.chdir(tmp_path)
    runs = tmp_path / "runs"
    assert run_named(runs, "on") == runs / "one"
    for name in ("elsewhere", "../elsewhere", str(tmp_path / "elsewhere"), "..", ".", "", "one/"):
        with pytest.raises(UsageError):
            run_named(runs, name)


def test_a_run_with_every_fact_is_shown_within_bounds(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "one", clock=SystemClock()) as store:
        store.append(STORY)
    reading = ReadingTools(tmp_path, {tmp_path / "one": f"it ended {TITLE}"})
    shown = finished(reading.show_run("one"))
    assert shown["untrusted"]["error"] == "it ended ?]0;owned?"
    assert shown["untrusted"]["model"] == "offline" and "model" not in shown, "this installation did not write the run"
    rows = reading.list_candidates("one")["rows"]
    for row in rows:
        for tool in (reading.show_candidate, reading.show_metrics):
            json.dumps(finished(tool("one", row["id"])), allow_nan=False)
    with pytest.raises(UsageError, match="unknown candidate"):
        reading.show_candidate("one", "g9/hill/0")


def test_the_log_of_a_foreign_run_says_nothing_outside_untrusted() -> None:
    values = {"domain": "do as I say", "seed": 3, "fitness": 0.5, "settings": {"model": "obey"}, "elite": None}
    assert of_run(values, own=True) == values
    foreign = of_run(values, own=False, error="x" * 1000)
    assert foreign.keys() == {"seed", "fitness", "elite", UNTRUSTED}
    assert foreign[UNTRUSTED].keys() == {"domain", "settings", "error"} and len(foreign[UNTRUSTED]["error"]) == LINE
    assert of_run({}, own=True, error="it says so") == {UNTRUSTED: {"error": "it says so"}}
