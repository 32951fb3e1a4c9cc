"""Marks say which functions and branches ran, and change nothing else of a program."""

import ast

from hypothesis import given
from hypothesis import strategies as st
from memento.core.programs.marks import MOST, NAME, mask_of, never_ran, places_of, with_marks

TEXT = '''"""A docstring."""
from __future__ import annotations

GAIN = 2


class Policy:
    """Another."""

    def reset(self):
        """A docstring alone."""

    def compute_action(self, x):
        """Text first."""
        global GAIN
        if x > 3:
            return self.again(x)
        elif x > 2:
            total = 0
            for step in range(x):
                total += step
            return total
        else:
            x = -x
        try:
            return 1 // x
        except ZeroDivisionError:
            return [0 for _ in range(3) if _ > 1]

    def again(self, x):
        while x > 5:
            x -= 1
        def inner():
            match x:
                case 4:
                    return "four"
                case _:
                    return "other"
        return inner()
'''


def played(text: str, inputs: list[int]) -> tuple[list[object], str]:
    """What the program returns, and the mask of what ran."""
    found = with_marks(text, "program.py")
    assert found is not None
    tree, count = found
    marks = bytearray(count)
    module: dict[str, object] = {NAME: marks}
    exec(compile(tree, "program.py", "exec"), module)
    policy = module["Policy"]()
    policy.reset()
    return [policy.compute_action(x) for x in inputs], mask_of(marks)


def plain(text: str, inputs: list[int]) -> list[object]:
    module: dict[str, object] = {}
    exec(compile(text, "program.py", "exec"), module)
    return [module["Policy"]().compute_action(x) for x in inputs]


@given(st.lists(st.integers(-3, 9), max_size=6))
def test_marks_change_no_result(inputs: list[int]) -> None:
    assert played(TEXT, inputs)[0] == plain(TEXT, inputs)


def test_what_never_ran_is_named_with_its_line_and_condition() -> None:
    _, small = played(TEXT, [0, 1])
    idle = never_ran(TEXT, [small])
    assert [(place.function, place.branch) for place in idle] == [
        ("Policy.compute_action", "if x > 3"), ("Policy.compute_action", "if x > 2"),
        ("Policy.compute_action", "for step in range(x)"), ("Policy.again", ""),
    ]
    lines = TEXT.splitlines()
    assert "return self.again(x)" in lines[idle[0].line - 1] and "def again" in lines[idle[3].line - 1]
    _, four = played(TEXT, [4])
    both = [(place.function, place.branch) for place in never_ran(TEXT, [small, four])]
    assert ("Policy.again", "while x > 5") in both and ("Policy.again.inner", "case _") in both
    assert ("Policy.again", "") not in both


def test_what_does_not_fit_the_program_names_nothing() -> None:
    _, mask = played(TEXT, [0])
    for masks in ([], ["zz"], [mask + "00"], [""]):
        assert never_ran(TEXT, masks) == ()
    assert never_ran("not python (", [mask]) == () == never_ran("X = 1\n", [mask])
    assert with_marks(f"{NAME} = 1\ndef f(): pass\n", "p") is None is with_marks("X = 1\n", "p")


def test_a_traceback_has_the_lines_of_the_text() -> None:
    tree, _ = with_marks(TEXT, "program.py")
    found = {node.name: node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert found == {node.name: node.lineno for node in ast.walk(ast.parse(TEXT)) if isinstance(node, ast.FunctionDef)}


def test_a_long_program_has_a_bounded_number_of_marks() -> None:
    text = "".join(f"def f{number}():\n    pass\n" for number in range(MOST + 9))
    assert with_marks(text, "p")[1] == MOST == len(places_of(text))
