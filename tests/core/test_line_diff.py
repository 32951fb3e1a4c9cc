"""What differs between texts: a unified diff of short ones, a count for long ones, in linear time."""

import time
from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st
from memento.core.programs.line_diff import MAX_LINES, diff_lines

texts = st.lists(st.sampled_from(["a", "b", "++", "-x", "", "memento.tests.support"]), max_size=12).map("\n".join)


@given(texts, texts)
def test_short_texts_are_compared_line_by_line(old: str, new: str) -> None:
    diff = diff_lines(old, new)
    assert [*diff.lines] == [*unified_diff(old.splitlines(), new.splitlines(), lineterm="")][2:]
    assert (diff.lines == ()) == (old.splitlines() == new.splitlines())
    assert diff.added - diff.removed == len(new.splitlines()) - len(old.splitlines())
    assert diff.note == ""


def test_of_long_texts_only_the_numbers_are_known() -> None:
    lines = [f"x = {number % 101}" for number in range(400_000)]
    began_s = time.process_time()
    diff = diff_lines("\n".join(lines), "\n".join([*reversed(lines), "x = 0", "y = 1"][1:]))
    assert time.process_time() - began_s < 5
    assert diff.lines == ()
    assert (diff.added, diff.removed) == (2, 1), "400,000 lines end in 82: one of these is left out"
    assert diff.note == "too long for a comparison line by line: 2 lines were added, 1 removed"


def test_long_equal_texts_are_equal() -> None:
    text = "x\n" * (MAX_LINES + 1)
    assert diff_lines(text, text) == diff_lines("", "")
    assert diff_lines(text, text + "y").note
