"""Programs, differences, metrics, prompts and replies as lines. Pure."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual.content import Content
from textual.highlight import highlight

from ...core.metrics import NEVER
from ...core.order_ids import SEARCH, parse
from ...core.programs.program_text import diff_lines as line_diff
from ...core.text import one_line
from ...core.values import JSON, Program
from ...memory.lookup import Record, find, parents_of
from ...memory.store import RunStore
from .colours import ACCENT, BAD, DIM, GOOD, HEADING, LOUD

LONGEST_COLOURED = 200_000      # characters; longer programs are shown without highlighting, which would be slow


def printable(text: str) -> str:
    """The text without control characters, which a terminal would obey: it may come from a model."""
    return "".join(letter for letter in text.expandtabs(4) if letter.isprintable() or letter == "\n")


def code_lines(program: Program | None) -> list[Content]:
    """A program in colours, with line numbers."""
    if program is None:
        return [Content.styled("the reply contained no program", DIM)]
    text = printable(program.text).rstrip("\n")
    plain = len(text) > LONGEST_COLOURED
    lines = [Content(line) for line in text.split("\n")] if plain else highlight(text, language="python").split("\n")
    width = len(str(len(lines)))
    return [Content.styled(f"{place:>{width}} ", DIM) + line for place, line in enumerate(lines, start=1)]


def diff_lines(old: Program | None, new: Program | None, *, names: tuple[str, str]) -> list[Content]:
    """The change from `old` to `new` as a unified diff."""
    if old is None or new is None:
        return [Content.styled("no program to compare with", DIM)]
    diff = line_diff(printable(old.text), printable(new.text))
    head = Content.assemble(f"{names[0]} -> {names[1]}  ", (f"+{diff.added} ", GOOD), (f"-{diff.removed}", BAD))
    if diff.note:
        return [head, Content.styled(diff.note, DIM)]
    if not diff.lines:
        return [Content.styled(f"the code of {names[1]} is that of {names[0]}", DIM)]
    return [head, *map(_coloured, diff.lines)]


def _coloured(line: str) -> Content:
    style = {"+": GOOD, "-": BAD, "@": ACCENT}.get(line[:1], "")
    return Content.styled(line, style) if style else Content(line)


def mean_of(summary: JSON) -> float | None:
    """The one number of a metric's summary; None where it has none."""
    value = summary.get("mean", summary.get("rate")) if isinstance(summary, dict) else summary
    return float(value) if isinstance(value, int | float) else None


def value_of(summary: JSON) -> str:
    """A metric's summary in a word."""
    mean = mean_of(summary)
    if mean is not None:
        return f"{mean:.3f}"
    if summary == NEVER:
        return "never"
    common = summary.get("most_common") if isinstance(summary, dict) else None
    return one_line(", ".join(map(str, common)) if isinstance(common, dict) else str(summary), 60)


def metric_rows(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> list[tuple[str, str, str, Content]]:
    """(name, value, value of the parent, difference). A metric has no better or worse: no colours."""
    rows = []
    for name, value in new.items():
        now, before = mean_of(value), mean_of(old.get(name))
        moved = "" if now is None or before is None or abs(now - before) < 0.0005 else f"{now - before:+.3f}"
        was = value_of(old[name]) if name in old else ""
        rows.append((one_line(name, 100), value_of(value), was, Content.styled(moved, LOUD) if moved else Content("")))
    return rows


def talk_lines(texts: Sequence[tuple[str, str]], width: int) -> list[Content]:
    """Prompts or replies under their headings, folded to the width."""
    lines: list[Content] = []
    for title, text in texts:
        lines.append(Content.styled(title, HEADING))
        for line in printable(text).split("\n"):
            style = LOUD if line.startswith("#") else ""
            folded = textwrap.wrap(line, max(20, width), replace_whitespace=False) if len(line) > width else [line]
            lines += [Content.styled(each, style) if style else Content(each) for each in folded]
        lines.append(Content(""))
    return lines or [Content.styled("no model call", DIM)]


# The data for the screen of one candidate: its record and those for comparison.


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """One record, with its parents and the elite for comparison; those without a program are left out."""

    record: Record
    parents: tuple[Record, ...] = ()
    elite: Record | None = None


def read_details(folder: Path, name: str, *, elite: str | None) -> Details:
    """The details of `name`. Raises MementoError if the store cannot be read."""
    with RunStore.read(folder) as store:
        record = find(store, name) or Record(id=name)
        best = find(store, elite) if elite is not None and elite != name and parse(name).stage == SEARCH else None
        return Details(
            record=record, parents=tuple(parents_of(store, record)),
            elite=best if best is not None and best.program is not None else None,
        )
