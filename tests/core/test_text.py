"""The formats of numbers and the bounds of foreign text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.text import (
    cost,
    digits_apart,
    duration,
    excerpt,
    number,
    one_line,
    plural,
    plus_minus,
    share,
    signed_number,
)


@pytest.mark.parametrize(("text", "expected"), [
    (plural(1, "judge"), "1 judge"), (plural(0, "judge"), "0 judges"),
    (number(0.5), "0.500"), (number(1234.5, digits=0), "1,234"), (number(None), "–"), (number(None, unknown="?"), "?"),
    (share(0.875), "88 %"), (share(None), "–"),
    (cost(1.234), "$1.23"), (cost(0.01234, digits=4), "$0.0123"), (cost(None), "price unknown"),
    (cost(0.0), "$0.00"), (cost(0.0036), "$0.0036"), (cost(0.00001234), "$0.000012"), (cost(1e-9), "$0.000000"),
    (signed_number(0.126), "+0.13"), (signed_number(-0.126), "−0.13"), (signed_number(-0.001), "0.00"),
    (plus_minus((0.5, 0.125)), "0.50 ± 0.12"), (plus_minus((0.5, None)), "0.50"), (plus_minus(None), "–"),
    (duration(4.23), "4.2 s"), (duration(59.96), "1 min 00 s"), (duration(185), "3 min 05 s"),
])
def test_forms(text: str, expected: str) -> None:
    assert text == expected


@given(st.text(), st.integers(1, 50))
def test_foreign_text_is_bounded_and_printable(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit and line.isprintable()
    assert len(excerpt(text, limit)) <= limit


@pytest.mark.parametrize(("values", "digits"), [
    ((0.5, 0.6), 3), ((0.5, 0.5), 3), ((None, 0.5), 3), ((0.99224, 0.99227), 4), ((0.99224, 0.992244), 6),
    ((0.0, -0.0004), 4), ((0.0, 1e-9), 6),
])
def test_figures_that_differ_have_as_many_digits_as_show_it(values: tuple[float | None, ...], digits: int) -> None:
    assert digits_apart(*values) == digits
