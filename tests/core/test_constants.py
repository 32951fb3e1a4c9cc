"""The named numbers of a program: which are found, in which range, and the text with other values."""

import ast
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.programs.constants import LEAST_INTEGER, MOST, Constant, constants_of, tunable_constants, with_values
from memento.core.programs.program_text import digest
from memento.core.values import Program

POLICY = Program(dedent('''\
    """A policy for Größen."""
    import numpy as np
    GAIN = 0.4   # tune: 0.1..3.0 as measured
    N: int = 8
    WAIT = True
    SEED = 3_000_000_000
    FIXED = 3.0  # tune: off
    A = B = 3
    TWICE = 1
    TWICE = 2
    SUM = 1 + 2
    class Mode(IntEnum):
        HELD = 1
    class Policy:
        """ä"""
        ZÄHLER = -0.25  # höhe
        PHASES = np.array([0.0, 1.5,
                           2e-3])  # tune: 1e-4..1
        def act(self, obs):
            LOCAL = 7
            return GAIN
    '''))


def test_named_numbers_of_module_and_classes_are_found_with_their_ranges() -> None:
    found = {each.name: (each.kind, each.value, each.low, each.high) for each in constants_of(POLICY)}
    assert found == {
        "GAIN": ("float", 0.4, 0.1, 3.0), "N": ("int", 8, 2, 32), "WAIT": ("bool", 1, 0, 1),
        "ZÄHLER": ("float", -0.25, -1.0, -0.0625), "PHASES[0]": ("float", 0.0, -1.0, 1.0),
        "PHASES[1]": ("float", 1.5, 0.375, 6.0), "PHASES[2]": ("float", 0.002, 1e-4, 1.0),
    }


def test_only_the_numbers_of_the_text_change() -> None:
    changed = with_values(POLICY, constants_of(POLICY), [1.7, 12.0, 0.0, -0.5, 0.25, 1.5, 0.01]).text
    expected = POLICY.text
    for old, new in (("GAIN = 0.4 ", "GAIN = 1.7 "), ("= 8", "= 12"), ("True", "False"), ("-0.25", "-0.5"),
                     ("[0.0,", "[0.25,"), ("2e-3", "0.01")):
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert changed == expected


def test_indices_signs_and_records_are_left_as_they_are() -> None:
    text = """\
SIDE = -1
JOINT = 2
JOINT_TUNED = 2  # tune: 0..5
WEIGHTS = [0.5, -2.0]
ROWS = [("hip", 0, 3.2), (1.0, 2.0)]
COUNTS = (8, 9)
"""
    assert [each.name for each in constants_of(Program(text))] == [
        "JOINT_TUNED", "WEIGHTS[0]", "WEIGHTS[1]", "ROWS[1][0]", "ROWS[1][1]",
    ]


@pytest.mark.parametrize("text", ["", "not python (", "x = 'a'", "x = 1e999", "def f():\n    x = 1\n", "__x__ = 1"])
def test_a_program_may_have_no_constants(text: str) -> None:
    assert constants_of(Program(text)) == ()


def test_the_number_of_tunable_constants_is_bounded() -> None:
    assert len(tunable_constants(Program(f"X = {[1.5] * (2 * MOST)}\nprint(X)"))) == MOST


def test_a_constant_that_nothing_reads_is_not_tuned() -> None:
    text = """GAIN = 0.5
LIMIT = 1.5
class Policy:
    STEP = 0.25
    DEAD = 0.75
    ROW = (0.1, 0.2)
    NAMED = 3.5
    def act(self, obs):
        self.DEAD = 1.0
        return GAIN * self.STEP * self.ROW[0] * getattr(self, "NAMED")
"""
    names = [each.name for each in tunable_constants(Program(text))]
    assert names == ["GAIN", "STEP", "ROW[0]", "ROW[1]", "NAMED"]
    assert tunable_constants(Program("not python (")) == ()


floats = st.floats(-1e9, 1e9).filter(lambda value: not 0 < abs(value) < 1e-9)
values = st.one_of(st.booleans(), st.integers(-10**6, 10**6), floats)
units = st.floats(0, 1)


@given(st.lists(st.tuples(values, units), min_size=1, max_size=5), st.booleans())
def test_any_position_gives_a_program_whose_constants_have_those_values(
    pairs: list[tuple[bool | int | float, float]], annotated: bool
) -> None:
    comment = "  # tune: -3..1e2" if annotated else ""
    program = Program("".join(f"C{place} = {value!r}{comment}\n" for place, (value, _) in enumerate(pairs)))
    if not annotated:
        pairs = [pair for pair in pairs if type(pair[0]) is not int or abs(pair[0]) >= LEAST_INTEGER]
        program = Program("".join(f"C{place} = {value!r}\n" for place, (value, _) in enumerate(pairs)))
    constants = constants_of(program)
    assert [each.value for each in constants] == [float(value) for value, _ in pairs]
    assert with_values(program, constants, [each.value for each in constants]) == program
    wanted = [each.at(place) for each, (_, place) in zip(constants, pairs, strict=True)]
    changed = with_values(program, constants, wanted)
    read = [ast.literal_eval(line.partition(" = ")[2].partition("#")[0].strip()) for line in changed.text.splitlines()]
    assert [float(value) for value in read] == wanted
    assert [type(value) for value in read] == [type(value) for value, _ in pairs]
    assert digest(changed) == digest(program) or wanted != [each.value for each in constants]
    for each, value in zip(constants, wanted, strict=True):
        assert _in_range(each, value)


@given(values.filter(lambda value: type(value) is not int or abs(value) >= LEAST_INTEGER))
def test_the_position_of_the_own_value_gives_it_back(value: bool | int | float) -> None:
    (constant,) = constants_of(Program(f"X = {value!r}"))
    assert 0 <= constant.position <= 1
    assert constant.at(constant.position) == pytest.approx(constant.value, rel=1e-3, abs=1e-9)


def _in_range(constant: Constant, value: float) -> bool:
    slack = 1e-3 * max(abs(constant.low), abs(constant.high))  # values are rounded to few digits
    return constant.low - slack <= value <= constant.high + slack
