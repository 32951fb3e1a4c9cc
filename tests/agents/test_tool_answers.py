"""What tools answer: rows of a recording, and the output of code. All of it is bounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.recording_code import MAX_OUTPUT, code_program, output_of
from memento.agents.recording_rows import MOST_COLUMNS, MOST_ROWS, rows_text
from memento.core.recording import Recording
from memento.core.values import Program

from ..support.prompt_samples import EVALUATOR_CONTRACT

RECORDING = Recording(
    states={
        "x": np.arange(101.0), "pose": np.arange(101 * 6.0).reshape(101, 2, 3), "success": np.zeros(101, dtype=bool),
        "phase": np.array(["go \x1b[2J"] * 101),
    },
    actions={"u": np.full(100, np.nan)},
    constants={"mass_kg": np.array(2.5)},
)


def test_without_fields_the_arrays_are_listed_but_for_success() -> None:
    text = rows_text(RECORDING, 0, 5, ())
    assert text.startswith("100 steps;")
    assert "pose" in text and "(101, 2, 3)" in text and "mass_kg" in text
    assert "success" not in text


def test_rows_of_components_and_evenly_thinned_out() -> None:
    lines = rows_text(RECORDING, 98, 1_000, ("x", "pose[1,2]", "u", "phase")).splitlines()
    assert lines[0] == "steps 98 to 100 of 100, 3 rows"
    assert lines[1].split() == ["step", "x", "pose[1,2]", "u", "phase"]
    assert lines[-1].split()[:4] == ["100", "100", "605", "-"]
    assert "\x1b" not in "".join(lines)
    whole = rows_text(RECORDING, 0, 100, ("pose", "pose", "pose"))
    assert len(whole.splitlines()) == MOST_ROWS + 3
    assert len(whole.splitlines()[1].split()) == MOST_COLUMNS + 1
    assert "6 more columns left out" in whole


@pytest.mark.parametrize(("first", "last"), [(70, 100), (-30, 10**9), (-30, 100), (70, 10**9)])
def test_the_steps_before_an_end_are_shown_one_by_one(first: int, last: int) -> None:
    lines = rows_text(RECORDING, first, last, ("x",)).splitlines()
    assert lines[0] == "steps 70 to 100 of 100, 31 rows"
    assert [int(line.split()[0]) for line in lines[2:]] == list(range(70, 101))
    assert rows_text(RECORDING, -1000, 1, ("x",)).splitlines()[0] == "steps 0 to 1 of 100, 2 rows"
    assert rows_text(RECORDING, -3, 4, ("x",)) == "there are no rows from step 97 to 4: the recording has 100 steps"


@pytest.mark.parametrize(
    ("field", "words"),
    [("y", "unknown array 'y'"), ("success", "unknown array"), ("mass_kg", "is constant"),
     ("pose[2,0]", "has no component [2,0]"), ("x[0]", "has no component"), ("[[", "unknown array")],
)
def test_an_unknown_field_is_told(field: str, words: str) -> None:
    assert words in rows_text(RECORDING, 0, 3, (field,))


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**9), st.lists(st.text(min_size=1, max_size=80), max_size=8))
def test_no_request_breaks_the_table(first: int, more: int, fields: list[str]) -> None:
    assert len(rows_text(RECORDING, first, first + more, fields)) < 20_000


def run(code: str) -> str:
    """The output of trusted code, in this process."""
    space: dict = {}
    exec(code_program(Program(code), EVALUATOR_CONTRACT).text, space)
    fitness, metrics = space["Evaluator"]().evaluate({"x": np.arange(3.0)})
    assert fitness == 0.0
    return output_of(metrics)


def test_code_gets_the_arrays_and_its_output_is_answered() -> None:
    assert run("print(sorted(arrays), float(np.sum(arrays['x'])))") == "['x'] 3.0"
    assert run("print('\U0001f642')  # \U0001f642") == "\U0001f642", "a character outside the BMP"
    assert run("pass") == "the code printed nothing"
    assert run("print(1)\n1/0").splitlines()[:2] == ["1", "it raised:"]
    assert 'File "compute.py", line 2' in run("print(1)\n1/0")
    assert "SyntaxError" in run("print(")
    assert "KeyboardInterrupt" in run("raise KeyboardInterrupt")
    assert "\\ud800" in run("print('\\ud800')") or "?" in run("print('\\ud800')")


@pytest.mark.parametrize(
    "code", ["print('x' * 10**6)", "[print('é' * 99) for _ in range(9999)]", "print('\\0' * 10**5)"]
)
def test_output_is_bounded(code: str) -> None:
    assert len(run(code)) <= MAX_OUTPUT + 100
