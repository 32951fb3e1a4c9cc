"""Text for display: foreign text bounded and printable, and numbers in the one format of all outputs."""

import re
import traceback
from collections.abc import Callable, Sequence
from itertools import zip_longest
from math import floor, log10
from pathlib import Path

ELLIPSIS = " […] "
DASH = "–"  # stands for a missing value


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters: white space is collapsed, unprintable characters become "?".

    Surrogates and control characters would break terminals, JSON files and the wire to a model.
    """
    line = printable_line(" ".join(text[: 8 * limit].split()))
    if len(line) <= limit and len(text) <= 8 * limit:
        return line
    return line[: max(0, limit - 1)] + "…"


def excerpt(text: str, limit: int) -> str:
    """`text` with its line breaks, at most `limit` characters: head and tail stay, the middle is omitted."""
    if len(text) > limit:
        room = max(0, limit - len(ELLIPSIS))
        head = room // 2
        text = text[:head] + ELLIPSIS[:limit] + (text[-(room - head) :] if room - head else "")
    return printable(text)


def fenced_text(text: str, language: str = "text") -> str:
    """`text` as a Markdown code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def has_open_fence(text: str) -> bool:
    """Whether a text in Markdown ends inside of a code block."""
    fence = ""
    for line in text.splitlines():
        found = re.match(r"\s*(`{3,}|~{3,})(.*)", line)
        if found and (not fence or (found[1].startswith(fence) and not found[2].strip())):
            fence = "" if fence else found[1]
    return bool(fence)


RAISED_CHARS = 1_500    # of a message of foreign code


def error_words(error: BaseException, *, besides: Sequence[str] = ()) -> str:
    """What foreign code raised, on one line: the kind, the whole message, and the place that raised it.

    The place is the innermost one that is neither MEMENTO's nor of a package in `besides`; files lose their folders,
    so that the text is the same on every machine.
    """
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the error's class is foreign code, too
        message = "(its message cannot be read)"
    own = str(Path(__file__).resolve().parents[1])
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename[:1] != "<"]
    theirs = [frame for frame in frames if not str(Path(frame.filename).resolve()).startswith(f"{own}/")
              or f"{own}/tests" in frame.filename or "/site-packages/" in frame.filename]
    near = [frame for frame in theirs if not any(f"/{name}/" in frame.filename for name in besides)] or theirs
    said = f"{type(error).__name__}: {one_line(message, RAISED_CHARS)}".removesuffix(": ")
    if not near:
        return said
    return f"{said} ({Path(near[-1].filename).name}, line {near[-1].lineno}, in {near[-1].name})"


def token_count(tokens: int, cached: int = 0) -> str:
    """A number of tokens, and how many of them came from a cache: 12,000 tokens (9,000 cached)."""
    return f"{tokens:,} tokens" + (f" ({cached:,} cached)" if cached else "")


def tokens_of_call(tokens_in: int, tokens_out: int, *, cached: int = 0, cache_written: int = 0) -> str:
    """The tokens of one call: 9,000 tokens in (8,000 cached, 500 written to the cache), 40 out."""
    kinds = [f"{cached:,} cached"] if cached else []
    kinds += [f"{cache_written:,} written to the cache"] if cache_written else []
    cache = f" ({', '.join(kinds)})" if kinds else ""
    return f"{tokens_in:,} tokens in{cache}, {tokens_out:,} out"


def two_digits(value: float) -> str:
    """A number from 0 on with two significant digits: 0.043, 4.3, 12, 1,300."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def plural(number: int, noun: str) -> str:
    """A number with its noun: 1 judge, 3 judges."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def number(value: float | None, *, digits: int = 3, unknown: str = DASH) -> str:
    """A number with `digits` decimals, such as a fitness; `unknown` for None."""
    return unknown if value is None else f"{value:,.{digits}f}"


def digits_apart(*values: float | None) -> int:
    """The decimals, from 3 to 6, at which values that differ are shown as different numbers."""
    known = {value for value in values if value is not None}
    return next((digits for digits in range(3, 6) if len({round(value, digits) for value in known}) == len(known)), 6)


def share(value: float | None, *, unknown: str = DASH) -> str:
    """A share in [0, 1] as a percentage; `unknown` for None."""
    return unknown if value is None else f"{100 * value:.0f} %"


def interval_words(
    interval: tuple[float, float] | None, *, digits: int = 3, percent: bool = False
) -> str:
    """An interval after its value: " [0.280, 0.950]", as shares " [28, 95] %"; "" for None."""
    if interval is None:
        return ""
    scale, digits, sign = (100, 0, " %") if percent else (1, digits, "")
    low, high = (f"{round(scale * end, digits) + 0.0:,.{digits}f}" for end in interval)     # no "-0.000"
    return f" [{low}, {high}]{sign}"


def success_and_return(
    success: float | None, mean_return: float | None, *, before: str = ", "
) -> str:
    """What stands next to F, each after `before`: ", success 40 %, return 1,250.00"; "" for what the task lacks."""
    words = [f"success {share(success)}"] if success is not None else []
    words += [f"return {number(mean_return, digits=2)}"] if mean_return is not None else []
    return "".join(before + word for word in words)


def version_words(version: int) -> str:
    """What follows F by a later version of the evaluator, such as " v2"; "" for the first one."""
    return f" v{version}" if version > 1 else ""


def both(initial: float | None, final: float | None, words: Callable[[float | None], str]) -> str:
    """Two values of p_0 and the elite: "20 % -> 40 %"; "" if neither exists."""
    return "" if initial is None and final is None else f"{words(initial)} -> {words(final)}"


MOST_DIGITS = 6


def cost(usd: float | None, *, digits: int = 2, unknown: str = "price unknown") -> str:
    """An amount in US dollars; `unknown` for None. One of less than a cent keeps two digits: $0.0036."""
    if usd is None:
        return unknown
    if 0 < usd < 10.0 ** -digits:
        digits = min(MOST_DIGITS, 1 - floor(log10(usd)))
    return f"${usd:.{digits}f}"


def signed_number(value: float, *, digits: int = 2) -> str:
    """A difference with its sign, with a real minus (U+2212); a value that rounds to 0 has no sign."""
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def plus_minus(value: tuple[float, float | None] | None) -> str:
    """A mean and its deviation as the paper prints them: 0.54 ± 0.02; a dash for None."""
    if value is None:
        return DASH
    mean, deviation = value
    return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ± {deviation:.2f}"


LONGEST_GUESS = 10  # times what was measured


def credible(left_s: float, *, measured_s: float) -> float | None:
    """A time left; None if it is more than ten times what was measured so far, since that would be a guess."""
    return left_s if left_s <= LONGEST_GUESS * measured_s else None


def duration(seconds: float) -> str:
    """A duration in minutes and seconds: 3 min 05 s, or 4.2 s below a minute."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"


def printable(text: str) -> str:
    """`text` with its lines and tabs; every other unprintable character becomes "?".

    A terminal obeys control characters: they move the cursor, set its title, hide text.
    """
    return _printable(text, "\n\t")


def printable_line(text: str) -> str:
    """`text` on one line of as many characters: every unprintable character, lines and tabs too, becomes "?"."""
    return _printable(text, "")


def _printable(text: str, besides: str) -> str:
    if text.isprintable():  # the common case, and by far the fastest
        return text
    return "".join(sign if sign.isprintable() or sign in besides else "?" for sign in text)


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as left-aligned columns; a row of one cell may be wider than its column."""
    columns = zip_longest(*(row for row in rows if len(row) > 1), fillvalue="")
    widths = [max(map(len, column)) for column in columns] or [0]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
